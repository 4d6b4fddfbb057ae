-- Takes one claim off nodes of this pool; a node whose set of claims is empty takes work again.
-- use: pool slots queue leases fill offers nodes
-- ARGV  claim, node ...
-- reply number of nodes that had it
local claim, names = ARGV[1], {}
for i = 2, #ARGV do
  local node = node_record(ARGV[i])
  if node.claims[claim] then
    node.claims[claim] = nil
    node_changed(ARGV[i], node)
    names[#names + 1] = ARGV[i]
  end
end
apply(names)
if #names > 0 then touch() end
return #names

-- Takes one claim off nodes of this pool; a node whose set of claims is empty takes work again.
-- use: pool slots queue leases fill reap
-- ARGV  claim, node ...
-- reply number of nodes that had it
local claim, had = ARGV[1], 0
for i = 2, #ARGV do
  local node = record(NODES, ARGV[i])
  if node and node.claims and node.claims[claim] then
    had = had + 1
    node.claims[claim] = nil
    node.epoch = node.epoch + 1
    keep(NODES, ARGV[i], node)
    for _, id in ipairs(split(node.workers)) do
      local worker = record(WORKERS, id)
      if worker then
        refresh(id, worker)
        fill(id)
      end
    end
  end
end
if had > 0 then touch() end
return had

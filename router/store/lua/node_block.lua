-- Puts one claim on nodes of this pool: from `closes_ms` on nothing starts there, and work that would end
-- later does not start even now. Offers of such work are taken back. Idempotent by claim id and its times.
-- use: pool slots queue leases fill offers nodes
-- ARGV  claim, closes_ms, cut_ms, node ...
-- reply {epoch of each node}
-- invariant  a claim that is already there as it should be raises no epoch and no revision
local claim, closes, cut = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local names, epochs, changed = {}, {}, false
for i = 4, #ARGV do
  local name = ARGV[i]
  local node = node_record(name)
  local had = node.claims[claim]
  if not had or had.closes ~= closes or had.cut ~= cut then
    node.claims[claim] = {closes = closes, cut = cut}
    node_changed(name, node)
    changed = true
  end
  names[#names + 1], epochs[#epochs + 1] = name, node.epoch
end
apply(names)
if changed then touch() end
return epochs

-- Puts one claim on nodes of this pool: after `closes_in_ms` nothing starts there, and work that would end
-- later does not start even now. Offers of such work are taken back. Times count from this server's NOW, so
-- that nobody else's clock matters; 0 closes at once and for good, whatever this clock does later.
-- Idempotent by claim id: of two calls the earlier times stand.
-- use: pool slots queue leases fill offers nodes
-- ARGV  claim, closes_in_ms, cut_in_ms, node ...
-- reply {epoch of each node}
-- invariant  a claim that is already there as early raises no epoch and no revision
local claim, closes_in, cut = ARGV[1], tonumber(ARGV[2]), NOW + tonumber(ARGV[3])
local closes = closes_in > 0 and NOW + closes_in or 0
local names, epochs, changed = {}, {}, false
for i = 4, #ARGV do
  local name = ARGV[i]
  local node = node_record(name)
  local had = node.claims[claim] or {closes = math.huge, cut = math.huge}
  if closes < had.closes or cut < had.cut then
    node.claims[claim] = {closes = math.min(closes, had.closes), cut = math.min(cut, had.cut)}
    node_changed(name, node)
    changed = true
  end
  names[#names + 1], epochs[#epochs + 1] = name, node.epoch
end
apply(names)
if changed then touch() end
return epochs

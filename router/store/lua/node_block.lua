-- Puts one claim on nodes of this pool: from `closes_ms` on nothing starts there, and offers are revoked
-- once that has come; work that would end later does not start even now. Idempotent by claim id.
-- use: pool slots queue leases fill reap
-- ARGV  claim, closes_ms, cut_ms, node ...
-- reply {epoch of each node}
local claim, closes, cut = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local epochs = {}
for i = 4, #ARGV do
  local name = ARGV[i]
  local node = record(NODES, name) or {epoch = 0, claims = {}, workers = ''}
  node.claims = node.claims or {}
  node.claims[claim] = {closes = closes, cut = cut}
  node.epoch = node.epoch + 1
  keep(NODES, name, node)
  epochs[#epochs + 1] = node.epoch
end
for i = 4, #ARGV do
  for _, id in ipairs(split(record(NODES, ARGV[i]).workers)) do
    local worker = record(WORKERS, id)
    for _, member in ipairs(closes <= NOW and under(SLOTS, id, 1024) or {}) do
      local lease = record(LEASES, rest(member))
      if lease and lease.state == 'offered' then
        withdraw(rest(member), lease)
        fill_lane(lease.lane)
      end
    end
    if worker then refresh(id, worker) end
  end
end
touch()
return epochs

-- Writes a worker's record, as its source says it is; its state by probes is kept.
-- use: pool slots queue leases fill offers nodes
-- ARGV  worker, node, url, slots, lanes, drain (1|0), source
-- reply 'new' | 'changed' | 'same'
-- invariant  a node lists a worker that has moved away for as long as work given to it there may run
local id = ARGV[1]
local old = record(WORKERS, id)
local worker = {node = ARGV[2], url = ARGV[3], slots = tonumber(ARGV[4]), lanes = ARGV[5],
  drain = tonumber(ARGV[6]), source = ARGV[7], up = old and old.up or 0, boot = old and old.boot or nil,
  seen = old and old.seen or nil, trusted = old and old.trusted or nil}
if old and old.node == worker.node and old.url == worker.url and old.slots == worker.slots
  and old.lanes == worker.lanes and old.drain == worker.drain then return 'same' end
if old then
  unlist(id, old)
  if old.node ~= worker.node and count(SLOTS, id) == 0 then remove_worker(old.node, id) end
end
keep(WORKERS, id, worker)
add_worker(worker.node, id)
refresh(id, worker)
revoke({id})
touch()
return old and 'changed' or 'new'

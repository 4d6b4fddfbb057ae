-- Writes a worker's record, as its source says it is; its state by probes is kept, unless its address
-- changes: that is another server, of which nothing is known.
-- use: pool slots queue leases fill offers nodes
-- ARGV  worker, node, url, slots, lanes, drain (1|0), source
-- reply 'new' | 'changed' | 'same' | 'busy' (another address, and work given to the last one may still run:
--       the old record stays and drains; ask again)
-- invariant  a node lists a worker that has moved away for as long as work given to it there may run; all
--            slots of a worker are held by work at its one address
local id = ARGV[1]
local old = record(WORKERS, id)
local moved = old and old.url ~= ARGV[3]
if moved then
  if old.drain ~= 1 then touch() end
  old.drain = 1
  keep(WORKERS, id, old)
  refresh(id, old)
  revoke({id})
  if count(SLOTS, id) > 0 then return 'busy' end
end
local known = not moved and old or {}
local worker = {node = ARGV[2], url = ARGV[3], slots = tonumber(ARGV[4]), lanes = ARGV[5],
  drain = tonumber(ARGV[6]), source = ARGV[7], up = known.up or 0, boot = known.boot, seen = known.seen,
  trusted = known.trusted}
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

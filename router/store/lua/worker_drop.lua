-- Removes a worker that nothing runs on; otherwise leaves it draining, to be dropped by a later call.
-- use: pool slots queue leases fill offers nodes
-- ARGV  worker
-- reply 'dropped' | 'draining' | 'unknown'
local id = ARGV[1]
local worker = record(WORKERS, id)
if not worker then return 'unknown' end
if worker.drain ~= 1 then
  worker.drain = 1
  keep(WORKERS, id, worker)
  touch()
end
refresh(id, worker)
revoke({id})
if count(SLOTS, id) > 0 then return 'draining' end
redis.call('HDEL', WORKERS, id)
remove_worker(worker.node, id)
touch()
return 'dropped'

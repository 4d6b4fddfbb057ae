-- Removes a worker that nothing runs on; otherwise leaves it draining.
-- use: pool slots queue leases
-- ARGV  worker
-- reply 'dropped' | 'draining' | 'unknown'
local id = ARGV[1]
local worker = record(WORKERS, id)
if not worker then return 'unknown' end
worker.drain = 1
keep(WORKERS, id, worker)
refresh(id, worker)
touch()
if count(SLOTS, id) > 0 then return 'draining' end
redis.call('HDEL', WORKERS, id)
local node = record(NODES, worker.node)
if node then
  node.workers = string.gsub('|' .. node.workers .. '|', '|' .. id:gsub('%p', '%%%0') .. '|', '|')
  keep(NODES, worker.node, node)
end
return 'dropped'

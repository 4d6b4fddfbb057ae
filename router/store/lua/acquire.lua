-- Takes a slot for one attempt, or a place in the queue. Idempotent by lease id and by ticket.
-- use: pool slots queue leases fill reap
-- ARGV  replica, ticket, lease, lane, rank_ms, need_ms, budget_ms, deadline_ms, queue (1|0), preferred, avoid
-- reply {'leased', worker, url, node, fence} | {'offered', lease} | {'queued', ahead} | {'denied', why}
-- invariant  a worker never holds more leases than slots; a newcomer passes no better-ranked waiter it could serve
local replica, id, lease_id, lane = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local rank, need, budget, deadline = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
reap()
if buried(lease_id) then return {'denied', 'ended'} end
local held = record(LEASES, lease_id)
if held then return {'leased', held.worker, held.url, held.node, held.fence} end
local known = record(TICKETS, id)
if known and known.state ~= 'waiting' then return {'offered', known.lease} end
if redis.call('HGET', META, 'closed') == '1' then return {'denied', 'pool_closed'} end

local ask = {ticket = id, replica = replica, lane = lane, need = need, budget = budget,
  rank = rank, deadline = deadline, avoid = ARGV[11]}

local function take(worker_id)
  local worker = record(WORKERS, worker_id)
  if not worker or avoids(ask, worker_id) then return nil end
  if not admits(worker_id, worker, need) then
    refresh(worker_id, worker)
    return nil
  end
  if not string.find('|' .. worker.lanes .. '|', '|' .. lane .. '|', 1, true) then return nil end
  local _, _, first = best(worker_id, worker)
  if first and first < rank then fill(worker_id) end
  if not has_room(worker_id, worker) then return nil end
  if known then dequeue(id, known) end
  redis.call('HDEL', TICKETS, id)
  redis.call('ZREM', TOMBS, 'left:' .. id)
  local lease = grant(lease_id, worker_id, worker, ask, 'leased')
  return {'leased', lease.worker, lease.url, lease.node, lease.fence}
end

for _, worker_id in ipairs(split(ARGV[10])) do
  local taken = take(worker_id)
  if taken then return taken end
end
for _, member in ipairs(under(FREE, lane, 16)) do
  local taken = take(free_worker(member))
  if taken then return taken end
end

if ARGV[9] ~= '1' then return {'denied', 'no_free_slot'} end
redis.call('ZREM', TOMBS, 'left:' .. id)
if known then dequeue(id, known) end
enqueue(id, ask)
return {'queued', redis.call('ZLEXCOUNT', QUEUE, '[' .. lane .. '\0', '(' .. place(lane, rank, need, id))}

-- Takes a slot for one attempt, or a place in the queue. Idempotent by lease id and by ticket.
-- use: pool slots queue leases fill offers reap
-- ARGV  replica, ticket, lease, lane, rank_ms, need_ms, budget_ms, deadline_ms, queue (1|0), preferred,
--       avoid (worker ids joined by '|')
-- reply {'leased', worker, url, node, fence} | {'offered', lease} | {'queued', ahead} | {'denied', why}
-- invariant  a worker never holds more leases than slots; a newcomer passes no waiter that it could serve
--            and that is ranked as well or better; denied, a ticket keeps the place it had
local replica, id, lease_id, lane = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local rank, need = tonumber(ARGV[5]), tonumber(ARGV[6])
local budget, deadline = tonumber(ARGV[7]), tonumber(ARGV[8])
reap()
local held = record(LEASES, lease_id)
if buried(lease_id) or (held and held.let_go) then return {'denied', 'ended'} end
if held then
  if held.state == 'ghost' then
    held.state = 'leased'
    keep(LEASES, lease_id, held)
    redis.call('ZADD', EXPIRY, NOW + LEASE_MS, lease_id)
  end
  return {'leased', held.worker, held.url, held.node, held.fence}
end
local known = record(TICKETS, id)
if known and known.state == 'offered' then return {'offered', known.lease} end
if redis.call('HGET', META, 'closed') == '1' then return {'denied', 'pool_closed'} end

-- It asks anew: an attempt it had is its owner's to release, a place it had must not stand before itself.
if known then dequeue(id, known) end
redis.call('HDEL', TICKETS, id)
local ask = {ticket = id, replica = replica, lane = lane, need = need, budget = budget,
  rank = rank, deadline = deadline, avoid = ARGV[11]}

local function take(worker_id)
  local worker = record(WORKERS, worker_id)
  if not worker or avoids(ask, worker_id) then return nil end
  if not string.find('|' .. worker.lanes .. '|', '|' .. lane .. '|', 1, true) then return nil end
  local closing = closes_at(record(NODES, worker.node))
  if closing and closing <= NOW then refresh(worker_id, worker) end
  if closing and NOW + need > closing then return nil end
  fill(worker_id, rank)
  if not has_room(worker_id, worker) then return nil end
  redis.call('ZREM', TOMBS, 'left:' .. id)
  local lease = grant(lease_id, worker_id, worker, ask, 'leased')
  return {'leased', lease.worker, lease.url, lease.node, lease.fence}
end

local candidates = split(ARGV[10])
for _, member in ipairs(under(FREE, lane, 16)) do candidates[#candidates + 1] = free_worker(member) end
for _, worker_id in ipairs(candidates) do
  local taken = take(worker_id)
  if taken then return taken end
end

if ARGV[9] ~= '1' then
  if known and known.state == 'waiting' then enqueue(id, known) end
  return {'denied', 'no_free_slot'}
end
redis.call('ZREM', TOMBS, 'left:' .. id)
enqueue(id, ask)
return {'queued', redis.call('ZLEXCOUNT', QUEUE, '[' .. lane .. '\0', '(' .. place(lane, rank, need, id))}

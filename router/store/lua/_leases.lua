-- Part: how a lease begins and ends. An ended lease id stays as a tombstone for one lease time, so that a
-- late or repeated call on it changes nothing.

local function buried(id) return redis.call('ZSCORE', TOMBS, id) end

local function bury(id) redis.call('ZADD', TOMBS, NOW + LEASE_MS, id) end

local function grant(id, worker_id, worker, ask, state)
  local last = tonumber(redis.call('HGET', META, 'fence') or 0)
  local fence = string.format('%.0f', math.max(last + 1, NOW_US))
  redis.call('HSET', META, 'fence', fence)
  local lease = {
    worker = worker_id, node = worker.node, url = worker.url, state = state, fence = fence,
    ticket = ask.ticket, replica = ask.replica, lane = ask.lane, since = NOW,
    need = ask.need, ends = NOW + ask.need, budget = ask.budget,
  }
  keep(LEASES, id, lease)
  redis.call('ZADD', EXPIRY, NOW + (state == 'offered' and OFFER_MS or LEASE_MS), id)
  redis.call('ZADD', SLOTS, 0, worker_id .. '\0' .. id)
  if state == 'offered' then redis.call('ZADD', OFFERS, 0, ask.replica .. '\0' .. id) end
  refresh(worker_id, worker)
  return lease
end

-- The ticket that this lease was offered to is not in the pool any more.
local function forget_ticket(id, lease)
  local ticket = record(TICKETS, lease.ticket)
  if ticket and ticket.lease == id then redis.call('HDEL', TICKETS, lease.ticket) end
end

-- Removes a lease and its ticket; the caller then fills its worker's slot.
local function finish(id, lease)
  forget_ticket(id, lease)
  redis.call('HDEL', LEASES, id)
  redis.call('ZREM', EXPIRY, id)
  redis.call('ZREM', SLOTS, lease.worker .. '\0' .. id)
  redis.call('ZREM', OFFERS, lease.replica .. '\0' .. id)
  bury(id)
  if lease.state == 'ghost' and redis.call('HGET', META, 'stuck_ghost') == lease.worker then
    redis.call('HDEL', META, 'stuck_ghost')
  end
  local worker = record(WORKERS, lease.worker)
  if worker then refresh(lease.worker, worker) end
end

-- The work of this lease may still run: it keeps the slot until evidence, or for one more attempt's budget.
local function haunt(id, lease)
  lease.state, lease.haunts = 'ghost', NOW
  keep(LEASES, id, lease)
  redis.call('ZADD', EXPIRY, NOW + math.max(lease.budget, LEASE_MS), id)
end

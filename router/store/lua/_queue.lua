-- Part: the places of waiting tickets. One place a ticket: lane, then latest start, then id.

local function place(lane, rank, need, ticket)
  return string.format('%s\0%016d:%09d:%s', lane, rank, need, ticket)
end

local function enqueue(id, ticket)
  ticket.state = 'waiting'
  ticket.lease = nil
  keep(TICKETS, id, ticket)
  redis.call('ZADD', QUEUE, 0, place(ticket.lane, ticket.rank, ticket.need, id))
end

local function dequeue(id, ticket)
  redis.call('ZREM', QUEUE, place(ticket.lane, ticket.rank, ticket.need, id))
  redis.call('ZREM', PARKED, ticket.replica .. '\0' .. id)
end

-- Is the replica that holds this waiter's connection alive? One lapsed offer suspends it until it tends.
local function listens(replica)
  local seen = redis.call('ZSCORE', REPLICAS, replica)
  return seen and NOW - tonumber(seen) <= SILENT_MS
end

-- The first waiter of a lane that `fits`; what is past its deadline is dropped on the way, what nobody
-- listens for is parked until its replica tends again. Looks at 16 at most.
local function head(lane, fits)
  for _, member in ipairs(under(QUEUE, lane, 16)) do
    local rank, id = string.match(rest(member), '^(%d+):%d+:(.*)$')
    local ticket = record(TICKETS, id)
    if not ticket then redis.call('ZREM', QUEUE, member)
    elseif ticket.deadline <= NOW then
      redis.call('ZREM', QUEUE, member)
      redis.call('HDEL', TICKETS, id)
    elseif not listens(ticket.replica) then
      redis.call('ZREM', QUEUE, member)
      redis.call('ZADD', PARKED, 0, ticket.replica .. '\0' .. id)
    elseif fits(ticket) then return id, ticket, tonumber(rank) end
  end
  return nil
end

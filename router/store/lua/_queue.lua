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

-- The first lane with waiters behind this one ('': the very first), or nil.
local function lane_behind(lane)
  local from = lane == '' and '-' or '[' .. lane .. '\1'
  local member = redis.call('ZRANGEBYLEX', QUEUE, from, '+', 'LIMIT', 0, 1)[1]
  return member and string.match(member, '^([^%z]*)')
end

-- One place looked at: its ticket, if it can be served. What is past its deadline is dropped, what nobody
-- listens for is parked until its replica tends again.
local function looked_at(member, id)
  local ticket = record(TICKETS, id)
  if ticket and ticket.deadline > NOW and listens(ticket.replica) then return ticket end
  redis.call('ZREM', QUEUE, member)
  if ticket and ticket.deadline > NOW then redis.call('ZADD', PARKED, 0, ticket.replica .. '\0' .. id)
  elseif ticket then redis.call('HDEL', TICKETS, id) end
  return nil
end

-- The first waiter of a lane that `fits`, and its rank. Looks at 64 at most.
local function head(lane, fits)
  local from, to = '[' .. lane .. '\0', '(' .. lane .. '\1'
  for _ = 1, 4 do
    local members = redis.call('ZRANGEBYLEX', QUEUE, from, to, 'LIMIT', 0, 16)
    for _, member in ipairs(members) do
      local rank, id = string.match(rest(member), '^(%d+):%d+:(.*)$')
      local ticket = looked_at(member, id)
      if ticket and fits(ticket) then return id, ticket, tonumber(rank) end
    end
    if #members < 16 then return nil end
    from = '(' .. members[16]
  end
  return nil
end

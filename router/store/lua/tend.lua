-- A replica's heartbeat for one pool: reaps, brings its parked waiters back, fills, and tells it its offers
-- and the nodes that are closing.
-- use: pool slots queue leases fill offers reap
-- ARGV  replica, revision it knows
-- reply {revision, now_ms, offered tickets joined by '|', closing nodes as JSON, '=' if not changed}
local replica = ARGV[1]
redis.call('ZADD', REPLICAS, NOW, replica)
redis.call('ZREMRANGEBYSCORE', REPLICAS, '-inf', NOW - 3600000)
reap()
for _, member in ipairs(under(PARKED, replica, 64)) do
  local id = rest(member)
  redis.call('ZREM', PARKED, member)
  local ticket = record(TICKETS, id)
  if ticket and ticket.state == 'waiting' then enqueue(id, ticket) end
end

for _, member in ipairs(redis.call('ZRANDMEMBER', PARKED, 4)) do
  local ticket = record(TICKETS, rest(member))
  if not ticket or ticket.deadline <= NOW then
    redis.call('ZREM', PARKED, member)
    redis.call('HDEL', TICKETS, rest(member))
  end
end

-- 32 lanes a call, from where the last call stopped, once around at most.
local began = redis.call('HGET', META, 'swept') or ''
local lane, wrapped = began, began == ''
for _ = 1, 32 do
  local found = lane_behind(lane)
  if not found and not wrapped then
    wrapped = true
    found = lane_behind('')
  end
  if not found or (wrapped and began ~= '' and found > began) then break end
  lane = found
  head(lane, function() return true end)
  fill_lane(lane)
end
if lane ~= began then redis.call('HSET', META, 'swept', lane) end

local offered = {}
for _, member in ipairs(under(OFFERS, replica, 256)) do
  local lease = record(LEASES, rest(member))
  if lease then offered[#offered + 1] = lease.ticket end
end
local revision = redis.call('HGET', META, 'revision') or '0'
if revision == ARGV[2] then return {revision, tostring(NOW), table.concat(offered, '|'), '='} end
local closing = {}
local all = redis.call('HGETALL', NODES)
for i = 1, #all, 2 do
  local node = cjson.decode(all[i + 1])
  if closes_at(node) then closing[all[i]] = node end
end
return {revision, tostring(NOW), table.concat(offered, '|'), next(closing) and cjson.encode(closing) or ''}

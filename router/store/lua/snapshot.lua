-- The pool as it stands, for one decision-making replica or a page: O(fleet), never on a request's path.
-- use: pool slots queue
-- ARGV  how many waiters to list, shared evenly by the lanes that have any (64 at most)
-- reply {now_ms, revision, closed, workers, nodes, leases, places, waiting, stuck}
local lanes, places = {}, {}
local lane = lane_behind('')
while lane and #lanes < 64 do
  lanes[#lanes + 1] = lane
  lane = lane_behind(lane)
end
for _, name in ipairs(lanes) do
  for _, member in ipairs(under(QUEUE, name, math.ceil(tonumber(ARGV[1]) / #lanes))) do
    places[#places + 1] = member
  end
end
return {
  tostring(NOW), redis.call('HGET', META, 'revision') or '0', redis.call('HGET', META, 'closed') or '0',
  redis.call('HGETALL', WORKERS), redis.call('HGETALL', NODES), redis.call('HVALS', LEASES),
  places, redis.call('ZCARD', QUEUE), redis.call('HGET', META, 'stuck_ghost') or '',
}

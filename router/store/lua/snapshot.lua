-- The pool as it stands, for one decision-making replica or a page: O(fleet), never on a request's path.
-- use: pool slots
-- ARGV  how many waiters to list
-- reply {now_ms, revision, closed, workers, nodes, leases, places, waiting, stuck}
return {
  tostring(NOW), redis.call('HGET', META, 'revision') or '0', redis.call('HGET', META, 'closed') or '0',
  redis.call('HGETALL', WORKERS), redis.call('HGETALL', NODES), redis.call('HVALS', LEASES),
  redis.call('ZRANGE', QUEUE, 0, tonumber(ARGV[1]) - 1), redis.call('ZCARD', QUEUE),
  redis.call('HGET', META, 'stuck_ghost') or '',
}

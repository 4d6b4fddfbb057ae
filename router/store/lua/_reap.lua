-- Part: ends what is over by time, 16 entries a call. A leased slot is never freed by time: it becomes a
-- ghost. A ghost on a claimed node is not freed by time at all.

local function reap()
  redis.call('ZREMRANGEBYSCORE', TOMBS, '-inf', '(' .. NOW)
  if NOW < NO_REAP_BEFORE then return end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', NOW, 'LIMIT', 0, 16)) do
    local lease = record(LEASES, id)
    if not lease then redis.call('ZREM', EXPIRY, id)
    elseif lease.state == 'offered' then
      redis.call('ZREM', REPLICAS, lease.replica)
      withdraw(id, lease)
      fill(lease.worker)
    elseif lease.state == 'leased' then haunt(id, lease)
    elseif claimed(record(NODES, lease.node)) then
      redis.call('ZADD', EXPIRY, NOW + LEASE_MS, id)
      redis.call('HSET', META, 'stuck_ghost', lease.worker)
    else
      finish(id, lease)
      fill(lease.worker)
    end
  end
end

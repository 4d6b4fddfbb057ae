-- Closes a whole pool (1) or opens it (0) by an operator's flag. Its waiters are served by the next `tend`.
-- use: pool
-- ARGV  closed (1|0)
-- reply 'ok'
if (redis.call('HGET', META, 'closed') or '0') ~= ARGV[1] then
  redis.call('HSET', META, 'closed', ARGV[1])
  touch()
end
return 'ok'

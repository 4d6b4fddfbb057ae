-- Takes or keeps the leader's lease.
-- KEYS  leader
-- ARGV  replica, ms
-- reply 1 | 0
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', tonumber(ARGV[2]))
return 1

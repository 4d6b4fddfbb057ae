-- Opens a pool in this store, or checks that it is one we understand.
-- use:
-- KEYS  the pool's table
-- ARGV  schema, lease_ms, offer_ms, silent_ms, freeze_ms
-- reply 'opened' | 'kept' | 'schema' (another version's data: refuse to start)
local have = redis.call('HGET', KEYS[1], 'schema')
if have and have ~= ARGV[1] then return 'schema' end
redis.call('HSET', KEYS[1], 'schema', ARGV[1], 'lease_ms', ARGV[2], 'offer_ms', ARGV[3],
  'silent_ms', ARGV[4], 'freeze_ms', ARGV[5])
return have and 'kept' or 'opened'

-- Keeps everybody off an account until a moment; an earlier end never shortens a later one.
-- KEYS  accounts
-- ARGV  account, until_ms
-- reply until_ms in force
local field = ARGV[1] .. '|cooling'
local until_ms = math.max(tonumber(redis.call('HGET', KEYS[1], field) or 0), tonumber(ARGV[2]))
redis.call('HSET', KEYS[1], field, string.format('%.0f', until_ms))
return string.format('%.0f', until_ms)

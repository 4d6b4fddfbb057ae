-- Keeps everybody off an account until a moment, an hour from now at the latest: a provider that says "a day"
-- is asked again. An earlier end never shortens a later one.
-- KEYS  accounts
-- ARGV  account, until_ms
-- reply until_ms in force
local time = redis.call('TIME')
local latest = time[1] * 1000 + math.floor(time[2] / 1000) + 3600000
local field = ARGV[1] .. '|cooling'
local until_ms = math.max(tonumber(redis.call('HGET', KEYS[1], field) or 0), tonumber(ARGV[2]))
until_ms = math.min(until_ms, latest)
redis.call('HSET', KEYS[1], field, string.format('%.0f', until_ms))
return string.format('%.0f', until_ms)

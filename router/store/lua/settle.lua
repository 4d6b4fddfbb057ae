-- Ends a paid attempt: the hold becomes what was really spent (0: nothing). A second call changes nothing.
-- An ended attempt is remembered for a minute, so that a late hold of it is refused.
-- flags: allow-oom
-- KEYS  intents, running, expiry, accounts, the ledger of the day it was held in
-- ARGV  attempt, spent, day of the ledger
-- reply 'settled' | 'unknown' | the day it was held in, if that is another: ask again with that ledger
local INTENTS, RUNNING, EXPIRY, DAY = KEYS[1], KEYS[2], KEYS[3], KEYS[5]
local text = redis.call('HGET', INTENTS, ARGV[1])
local intent = text and cjson.decode(text)
if intent and intent.day ~= ARGV[3] then return intent.day end
local time = redis.call('TIME')
redis.call('ZADD', EXPIRY, time[1] * 1000 + 60000, 'ended:' .. ARGV[1])
if not intent then return 'unknown' end
redis.call('HINCRBY', DAY, intent.account .. '|held', 0 - intent.price)
redis.call('HINCRBY', DAY, intent.account .. '|spent', tonumber(ARGV[2]))
redis.call('HINCRBY', DAY, intent.account .. '|attempts', 1)
redis.call('EXPIRE', DAY, 3456000)
redis.call('ZREM', RUNNING, intent.account .. '\0' .. ARGV[1])
redis.call('ZREM', EXPIRY, ARGV[1])
redis.call('HDEL', INTENTS, ARGV[1])
return 'settled'

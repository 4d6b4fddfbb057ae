-- Ends a paid attempt: the hold becomes what was really spent (0: nothing). Idempotent: a second call changes nothing.
-- KEYS  intents, running, expiry, accounts, the ledger of the day it was held in
-- ARGV  attempt, spent, day of the ledger
-- reply 'settled' | 'unknown' | the day it was held in, if that is another: ask again with that ledger
local INTENTS, RUNNING, EXPIRY, DAY = KEYS[1], KEYS[2], KEYS[3], KEYS[5]
local text = redis.call('HGET', INTENTS, ARGV[1])
if not text then return 'unknown' end
local intent = cjson.decode(text)
if intent.day ~= ARGV[3] then return intent.day end
redis.call('HINCRBY', DAY, intent.account .. '|held', -intent.price)
redis.call('HINCRBY', DAY, intent.account .. '|spent', tonumber(ARGV[2]))
redis.call('HINCRBY', DAY, intent.account .. '|attempts', 1)
redis.call('EXPIRE', DAY, 3456000)
redis.call('ZREM', RUNNING, intent.account .. '\0' .. ARGV[1])
redis.call('ZREM', EXPIRY, ARGV[1])
redis.call('HDEL', INTENTS, ARGV[1])
return 'settled'

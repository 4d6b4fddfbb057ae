-- Holds the worst price of one paid attempt and a slot of its account, and stores the intent to submit.
-- Idempotent by attempt. What is past its end is settled as possibly spent, 16 a call.
-- use: overdue
-- KEYS  intents, running, expiry, accounts, day ledger, the day before's ledger
-- ARGV  account, attempt, price, budget, concurrency, day, expires_ms, ticket
-- reply 'held' | 'account_off' | 'overflow_off' | 'cooling' | 'at_capacity' | 'over_budget'
--       | 'ended' (it was settled or forgotten, or its time is over: this call is a late one)
-- invariant  held + spent of an account and day never exceeds its budget; running never exceeds concurrency;
--            every intent ends, 25 hours from now at the latest
local account, attempt, price, expires = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[7])
end_overdue()
if redis.call('HEXISTS', INTENTS, attempt) == 1 then return 'held' end
if expires <= NOW or redis.call('ZSCORE', EXPIRY, 'ended:' .. attempt) then return 'ended' end
if redis.call('HGET', ACCOUNTS, 'overflow|off') == '1' then return 'overflow_off' end
if redis.call('HGET', ACCOUNTS, account .. '|off') == '1' then return 'account_off' end
if tonumber(redis.call('HGET', ACCOUNTS, account .. '|cooling') or 0) > NOW then return 'cooling' end
local running = redis.call('ZLEXCOUNT', RUNNING, '[' .. account .. '\0', '(' .. account .. '\1')
if running >= tonumber(ARGV[5]) then return 'at_capacity' end
local committed = tonumber(redis.call('HGET', DAY, account .. '|held') or 0)
  + tonumber(redis.call('HGET', DAY, account .. '|spent') or 0)
if committed + price > tonumber(ARGV[4]) then return 'over_budget' end

redis.call('HSET', INTENTS, attempt, cjson.encode({account = account, price = price, day = ARGV[6],
  ticket = ARGV[8], at = NOW}))
redis.call('ZADD', RUNNING, 0, account .. '\0' .. attempt)
redis.call('ZADD', EXPIRY, math.min(expires, NOW + 90000000), attempt)
redis.call('HINCRBY', DAY, account .. '|held', price)
redis.call('EXPIRE', DAY, 3456000)
return 'held'

-- Holds the worst price of one paid attempt and a slot of its account, and stores the intent to submit.
-- Idempotent by attempt. What is past its end is settled as possibly spent, 16 a call.
-- KEYS  intents, running, expiry, accounts, day ledger, the day before's ledger
-- ARGV  account, attempt, price, budget, concurrency, day, expires_ms, ticket
-- reply 'held' | 'account_off' | 'overflow_off' | 'cooling' | 'at_capacity' | 'over_budget'
--       | 'ended' (it was settled or forgotten: this call is a late one)
-- invariant  held + spent of an account and day never exceeds its budget; running never exceeds concurrency
local INTENTS, RUNNING, EXPIRY, ACCOUNTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local DAY, DAY_BEFORE = KEYS[5], KEYS[6]
local account, attempt, price = ARGV[1], ARGV[2], tonumber(ARGV[3])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- An intent of neither ledger is older than both: it counts against today.
local function overdue(id, intent)
  local day = string.sub(DAY_BEFORE, -10) == intent.day and DAY_BEFORE or DAY
  if string.sub(day, -10) == intent.day then
    redis.call('HINCRBY', day, intent.account .. '|held', 0 - intent.price)
  end
  redis.call('HINCRBY', day, intent.account .. '|spent', intent.price)
  redis.call('HINCRBY', day, intent.account .. '|attempts', 1)
  redis.call('EXPIRE', day, 3456000)
  redis.call('ZREM', RUNNING, intent.account .. '\0' .. id)
  redis.call('HDEL', INTENTS, id)
end

for _, id in ipairs(redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', now, 'LIMIT', 0, 16)) do
  local text = redis.call('HGET', INTENTS, id)
  if text then overdue(id, cjson.decode(text)) end
  redis.call('ZREM', EXPIRY, id)
end

if redis.call('HEXISTS', INTENTS, attempt) == 1 then return 'held' end
if redis.call('ZSCORE', EXPIRY, 'ended:' .. attempt) then return 'ended' end
if redis.call('HGET', ACCOUNTS, 'overflow|off') == '1' then return 'overflow_off' end
if redis.call('HGET', ACCOUNTS, account .. '|off') == '1' then return 'account_off' end
if tonumber(redis.call('HGET', ACCOUNTS, account .. '|cooling') or 0) > now then return 'cooling' end
local running = redis.call('ZLEXCOUNT', RUNNING, '[' .. account .. '\0', '(' .. account .. '\1')
if running >= tonumber(ARGV[5]) then return 'at_capacity' end
local committed = tonumber(redis.call('HGET', DAY, account .. '|held') or 0)
  + tonumber(redis.call('HGET', DAY, account .. '|spent') or 0)
if committed + price > tonumber(ARGV[4]) then return 'over_budget' end

redis.call('HSET', INTENTS, attempt, cjson.encode({account = account, price = price, day = ARGV[6],
  ticket = ARGV[8], at = now}))
redis.call('ZADD', RUNNING, 0, account .. '\0' .. attempt)
redis.call('ZADD', EXPIRY, tonumber(ARGV[7]), attempt)
redis.call('HINCRBY', DAY, account .. '|held', price)
redis.call('EXPIRE', DAY, 3456000)
return 'held'

-- Part: names of money's keys, its clock, and the end of intents that nobody settles.
-- Whoever asks holds and whoever only looks end them alike: an account whose places are all taken is asked
-- for no hold, and only this frees the places of a replica that died.
-- The KEYS of a script that uses it are these six, in this order.
local INTENTS, RUNNING, EXPIRY, ACCOUNTS = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local DAY, DAY_BEFORE = KEYS[5], KEYS[6]
local time = redis.call('TIME')
local NOW = time[1] * 1000 + math.floor(time[2] / 1000)

-- Counts as spent. An intent of neither ledger is older than both: it counts against today.
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

-- Ends what is past its end, 16 a call; so are forgotten the attempts that were remembered as ended.
local function end_overdue()
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', EXPIRY, '-inf', NOW, 'LIMIT', 0, 16)) do
    local text = redis.call('HGET', INTENTS, id)
    if text then overdue(id, cjson.decode(text)) end
    redis.call('ZREM', EXPIRY, id)
  end
end

-- Every account as it stands today.
-- KEYS  running, accounts, day ledger
-- ARGV  account ...
-- reply {now_ms, overflow off, then for each account: running, off, cooling_ms, held, spent, attempts}
local time = redis.call('TIME')
local function number(key, field) return redis.call('HGET', key, field) or '0' end
local reply = {tostring(time[1] * 1000 + math.floor(time[2] / 1000)), number(KEYS[2], 'overflow|off')}
for _, account in ipairs(ARGV) do
  local running = redis.call('ZLEXCOUNT', KEYS[1], '[' .. account .. '\0', '(' .. account .. '\1')
  reply[#reply + 1] = tostring(running)
  reply[#reply + 1] = number(KEYS[2], account .. '|off')
  reply[#reply + 1] = number(KEYS[2], account .. '|cooling')
  reply[#reply + 1] = number(KEYS[3], account .. '|held')
  reply[#reply + 1] = number(KEYS[3], account .. '|spent')
  reply[#reply + 1] = number(KEYS[3], account .. '|attempts')
end
return reply

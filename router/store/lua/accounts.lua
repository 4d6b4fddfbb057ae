-- Every account as it stands today. What is past its end is settled as possibly spent, 16 a call.
-- use: overdue
-- flags: allow-oom
-- KEYS  intents, running, expiry, accounts, day ledger, the day before's ledger
-- ARGV  account ...
-- reply {now_ms, overflow off, then for each account: running, off, cooling_ms, held, spent, attempts}
end_overdue()
local function number(key, field) return redis.call('HGET', key, field) or '0' end
local reply = {tostring(NOW), number(ACCOUNTS, 'overflow|off')}
for _, account in ipairs(ARGV) do
  local running = redis.call('ZLEXCOUNT', RUNNING, '[' .. account .. '\0', '(' .. account .. '\1')
  reply[#reply + 1] = tostring(running)
  reply[#reply + 1] = number(ACCOUNTS, account .. '|off')
  reply[#reply + 1] = number(ACCOUNTS, account .. '|cooling')
  reply[#reply + 1] = number(DAY, account .. '|held')
  reply[#reply + 1] = number(DAY, account .. '|spent')
  reply[#reply + 1] = number(DAY, account .. '|attempts')
end
return reply

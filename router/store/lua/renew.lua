-- Keeps leases alive: 64 at most a call. A ghost whose slot is still its own lives again, unless let go.
-- use: pool slots queue leases
-- flags: allow-oom
-- ARGV  replica, lease ...
-- reply for each lease 'ok' | 'lost'
local replica = ARGV[1]
local replies = {}
for i = 2, #ARGV do
  local lease = record(LEASES, ARGV[i])
  if lease and lease.replica == replica and lease.state ~= 'offered' and not lease.let_go then
    if lease.state == 'ghost' then
      lease.state = 'leased'
      keep(LEASES, ARGV[i], lease)
    end
    redis.call('ZADD', EXPIRY, NOW + LEASE_MS, ARGV[i])
    replies[#replies + 1] = 'ok'
  else
    replies[#replies + 1] = 'lost'
  end
end
return replies

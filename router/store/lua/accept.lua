-- Turns an offer into a lease. Idempotent: accepting what was accepted answers the same.
-- use: pool slots queue leases fill reap
-- ARGV  replica, ticket
-- reply {'leased', lease, worker, url, node, fence} | {'waiting'} | {'gone'}
local replica, id = ARGV[1], ARGV[2]
local ticket = record(TICKETS, id)
if not ticket then return {'gone'} end
if ticket.state == 'waiting' then return {'waiting'} end
local lease = record(LEASES, ticket.lease)
if not lease or lease.replica ~= replica then return {'gone'} end
if lease.state == 'offered' then
  local closing = closes_at(record(NODES, lease.node))
  if closing and closing <= NOW then
    withdraw(ticket.lease, lease)
    fill_lane(lease.lane)
    return {'waiting'}
  end
  ticket.state = 'taken'
  keep(TICKETS, id, ticket)
  lease.state, lease.since = 'leased', NOW
  lease.last_end = NOW + lease.budget
  keep(LEASES, ticket.lease, lease)
  redis.call('ZADD', EXPIRY, NOW + LEASE_MS, ticket.lease)
  redis.call('ZREM', OFFERS, replica .. '\0' .. ticket.lease)
end
return {'leased', ticket.lease, lease.worker, lease.url, lease.node, lease.fence}

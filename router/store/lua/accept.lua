-- Turns an offer into a lease. Idempotent: accepting what was accepted answers the same.
-- use: pool slots queue leases fill offers
-- ARGV  replica, ticket
-- reply {'leased', lease, worker, url, node, fence} | {'waiting'} | {'gone'}
-- invariant  nothing is leased where nothing may start any more: such an offer is withdrawn
local replica, id = ARGV[1], ARGV[2]
local ticket = record(TICKETS, id)
if not ticket then return {'gone'} end
if ticket.state == 'waiting' then return {'waiting'} end
local lease_id = ticket.lease
local lease = record(LEASES, lease_id)
if not lease or lease.replica ~= replica then return {'gone'} end
if lease.state == 'offered' then
  if redis.call('HGET', META, 'closed') == '1' or not stands(lease) then
    withdraw(lease_id, lease)
    fill(lease.worker)
    fill_lane(lease.lane)
    return {'waiting'}
  end
  ticket.state = 'taken'
  keep(TICKETS, id, ticket)
  lease.since, lease.ends = NOW, NOW + lease.need
  redis.call('ZREM', OFFERS, replica .. '\0' .. lease_id)
end
if lease.state ~= 'leased' then
  lease.state = 'leased'
  keep(LEASES, lease_id, lease)
  redis.call('ZADD', EXPIRY, NOW + LEASE_MS, lease_id)
end
return {'leased', lease_id, lease.worker, lease.url, lease.node, lease.fence}

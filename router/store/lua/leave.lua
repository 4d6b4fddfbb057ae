-- Gives up a ticket's place, unless a slot was offered meanwhile. Only 'left' permits to go elsewhere.
-- use: pool slots queue leases
-- flags: allow-oom
-- ARGV  ticket
-- reply {'left'} (again, if repeated) | {'offered'} | {'gone'} (it never had a place, or has taken it up)
local id = ARGV[1]
if redis.call('ZSCORE', TOMBS, 'left:' .. id) then return {'left'} end
local ticket = record(TICKETS, id)
if not ticket or ticket.state == 'taken' then return {'gone'} end
if ticket.state == 'offered' then return {'offered'} end
dequeue(id, ticket)
redis.call('HDEL', TICKETS, id)
bury('left:' .. id)
return {'left'}

-- Gives up a ticket's place, unless a slot was offered meanwhile. Only 'left' permits to go elsewhere.
-- use: pool slots queue leases
-- ARGV  ticket
-- reply {'left'} | {'offered'} | {'gone'}
local id = ARGV[1]
if redis.call('ZSCORE', TOMBS, 'left:' .. id) then return {'left'} end
local ticket = record(TICKETS, id)
if not ticket then return {'gone'} end
if ticket.state ~= 'waiting' then return {'offered'} end
dequeue(id, ticket)
redis.call('HDEL', TICKETS, id)
bury('left:' .. id)
return {'left'}

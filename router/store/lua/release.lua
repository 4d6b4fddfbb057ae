-- Ends a lease: its work has ended ('yes'), or may still run ('unknown': a ghost keeps the slot).
-- use: pool slots queue leases fill offers reap
-- flags: allow-oom
-- ARGV  lease, ended ('yes' | 'unknown')
-- reply 'released' | 'ghost' | 'unknown' (nothing held: a late acquire of this id will be refused)
-- invariant  the slot is free afterwards only if the work is known to have ended
local id = ARGV[1]
reap()
local lease = record(LEASES, id)
if not lease then
  if not buried(id) then bury(id) end
  return 'unknown'
end
if ARGV[2] == 'unknown' and lease.state ~= 'offered' then
  forget_ticket(id, lease)
  if not lease.let_go then
    lease.let_go = true
    haunt(id, lease)
  end
  return 'ghost'
end
finish(id, lease)
fill(lease.worker)
return 'released'

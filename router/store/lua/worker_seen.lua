-- What a probe found: whether the worker takes work, and which abandoned work is proved over.
-- use: pool slots queue leases fill reap
-- ARGV  worker, up (1|0), idle_since_ms (0: no evidence), boot ('': not told)
-- reply {ghosts ended, 'up' | 'down' | 'unknown'}
-- invariant  a ghost ends only if it was a ghost before the evidence was asked for, or the server is another
local id, up, idle_since, boot = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
reap()
local worker = record(WORKERS, id)
if not worker then return {0, 'unknown'} end
local reborn = boot ~= '' and worker.boot and worker.boot ~= boot
if worker.up ~= up or (boot ~= '' and worker.boot ~= boot) then
  worker.up = up
  if boot ~= '' then worker.boot = boot end
  keep(WORKERS, id, worker)
  touch()
end
local ended = 0
for _, member in ipairs(under(SLOTS, id, 1024)) do
  local lease_id = rest(member)
  local lease = record(LEASES, lease_id)
  if lease and lease.state == 'ghost' and (reborn or lease.haunts <= idle_since) then
    finish(lease_id, lease)
    ended = ended + 1
  end
end
refresh(id, worker)
fill(id)
return {ended, up == 1 and 'up' or 'down'}

-- What a probe found: whether the worker takes work, and which abandoned work is proved over.
-- use: pool slots queue leases fill offers reap
-- ARGV  worker, up (1|0, '': no verdict yet, it stays as it is), idle_since_ms (0: no evidence),
--       boot ('': not told), reports idle (1|0), url that was asked ('' or none: any)
-- reply {ghosts ended, 'up' | 'down' | 'unknown'}
-- invariant  a ghost ends only if it was a ghost before the evidence was asked for, or if its work was given
--            to a server process that is gone: before that one was last seen; a worker that this store
--            never knew (it may have lost its data) takes work only once it has been idle, where it can tell;
--            what another address answers says nothing about this worker
local id, up, idle_since, boot = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local asked = ARGV[6] or ''
reap()
local worker = record(WORKERS, id)
if not worker or (asked ~= '' and asked ~= worker.url) then return {0, 'unknown'} end
up = up or worker.up
if idle_since > 0 then worker.trusted = 1 end
if ARGV[5] == '1' and not worker.trusted then up = 0 end
local reborn = boot ~= '' and worker.boot and worker.boot ~= boot
local last_of_old = reborn and worker.seen or 0
if worker.up ~= up or (boot ~= '' and worker.boot ~= boot) then touch() end
worker.up = up
if boot ~= '' then worker.boot, worker.seen = boot, NOW end
keep(WORKERS, id, worker)
local ended = 0
for _, member in ipairs(under(SLOTS, id, 1024)) do
  local lease_id = rest(member)
  local lease = record(LEASES, lease_id)
  if lease and lease.state == 'ghost' and (lease.haunts <= idle_since or lease.since <= last_of_old) then
    finish(lease_id, lease)
    ended = ended + 1
  end
end
refresh(id, worker)
revoke({id})
return {ended, up == 1 and 'up' or 'down'}

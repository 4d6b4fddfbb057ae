-- What still holds slots on nodes: a claim is `held` only when all of it is zero.
-- use: pool slots
-- ARGV  node ...
-- reply {leased, offered, ghosts}
local counts = {leased = 0, offered = 0, ghost = 0}
for i = 1, #ARGV do
  local node = record(NODES, ARGV[i])
  for _, id in ipairs(split(node and node.workers)) do
    for _, member in ipairs(under(SLOTS, id, 1024)) do
      local lease = record(LEASES, rest(member))
      if lease then counts[lease.state] = counts[lease.state] + 1 end
    end
  end
end
return {counts.leased, counts.offered, counts.ghost}

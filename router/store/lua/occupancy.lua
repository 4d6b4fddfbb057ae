-- What still holds slots on nodes: a claim is `held` only when all of it is zero.
-- use: pool slots
-- ARGV  node ...
-- reply {leased, offered, ghosts}
local counts = {leased = 0, offered = 0, ghost = 0}
for _, name in ipairs(ARGV) do
  local node = record(NODES, name)
  for _, id in ipairs(split(node and node.workers)) do
    for _, member in ipairs(under(SLOTS, id, 1024)) do
      local lease = record(LEASES, rest(member))
      if lease and lease.node == name then counts[lease.state] = counts[lease.state] + 1 end
    end
  end
end
return {counts.leased, counts.offered, counts.ghost}

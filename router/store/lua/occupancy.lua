-- What still holds slots on nodes, and how many of them a claim has not closed yet: the claim is `held` only
-- when all of it is zero.
-- use: pool slots
-- ARGV  claim ('': none is asked for), node ...
-- reply {leased, offered, ghosts, nodes without the claim's block or with its notice running}
local claim, unblocked = ARGV[1], 0
local counts = {leased = 0, offered = 0, ghost = 0}
for i = 2, #ARGV do
  local name = ARGV[i]
  local node = record(NODES, name)
  local block = node and (node.claims or {})[claim]
  if not block or block.closes > NOW then unblocked = unblocked + 1 end
  for _, id in ipairs(split(node and node.workers)) do
    for _, member in ipairs(under(SLOTS, id, 1024)) do
      local lease = record(LEASES, rest(member))
      if lease and lease.node == name then counts[lease.state] = counts[lease.state] + 1 end
    end
  end
end
return {counts.leased, counts.offered, counts.ghost, claim ~= '' and unblocked or 0}

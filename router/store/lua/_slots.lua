-- Part: which workers have a free slot. Capacity is the set of leases under a worker, never a counter.

local function claimed(node) return node and next(node.claims or {}) ~= nil end

-- When does this node stop taking work, in ms? Nil: never. A flag closes at once.
local function closes_at(node)
  if not node then return nil end
  if node.flag then return 0 end
  local first = nil
  for _, claim in pairs(node.claims or {}) do
    if not first or claim.closes < first then first = claim.closes end
  end
  return first
end

local function has_room(id, worker)
  return worker.up == 1 and worker.drain ~= 1 and count(SLOTS, id) < worker.slots
end

local function unlist(id, worker)
  for _, lane in ipairs(split(worker.lanes)) do
    redis.call('ZREM', FREE, lane .. '\0' .. id, lane .. '\0~' .. id)
  end
end

-- Keeps FREE true for one worker: listed under each of its lanes while it has room and its node is open.
-- Workers of a node with a claim's notice running stand behind '~', after all others of the lane.
local function refresh(id, worker)
  local closing = closes_at(record(NODES, worker.node))
  unlist(id, worker)
  if not has_room(id, worker) or (closing and closing <= NOW) then return end
  for _, lane in ipairs(split(worker.lanes)) do
    redis.call('ZADD', FREE, 0, lane .. '\0' .. (closing and '~' or '') .. id)
  end
end

local function free_worker(member) return string.match(member, '^[^%z]*%z~?(.*)$') end

-- Writes a worker's record, as its source says it is; its state by probes is kept.
-- use: pool slots queue leases fill reap
-- ARGV  worker, node, url, slots, lanes, drain (1|0), source
-- reply 'new' | 'changed' | 'same'
local id = ARGV[1]
local old = record(WORKERS, id)
local worker = {node = ARGV[2], url = ARGV[3], slots = tonumber(ARGV[4]), lanes = ARGV[5],
  drain = tonumber(ARGV[6]), source = ARGV[7], up = old and old.up or 0, boot = old and old.boot or nil}
if old and old.node == worker.node and old.url == worker.url and old.slots == worker.slots
  and old.lanes == worker.lanes and old.drain == worker.drain then return 'same' end
if old then
  unlist(id, old)
  if old.node ~= worker.node then
    local left = record(NODES, old.node)
    if left then
      left.workers = string.gsub('|' .. left.workers .. '|', '|' .. id:gsub('%p', '%%%0') .. '|', '|')
      keep(NODES, old.node, left)
    end
  end
end
keep(WORKERS, id, worker)
local node = record(NODES, worker.node) or {epoch = 0, claims = {}, workers = ''}
if not string.find('|' .. node.workers .. '|', '|' .. id .. '|', 1, true) then
  node.workers = node.workers .. '|' .. id
end
keep(NODES, worker.node, node)
refresh(id, worker)
fill(id)
touch()
return old and 'changed' or 'new'

-- Switches a node off (1) or on (0) by an operator's flag. What runs there may finish.
-- use: pool slots queue leases fill reap
-- ARGV  node, off (1|0)
-- reply 'ok'
local node = record(NODES, ARGV[1]) or {epoch = 0, claims = {}, workers = ''}
local off = ARGV[2] == '1' or nil
if node.flag == off then return 'ok' end
node.flag = off
node.epoch = node.epoch + 1
keep(NODES, ARGV[1], node)
for _, id in ipairs(split(node.workers)) do
  local worker = record(WORKERS, id)
  if worker then
    refresh(id, worker)
    if not off then fill(id) end
  end
end
touch()
return 'ok'

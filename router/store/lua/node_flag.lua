-- Switches a node off (1) or on (0) by an operator's flag. What runs there may finish; offers are taken back.
-- use: pool slots queue leases fill offers nodes
-- ARGV  node, off (1|0)
-- reply 'ok'
local name, off = ARGV[1], ARGV[2] == '1' or nil
local node = node_record(name)
if node.flag == off then return 'ok' end
node.flag = off
node_changed(name, node)
apply({name})
touch()
return 'ok'

-- Part: a node's record: {flag, claims by id, epoch, workers joined by '|'}.

local function node_record(name) return record(NODES, name) or {epoch = 0, claims = {}, workers = ''} end

-- Writes a node whose flag or claims changed: its epoch rises.
local function node_changed(name, node)
  node.epoch = node.epoch + 1
  keep(NODES, name, node)
end

local function add_worker(name, id)
  local node = node_record(name)
  for _, other in ipairs(split(node.workers)) do
    if other == id then return end
  end
  node.workers = node.workers == '' and id or node.workers .. '|' .. id
  keep(NODES, name, node)
end

local function remove_worker(name, id)
  local node, others = node_record(name), {}
  for _, other in ipairs(split(node.workers)) do
    if other ~= id then others[#others + 1] = other end
  end
  node.workers = table.concat(others, '|')
  keep(NODES, name, node)
end

-- After a change of some nodes: FREE is made true first, so that nothing is offered where it must not be.
local function apply(names)
  local workers = {}
  for _, name in ipairs(names) do
    for _, id in ipairs(split(node_record(name).workers)) do
      local worker = record(WORKERS, id)
      if worker then
        workers[#workers + 1] = id
        refresh(id, worker)
      end
    end
  end
  revoke(workers)
end

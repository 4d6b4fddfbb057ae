-- Part: offers that end without having been taken. Nothing was sent on them: their slots are free at once.

-- The ticket of an offer goes back to the place it had.
local function withdraw(id, lease)
  local ticket = record(TICKETS, lease.ticket)
  finish(id, lease)
  if ticket and ticket.lease == id then enqueue(lease.ticket, ticket) end
end

-- May this offer still be taken up, by all that changed since it was made?
local function stands(lease)
  local worker = record(WORKERS, lease.worker)
  if not worker or worker.up ~= 1 or worker.drain == 1 then return false end
  local closing = closes_at(record(NODES, lease.node))
  return not closing or NOW + lease.need <= closing
end

-- Takes back the offers of some workers that do not stand any more; others serve their tickets.
local function revoke(workers)
  local lanes = {}
  for _, worker_id in ipairs(workers) do
    for _, member in ipairs(under(SLOTS, worker_id, 1024)) do
      local id = rest(member)
      local lease = record(LEASES, id)
      if lease and lease.state == 'offered' and not stands(lease) then
        withdraw(id, lease)
        lanes[#lanes + 1] = lease.lane
      end
    end
    fill(worker_id)
  end
  for _, lane in ipairs(lanes) do fill_lane(lane) end
end

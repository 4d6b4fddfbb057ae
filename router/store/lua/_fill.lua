-- Part: gives free slots to the best waiters, as offers. Every change that raises capacity ends here.

local function avoids(ticket, worker_id)
  return string.find('|' .. (ticket.avoid or '') .. '|', '|' .. worker_id .. '|', 1, true)
end

-- The best waiter over the lanes of a worker whose work it may start now.
local function best(worker_id, worker)
  local chosen, chosen_ticket, chosen_rank
  local function fits(ticket)
    return not avoids(ticket, worker_id) and admits(worker_id, worker, ticket.need)
  end
  for _, lane in ipairs(split(worker.lanes)) do
    local id, ticket, rank = head(lane, fits)
    if id and (not chosen or rank < chosen_rank) then
      chosen, chosen_ticket, chosen_rank = id, ticket, rank
    end
  end
  return chosen, chosen_ticket, chosen_rank
end

local function offer(worker_id, worker, id, ticket)
  dequeue(id, ticket)
  ticket.offers = (ticket.offers or 0) + 1
  local lease_id = id .. ':o' .. string.format('%.0f', NOW_US) .. ':' .. ticket.offers
  ticket.state, ticket.lease = 'offered', lease_id
  keep(TICKETS, id, ticket)
  local ask = {ticket = id, replica = ticket.replica, lane = ticket.lane, need = ticket.need, budget = ticket.budget}
  grant(lease_id, worker_id, worker, ask, 'offered')
  redis.call('PUBLISH', string.gsub(META, ':meta$', ':wake'), ticket.replica .. '|' .. id)
end

local function fill(worker_id)
  if redis.call('HGET', META, 'closed') == '1' then return end
  local worker = record(WORKERS, worker_id)
  if not worker then return end
  for _ = 1, 64 do
    if not has_room(worker_id, worker) then return end
    local id, ticket = best(worker_id, worker)
    if not id then return end
    offer(worker_id, worker, id, ticket)
  end
end

-- Fills up to 16 free workers of one lane: for a waiter that came back rather than a slot.
local function fill_lane(lane)
  for _, member in ipairs(under(FREE, lane, 16)) do
    if redis.call('ZLEXCOUNT', QUEUE, '[' .. lane .. '\0', '(' .. lane .. '\1') == 0 then return end
    fill(free_worker(member))
  end
end

-- The offer was not taken or not allowed to stand: its ticket goes back to the place it had.
local function withdraw(id, lease)
  local ticket = record(TICKETS, lease.ticket)
  finish(id, lease)
  if ticket and ticket.lease == id then enqueue(lease.ticket, ticket) end
end

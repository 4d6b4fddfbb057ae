-- Part: gives free slots to the best waiters, as offers. Every change that raises capacity ends here.

local function avoids(ticket, worker_id)
  return string.find('|' .. (ticket.avoid or '') .. '|', '|' .. worker_id .. '|', 1, true)
end

-- The best waiter over the lanes of a worker whose work it may start now, and its rank.
local function best(worker_id, worker)
  if not has_room(worker_id, worker) then return nil end
  local closing = closes_at(record(NODES, worker.node))
  local function fits(ticket)
    return not avoids(ticket, worker_id) and (not closing or NOW + ticket.need <= closing)
  end
  local chosen, chosen_ticket, chosen_rank
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
  local ask = {ticket = id, replica = ticket.replica, lane = ticket.lane, need = ticket.need,
    budget = ticket.budget}
  grant(lease_id, worker_id, worker, ask, 'offered')
  redis.call('PUBLISH', (string.gsub(META, ':meta$', ':wake')), ticket.replica .. '|' .. id)
end

-- Offers a worker's free slots, 64 at most; with `latest`, only to waiters that need to start by then.
local function fill(worker_id, latest)
  if redis.call('HGET', META, 'closed') == '1' then return end
  local worker = record(WORKERS, worker_id)
  if not worker then return end
  for _ = 1, 64 do
    local id, ticket, rank = best(worker_id, worker)
    if not id or (latest and rank > latest) then return end
    offer(worker_id, worker, id, ticket)
  end
end

-- Fills up to 16 free workers of one lane: for a waiter that came back rather than a slot.
local function fill_lane(lane)
  for _, member in ipairs(under(FREE, lane, 16)) do
    if count(QUEUE, lane) == 0 then return end
    fill(free_worker(member))
  end
end

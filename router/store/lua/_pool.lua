-- Part: names of a pool's keys, its clock and its rules. Every pool script starts with it.
-- The KEYS of every pool script are the same table, in the order of store/keys.py.
local META, WORKERS, NODES, LEASES, EXPIRY = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local SLOTS, FREE, QUEUE, TICKETS, OFFERS = KEYS[6], KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local PARKED, REPLICAS, TOMBS = KEYS[11], KEYS[12], KEYS[13]

local rules = redis.call('HMGET', META,
  'lease_ms', 'offer_ms', 'silent_ms', 'freeze_ms', 'last', 'no_reap_before')
local LEASE_MS, OFFER_MS = tonumber(rules[1]), tonumber(rules[2])
local SILENT_MS, FREEZE_MS = tonumber(rules[3]), tonumber(rules[4])
if not LEASE_MS then return redis.error_reply('NOPOOL this pool was never opened in this store') end

local time = redis.call('TIME')
local NOW = time[1] * 1000 + math.floor(time[2] / 1000)
local NOW_US = time[1] * 1000000 + time[2]

-- A server that stood still frees nothing: the owners of its leases could not renew them.
local NO_REAP_BEFORE = tonumber(rules[6] or 0)
if NOW - tonumber(rules[5] or NOW) > FREEZE_MS then
  NO_REAP_BEFORE = NOW + LEASE_MS
  redis.call('HSET', META, 'no_reap_before', NO_REAP_BEFORE)
end
redis.call('HSET', META, 'last', NOW)

local function record(key, id)
  local text = redis.call('HGET', key, id)
  return text and cjson.decode(text) or nil
end

local function keep(key, id, value) redis.call('HSET', key, id, cjson.encode(value)) end

-- The fleet changed: replicas that listen look again at once, the others within their next heartbeat.
local function touch()
  redis.call('PUBLISH', (string.gsub(META, ':meta$', ':wake')), '*|')
  return redis.call('HINCRBY', META, 'revision', 1)
end

local function split(text)
  local parts = {}
  for part in string.gmatch(text or '', '[^|]+') do parts[#parts + 1] = part end
  return parts
end

-- Members under one prefix of a set ordered by its bytes: all of them are prefix .. '\0' .. rest.
local function under(key, prefix, limit)
  return redis.call('ZRANGEBYLEX', key, '[' .. prefix .. '\0', '(' .. prefix .. '\1', 'LIMIT', 0, limit)
end

local function count(key, prefix)
  return redis.call('ZLEXCOUNT', key, '[' .. prefix .. '\0', '(' .. prefix .. '\1')
end

local function rest(member) return string.match(member, '^[^%z]*%z(.*)$') end

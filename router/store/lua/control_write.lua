-- Writes one claim or flag by compare-and-set on its revision, and its line in the audit stream.
-- KEYS  records, audit stream, meta
-- ARGV  id, revision it must have ('' : must not exist, '*': any), JSON ('' : delete), audit JSON,
--       'apart': a new active claim must not share a node with another of its owner ('': it may)
-- reply {'written', revision} | {'conflict', the record that stands}
-- invariant  no change without its audit line; deleting what is not there is none
local ENDED = {released = true, cancelled = true}

-- An active claim of the same owner that has one of its nodes.
local function overlapping(text)
  local new, wanted = cjson.decode(text), {}
  if ENDED[new.phase] then return nil end
  for _, node in ipairs(new.nodes) do wanted[node] = true end
  for _, other in ipairs(redis.call('HVALS', KEYS[1])) do
    local claim = cjson.decode(other)
    if claim.owner == new.owner and not ENDED[claim.phase] then
      for _, node in ipairs(claim.nodes) do
        if wanted[node] then return other end
      end
    end
  end
end

local have = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] ~= '*' then
  local revision = have and tostring(cjson.decode(have).revision) or ''
  if revision ~= ARGV[2] then return {'conflict', have or ''} end
end
local other = ARGV[5] == 'apart' and not have and overlapping(ARGV[3])
if other then return {'conflict', other} end
if ARGV[3] == '' and not have then return {'written', redis.call('HGET', KEYS[3], 'revision') or 0} end
local revision = redis.call('HINCRBY', KEYS[3], 'revision', 1)
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1])
else
  local value = string.gsub(ARGV[3], '"revision":%s*%-?%d+', '"revision":' .. revision, 1)
  redis.call('HSET', KEYS[1], ARGV[1], value)
end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', '10000', '*', 'line', ARGV[4], 'revision', revision)
return {'written', revision}

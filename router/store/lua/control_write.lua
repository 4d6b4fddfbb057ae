-- Writes one claim or flag by compare-and-set on its revision, and its line in the audit stream.
-- KEYS  records, audit stream, meta
-- ARGV  id, revision it must have ('' : must not exist, '*': any), JSON ('' : delete), audit JSON
-- reply {'written', revision} | {'conflict', the record that stands}
-- invariant  no change without its audit line; deleting what is not there is none
local have = redis.call('HGET', KEYS[1], ARGV[1])
if ARGV[2] ~= '*' then
  local revision = have and tostring(cjson.decode(have).revision) or ''
  if revision ~= ARGV[2] then return {'conflict', have or ''} end
end
if ARGV[3] == '' and not have then return {'written', redis.call('HGET', KEYS[3], 'revision') or 0} end
local revision = redis.call('HINCRBY', KEYS[3], 'revision', 1)
if ARGV[3] == '' then redis.call('HDEL', KEYS[1], ARGV[1])
else
  local value = string.gsub(ARGV[3], '"revision":%s*%-?%d+', '"revision":' .. revision, 1)
  redis.call('HSET', KEYS[1], ARGV[1], value)
end
redis.call('XADD', KEYS[2], 'MAXLEN', '~', '10000', '*', 'line', ARGV[4], 'revision', revision)
return {'written', revision}

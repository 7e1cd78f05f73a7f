-- Sends prebuilt requests in rotation with wrk: file, first line, and a tag that makes this run's ids its own.
-- A line is method, path, token, entity tag and the parts of the body between which an answer's fresh id goes,
-- separated by tabs. The fourth argument is the header lines that every request has. Prints one line of JSON at the end.

local heads, parts, count, index = {}, {}, 0, 0
local tag, minted, started, common = '', -1, os.time() * 1000, ''

local function split(line)
  local fields = {}
  for field in (line .. '\t'):gmatch('([^\t]*)\t') do fields[#fields + 1] = field end
  return fields
end

local function head(fields)
  local lines = { fields[1] .. ' ' .. fields[2] .. ' HTTP/1.1', 'Host: 127.0.0.1', common }
  if fields[3] ~= '' then lines[#lines + 1] = 'Authorization: Bearer ' .. fields[3] end
  if fields[4] ~= '' then lines[#lines + 1] = 'If-None-Match: ' .. fields[4] end
  if #fields > 4 then
    local length = 36 * (#fields - 5)
    for number = 5, #fields do length = length + #fields[number] end
    lines[#lines + 1] = 'Content-Type: application/json'
    lines[#lines + 1] = 'Content-Length: ' .. length
  end
  return table.concat(lines, '\r\n') .. '\r\n\r\n'
end

function init(args)
  tag, common = args[3], args[4]
  for line in io.lines(args[1]) do
    local fields = split(line)
    count = count + 1
    heads[count] = head(fields)
    if #fields > 4 then
      parts[count] = {}
      for number = 5, #fields do parts[count][number - 4] = fields[number] end
    end
  end
  index = tonumber(args[2]) % count
end

-- The numbers below 4096 as three hexadecimal digits: an id is made for every answer, beside the programs that are measured.
local digits = {}
for number = 0, 4095 do digits[number] = string.format('%03x', number) end

-- A UUID of version 7 (RFC 9562): its time grows with every id, as on clients that send as they go.
local stem, high
local function id()
  minted = minted + 1
  if minted % 16 == 0 then
    local time = string.format('%012x', started + math.floor(minted / 16))
    stem = time:sub(1, 8) .. '-' .. time:sub(9, 12) .. '-7'
  end
  if minted % 4096 == 0 then high = string.format('%04x', math.floor(minted / 4096)) end
  local low = digits[minted % 4096]
  return stem .. low .. '-' .. tag .. high .. low
end

function request()
  index = index % count + 1
  local body = parts[index]
  if body == nil then return heads[index] end
  if #body == 2 then return heads[index] .. body[1] .. id() .. body[2] end
  local pieces = { heads[index], body[1] }
  for number = 2, #body do
    pieces[#pieces + 1] = id()
    pieces[#pieces + 1] = body[number]
  end
  return table.concat(pieces)
end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"refused":%d,"broken":%d}',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end

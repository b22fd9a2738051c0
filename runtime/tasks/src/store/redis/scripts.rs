//! Commands and scripts. A script is atomic, and its text is cached by Redis.

use treenail_redis::internal::redis::{Cmd, cmd};

use super::keys::{self, Keys};
use crate::store::{StoredTask, TaskId};

const INSERT: &str = "
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
local time = redis.call('TIME')
local wake = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[5]
redis.call('ZADD', KEYS[2], string.format('%.0f', wake), ARGV[1])
local entry = #ARGV[2] .. ':' .. ARGV[2] .. ':' .. ARGV[3] .. ARGV[1]
redis.call('ZADD', KEYS[3], 0, entry)
redis.call('HINCRBY', KEYS[4], 't:' .. ARGV[2], 1)
redis.call('HINCRBY', KEYS[4], 'b:' .. ARGV[2], #ARGV[6] + #ARGV[7])
redis.call('HSET', KEYS[4], 'i:' .. ARGV[1], (#ARGV[6] + #ARGV[7]) .. ' ' .. entry)
redis.call('HSET', KEYS[1], 'o', ARGV[2], 'c', ARGV[3], 'v', ARGV[4], 's', ARGV[6], 'n', #ARGV[6], 'b', ARGV[7])
return 1";

/// The usage of an owner changes only with tasks that it counts: Redis may have evicted the counters.
///
/// At `maxmemory`, Redis refuses a script at a command that may need memory, unless the script has already made a change. A change
/// that makes no task longer therefore starts with a removal, so that leases are renewed and tasks end.
const REPLACE: &str = "
local stored = redis.call('HMGET', KEYS[1], 'o', 'v')
if stored[2] ~= ARGV[2] then return 0 end
local time = redis.call('TIME')
local wake = time[1] * 1000 + math.floor(time[2] / 1000) + ARGV[4]
local longer = #ARGV[5] + #ARGV[6] - redis.call('HSTRLEN', KEYS[1], 's') - redis.call('HSTRLEN', KEYS[1], 'b')
if longer <= 0 then redis.call('ZREM', KEYS[2], ARGV[1]) end
redis.call('ZADD', KEYS[2], string.format('%.0f', wake), ARGV[1])
if stored[1] and longer ~= 0 then
  local counted = redis.call('HGET', KEYS[3], 'i:' .. ARGV[1])
  local entry = counted and string.match(counted, ' .*')
  if entry then
    redis.call('HINCRBY', KEYS[3], 'b:' .. stored[1], longer)
    redis.call('HSET', KEYS[3], 'i:' .. ARGV[1], (#ARGV[5] + #ARGV[6]) .. entry)
  end
end
redis.call('HSET', KEYS[1], 'v', ARGV[3], 's', ARGV[5], 'n', #ARGV[5], 'b', ARGV[6])
return 1";

const REMOVE: &str = "
local stored = redis.call('HMGET', KEYS[1], 'o', 'v', 'c')
if stored[2] ~= ARGV[2] then return 0 end
local bytes = redis.call('HSTRLEN', KEYS[1], 's') + redis.call('HSTRLEN', KEYS[1], 'b')
redis.call('ZREM', KEYS[2], ARGV[1])
local counted = redis.call('HDEL', KEYS[4], 'i:' .. ARGV[1]) == 1
local owner = stored[1]
if owner then
  redis.call('ZREM', KEYS[3], #owner .. ':' .. owner .. ':' .. (stored[3] or '') .. ARGV[1])
end
if owner and counted then
  redis.call('HINCRBY', KEYS[4], 'b:' .. owner, 0 - bytes)
  if redis.call('HINCRBY', KEYS[4], 't:' .. owner, -1) <= 0 then
    redis.call('HDEL', KEYS[4], 't:' .. owner, 'b:' .. owner)
  end
end
redis.call('UNLINK', KEYS[1])
return 1";

/// Removes the entries of a task that does not exist, and its part of the usage of its owner.
const FORGET: &str = "
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[2])
local counted = redis.call('HGET', KEYS[4], 'i:' .. ARGV[1])
if not counted then return 0 end
redis.call('HDEL', KEYS[4], 'i:' .. ARGV[1])
local bytes, entry, length, rest = string.match(counted, '^(%d+) ((%d+):(.*))$')
redis.call('ZREM', KEYS[3], entry)
local owner = string.sub(rest, 1, length)
redis.call('HINCRBY', KEYS[4], 'b:' .. owner, 0 - bytes)
if redis.call('HINCRBY', KEYS[4], 't:' .. owner, -1) <= 0 then
  redis.call('HDEL', KEYS[4], 't:' .. owner, 'b:' .. owner)
end
return 1";

/// Ids of due tasks. The clock is that of Redis.
const DUE: &str = "
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
return redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', ARGV[1], ARGV[2])";

/// Fields of each task, and the size of its body: a text that is too long to be read arrives empty.
const READ: &str = "
local records = {}
for index, key in ipairs(KEYS) do
  local record = redis.call('HMGET', key, 'o', 'c', 'v', 's', 'n', 'b')
  record[7] = redis.call('HSTRLEN', key, 'b')
  records[index] = record
end
return records";

fn script(text: &str, keys: &[String]) -> Cmd {
    let mut command = cmd("EVAL");
    command.arg(text).arg(keys.len()).arg(keys);
    command
}

pub(super) fn insert(keys: &Keys, task: &StoredTask, wake_ms: u64) -> Cmd {
    let names = [keys.task(&task.id), keys.due(), keys.order(), keys.usage()];
    let mut command = script(INSERT, &names);
    command.arg(task.id.as_str()).arg(&task.owner);
    command
        .arg(keys::created(task.created_ms))
        .arg(task.version);
    command.arg(wake_ms).arg(&*task.state).arg(&*task.body);
    command
}

pub(super) fn replace(keys: &Keys, task: &StoredTask, expected: u64, wake_ms: u64) -> Cmd {
    let names = [keys.task(&task.id), keys.due(), keys.usage()];
    let mut command = script(REPLACE, &names);
    command
        .arg(task.id.as_str())
        .arg(expected)
        .arg(task.version);
    command.arg(wake_ms).arg(&*task.state).arg(&*task.body);
    command
}

pub(super) fn remove(keys: &Keys, id: &TaskId, version: u64) -> Cmd {
    let names = [keys.task(id), keys.due(), keys.order(), keys.usage()];
    let mut command = script(REMOVE, &names);
    command.arg(id.as_str()).arg(version);
    command
}

/// Removes the entries of a task that does not exist. `entry` is that in the order of all tasks, or its id.
pub(super) fn forget(keys: &Keys, id: &TaskId, entry: &[u8]) -> Cmd {
    let names = [keys.task(id), keys.due(), keys.order(), keys.usage()];
    let mut command = script(FORGET, &names);
    command.arg(id.as_str()).arg(entry);
    command
}

pub(super) fn due(keys: &Keys, offset: usize, count: usize) -> Cmd {
    let mut command = script(DUE, &[keys.due()]);
    command.arg(offset).arg(count);
    command
}

pub(super) fn read(keys: &Keys, ids: &[TaskId]) -> Cmd {
    let names: Vec<String> = ids.iter().map(|id| keys.task(id)).collect();
    script(READ, &names)
}

/// Reads the fields of a task apart from its body.
pub(super) fn state(keys: &Keys, id: &TaskId) -> Cmd {
    let mut command = cmd("HMGET");
    command.arg(keys.task(id)).arg(&["o", "c", "v", "s", "n"]);
    command
}

/// Lists members of an owner from the bound `start` on.
pub(super) fn list(keys: &Keys, owner: &str, start: &[u8], count: usize) -> Cmd {
    let mut command = cmd("ZRANGEBYLEX");
    command
        .arg(keys.order())
        .arg(start)
        .arg(keys::last_member(owner));
    command.arg("LIMIT").arg(0).arg(count);
    command
}

pub(super) fn usage(keys: &Keys, owner: &str) -> Cmd {
    let mut command = cmd("HMGET");
    command.arg(keys.usage());
    command.arg(format!("t:{owner}")).arg(format!("b:{owner}"));
    command
}

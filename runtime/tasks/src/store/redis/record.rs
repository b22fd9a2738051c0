//! Replies of Redis.

use treenail_redis::internal::redis::Value;

use super::failure::damaged;
use crate::store::{StoreError, StoredTask, TaskId};

/// Record in a reply.
pub(super) enum Found {
    Task(StoredTask),
    Absent,
    /// A field is missing or invalid, or state or body is too long to be read.
    Damaged,
}

impl Found {
    /// Returns the task, if there is one that can be read.
    pub(super) fn into_task(self) -> Result<Option<StoredTask>, StoreError> {
        match self {
            Self::Task(task) => Ok(Some(task)),
            Self::Absent => Ok(None),
            Self::Damaged => Err(damaged()),
        }
    }
}

/// Reads the record of the task `id`, with its body or without.
pub(super) fn parse_task(id: &TaskId, record: Value, has_body: bool) -> Found {
    let Value::Array(fields) = record else {
        return Found::Damaged;
    };
    let mut fields = fields.into_iter();
    let mut next = || fields.next().unwrap_or(Value::Nil);
    let [owner, created_ms, version] = [next(), next(), next()];
    let state = [next(), next()];
    let body = has_body.then(|| [next(), next()]);
    if matches!(
        (&owner, &version, &state[0]),
        (Value::Nil, Value::Nil, Value::Nil)
    ) {
        return Found::Absent;
    }
    let task = || {
        let body = body.map_or(Some(Vec::new()), sized)?;
        let mut task = StoredTask::new(id.clone(), text(owner)?, number(&created_ms)?, body);
        task.version = number(&version)?;
        task.state = sized(state)?;
        Some(task)
    };
    task().map_or(Found::Damaged, Found::Task)
}

/// Returns a text of the size that belongs to it.
fn sized([text, bytes]: [Value; 2]) -> Option<Vec<u8>> {
    match text {
        Value::BulkString(text) if number(&bytes)? == text.len() as u64 => Some(text),
        _ => None,
    }
}

/// Returns a number. An absent one is zero.
pub(super) fn decimal(value: &Value) -> Option<u64> {
    match value {
        Value::Nil => Some(0),
        value => number(value),
    }
}

fn number(value: &Value) -> Option<u64> {
    match value {
        Value::Int(number) => u64::try_from(*number).ok(),
        Value::BulkString(text) => std::str::from_utf8(text).ok()?.parse().ok(),
        _ => None,
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::BulkString(text) => String::from_utf8(text).ok(),
        _ => None,
    }
}

/// Returns the texts of a list.
pub(super) fn texts(reply: Value) -> Option<Vec<Vec<u8>>> {
    let Value::Array(values) = reply else {
        return None;
    };
    let texts = values.into_iter().map(|value| match value {
        Value::BulkString(text) => Some(text),
        _ => None,
    });
    texts.collect()
}

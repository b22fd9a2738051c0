//! Replies of Redis.

use treenail_redis::internal::redis::Value;

use crate::store::{StoredTask, TaskId};

/// Record in a reply.
pub(super) enum Found {
    Task(StoredTask),
    Absent,
    /// A field is missing or invalid, or the body is too long to be read.
    Damaged,
}

/// Reads the record of the task `id`.
pub(super) fn parse_task(id: &TaskId, record: Value) -> Found {
    let Value::Array(fields) = record else {
        return Found::Damaged;
    };
    let Ok([owner, created_ms, version, body, body_bytes]) = <[Value; 5]>::try_from(fields) else {
        return Found::Damaged;
    };
    if matches!(
        (&owner, &version, &body),
        (Value::Nil, Value::Nil, Value::Nil)
    ) {
        return Found::Absent;
    }
    let task = || {
        let Value::BulkString(body) = body else {
            return None;
        };
        let complete = decimal(&body_bytes)? == body.len() as u64;
        let mut task = StoredTask::new(id.clone(), text(owner)?, number(&created_ms)?, body);
        task.version = number(&version)?;
        complete.then_some(task)
    };
    task().map_or(Found::Damaged, Found::Task)
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

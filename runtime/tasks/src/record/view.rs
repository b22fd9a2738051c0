//! States of tasks as clients see them, in the form of each revision.

use std::borrow::Cow;

use treenail_runtime::internal::extension::WriteResult;
use treenail_runtime::internal::task::{ResultShape, ResultWriter, without_retired_code};
use treenail_runtime::internal::{Members, SyntaxError};
use treenail_runtime::{RpcError, Server};
use treenail_schema::Revision;

use super::outcome::StoredError;
use super::state::check_line;
use super::{Damaged, FORMAT, Newer, Record};
use crate::store::StoredTask;

/// Form of a task in the messages of a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// `CreateTaskResult` of the extension: no questions and no outcome.
    Created,
    /// `tasks/get` and notifications of the extension.
    Complete,
    /// Tasks of 2025-11-25.
    Older,
}

/// Task that a client has polled: its state as it is stored.
#[derive(Debug)]
pub(crate) struct Polled {
    pub(crate) task: StoredTask,
    pub(crate) form: Form,
}

impl WriteResult for Polled {
    /// Writes the state. A damaged one reads as that of a failed task.
    fn write(self, result: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        let start = result.mark();
        if let Err(error) = write_view(&self.task.state, self.form, result) {
            result.rewind(start);
            Newer::check(&[&self.task.state]).map_err(|newer| newer.to_rpc_error())?;
            let (id, problem) = (&self.task.id, &error.problem);
            tracing::error!(?id, %problem, "a stored task is damaged");
            let record = Record::damaged(self.task.created_ms);
            let state = record.state(&(&self.task).into());
            let written = state.and_then(|state| write_view(&state, self.form, result));
            written.map_err(|error| RpcError::internal(error.problem))?;
        }
        result.end(None);
        Ok(())
    }
}

/// Returns `true` if a state has open questions.
pub(crate) fn has_questions(state: &[u8]) -> bool {
    let text = std::str::from_utf8(state).unwrap_or_default();
    let mut members = Members::new(text);
    let mut next = || members.as_mut().ok()?.next().ok()?;
    std::iter::from_fn(&mut next).any(|(key, _)| key == "inputRequests")
}

/// Returns the text of a state for clients. The complete form needs the server.
pub(crate) fn view_text(
    server: Option<&Server>,
    state: &[u8],
    form: Form,
) -> Result<String, Damaged> {
    let mut out = Vec::with_capacity(state.len() + 128);
    write_view(state, form, &mut ResultWriter::of_text(&mut out, server))?;
    out.push(b'}');
    String::from_utf8(out).map_err(|_| "it is not UTF-8".into())
}

/// Writes the members of a state in one pass, which also checks its JSON.
fn write_view(state: &[u8], form: Form, out: &mut ResultWriter<'_>) -> Result<(), Damaged> {
    let text = std::str::from_utf8(state).map_err(|_| "its state is not UTF-8")?;
    check_line(state)?;
    let mut shape = ResultShape::default();
    let (mut failed, mut plain, mut known, mut begun) = (false, false, false, false);
    let mut members = Members::new(text).map_err(not_json)?;
    while let Some((key, value)) = members.next().map_err(not_json)? {
        match &*key {
            "format" => known = value.parse() == Ok(FORMAT),
            "shape" => shape = ResultShape { values: true },
            "failed" => failed = true,
            "plain" => plain = true,
            "task" if known && !begun => {
                begun = true;
                match form {
                    Form::Created => out.push(br#"{"resultType":"task","#),
                    Form::Complete | Form::Older => out.push(b"{"),
                }
                match form {
                    Form::Older => write_older(value, failed, out)?,
                    Form::Created | Form::Complete => out.push(inner(value)?.as_bytes()),
                }
            }
            "inputRequests" | "result" | "error" if begun && form != Form::Complete => {}
            "result" if begun => {
                out.push(br#","result":"#);
                let written = shape.write(value, plain, out);
                written.map_err(|_| "its result is not an object")?;
            }
            "error" if begun => {
                write_member("error", &current_error(value), false, out);
            }
            "inputRequests" if begun => write_member("inputRequests", value, false, out),
            _ => return Err("its format is unknown".into()),
        }
    }
    if begun {
        return Ok(());
    }
    Err("its state has no task".into())
}

/// Returns a stored error for clients of the extension, with a current code in place of a retired one.
fn current_error(error: &str) -> Cow<'_, str> {
    let Ok(stored) = serde_json::from_str::<StoredError>(error) else {
        return error.into();
    };
    let current = without_retired_code(stored.clone().into_rpc_error(), Revision::LATEST).into();
    if stored == current {
        return error.into();
    }
    serde_json::to_string(&current).map_or(error.into(), Cow::from)
}

/// Returns the members of an object with at least one.
fn inner(object: &str) -> Result<&str, Damaged> {
    let members = object.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
    let members = members.filter(|members| members.starts_with('"'));
    members.ok_or_else(|| "its task is not an object".into())
}

/// Writes the members of a task in the form of 2025-11-25.
fn write_older(task: &str, failed: bool, out: &mut ResultWriter<'_>) -> Result<(), Damaged> {
    let mut first = true;
    let mut members = Members::new(task).map_err(not_json)?;
    while let Some((key, value)) = members.next().map_err(not_json)? {
        let (key, value) = match &*key {
            "taskId" => ("taskId", value),
            "status" if failed => ("status", r#""failed""#),
            "status" => ("status", value),
            "statusMessage" => ("statusMessage", value),
            "createdAt" => ("createdAt", value),
            "lastUpdatedAt" => ("lastUpdatedAt", value),
            "ttlMs" => ("ttl", value),
            "pollIntervalMs" => ("pollInterval", value),
            _ => return Err("its task has an unknown member".into()),
        };
        write_member(key, value, first, out);
        first = false;
    }
    Ok(())
}

/// Writes a member whose name needs no escapes.
fn write_member(key: &str, value: &str, first: bool, out: &mut ResultWriter<'_>) {
    out.push(if first { b"\"" } else { b",\"" });
    out.push(key.as_bytes());
    out.push(b"\":");
    out.push(value.as_bytes());
}

fn not_json(error: SyntaxError) -> Damaged {
    Damaged {
        problem: format!("its state is not JSON: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::current_error;

    #[test]
    fn a_retired_code_of_a_stored_error_is_replaced() {
        for (stored, expected) in [
            (
                r#"{"code":-32002,"message":"m"}"#,
                r#"{"code":-32602,"message":"m"}"#,
            ),
            (
                r#"{"code":-32042,"message":"m","data":{"a":1}}"#,
                r#"{"code":-32603,"message":"m","data":{"a":1}}"#,
            ),
            // Others stay as they are, with all members.
            (
                r#"{"code":-32000, "message":"m","x":1}"#,
                r#"{"code":-32000, "message":"m","x":1}"#,
            ),
            ("{}", "{}"),
        ] {
            assert_eq!(current_error(stored), expected, "ALL-ERR-07");
        }
    }
}

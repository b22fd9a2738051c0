//! State of a stored task: the JSON that clients poll, in the format of the newest revision.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use treenail_runtime::internal::task::ResultShape;
use treenail_runtime::internal::{Members, is_one_line, write_json};

use super::time::iso8601;
use super::{Damaged, FORMAT, Outcome, Record, Status, StoredError, TaskKey, check_format};

/// Members of a state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State<'a> {
    format: u32,
    #[serde(skip_serializing_if = "is_default")]
    shape: ResultShape,
    /// Set if the result has `isError`.
    #[serde(skip_serializing_if = "is_default")]
    failed: bool,
    /// Set if the result has no `_meta` and no `resultType`.
    #[serde(skip_serializing_if = "is_default")]
    plain: bool,
    task: View<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<BTreeMap<&'a str, &'a RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a StoredError>,
}

/// Members that each view of the task has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct View<'a> {
    task_id: &'a str,
    status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    status_message: Option<&'a str>,
    created_at: String,
    last_updated_at: String,
    ttl_ms: Option<u64>,
    poll_interval_ms: u64,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Record {
    /// Writes the state, without line ends.
    pub(crate) fn state(&self, key: &TaskKey) -> Result<Vec<u8>, Damaged> {
        let status = Status::of(self);
        let mut state = State {
            format: FORMAT,
            shape: self.shape,
            failed: false,
            plain: false,
            task: View {
                task_id: key.id.as_str(),
                status,
                status_message: self.message.as_deref(),
                created_at: iso8601(key.created_ms),
                last_updated_at: iso8601(self.updated_ms.max(key.created_ms)),
                ttl_ms: self.ttl_ms,
                poll_interval_ms: self.policy.poll_ms,
            },
            input_requests: None,
            result: None,
            error: None,
        };
        match &self.outcome {
            None if status == Status::InputRequired => {
                let open = self.questions.iter().filter(|(_, it)| it.is_open());
                let open =
                    open.filter_map(|(key, it)| Some((key.as_str(), it.request.as_deref()?)));
                state.input_requests = Some(open.collect());
            }
            Some(Outcome::Result(result)) => state.result = Some(result),
            Some(Outcome::Failure(result)) => {
                state.result = Some(result);
                state.failed = true;
            }
            Some(Outcome::Error(error)) => state.error = Some(error),
            None | Some(Outcome::Cancelled) => {}
        }
        state.plain = state.result.is_some_and(is_plain);
        let mut text = Vec::with_capacity(384 + state.result.map_or(0, |it| it.get().len()));
        write_json(&mut text, &state)?;
        Ok(text)
    }
}

/// Returns `true` if a result has no members that servers add.
fn is_plain(result: &RawValue) -> bool {
    let Ok(mut members) = Members::new(result.get()) else {
        return false;
    };
    loop {
        match members.next() {
            Ok(Some((key, _))) if key != "_meta" && key != "resultType" => {}
            ended => return matches!(ended, Ok(None)),
        }
    }
}

/// Checks that a state has no line ends, which would break the framing of responses.
pub(super) fn check_line(state: &[u8]) -> Result<(), Damaged> {
    if is_one_line(state) {
        return Ok(());
    }
    Err("its state has line ends".into())
}

/// Returns `true` if a state is that of an ended task.
pub(crate) fn has_ended(state: &[u8]) -> bool {
    matches!(read_outcome(state), Ok(Some(_)))
}

/// Reads the outcome from a state.
pub(super) fn read_outcome(state: &[u8]) -> Result<Option<Outcome>, Damaged> {
    #[derive(Deserialize)]
    struct Ended {
        format: u32,
        #[serde(default)]
        failed: bool,
        task: TaskStatus,
        result: Option<Box<RawValue>>,
        error: Option<StoredError>,
    }
    #[derive(Deserialize)]
    struct TaskStatus {
        status: Status,
    }

    check_line(state)?;
    let ended: Ended = serde_json::from_slice(state)?;
    check_format(ended.format)?;
    match (ended.task.status, ended.result, ended.error) {
        (Status::Working | Status::InputRequired, None, None) => Ok(None),
        (Status::Cancelled, None, None) => Ok(Some(Outcome::Cancelled)),
        (Status::Completed, Some(result), None) if ended.failed => {
            Ok(Some(Outcome::Failure(result)))
        }
        (Status::Completed, Some(result), None) => Ok(Some(Outcome::Result(result))),
        (Status::Failed, None, Some(error)) => Ok(Some(Outcome::Error(error))),
        _ => Err("its outcome is not that of its status".into()),
    }
}

//! State of a task, in the formats of both eras.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;
use treenail_runtime::RpcError;
use treenail_runtime::client::ClientError;
use treenail_schema::TaskStatus;
use treenail_schema::internal::wire::read_json;

/// Maximum size of a text in a state, in bytes. Each stream of states may buffer many of them.
const MAX_TEXT: usize = 4 << 10;

/// State of a task, as its server reports it.
#[cfg(feature = "client")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskUpdate {
    /// The status. The last three of them are final: `Completed`, `Failed` and `Cancelled`.
    pub status: TaskStatus,
    /// Description of the status, such as the progress. It is untrusted text of the server, of which at most 4 KiB are retained.
    pub message: Option<String>,
    /// Time of the creation, as an ISO 8601 date and time of the server.
    pub created_at: Option<String>,
    /// Time of the last change, as an ISO 8601 date and time of the server.
    pub last_updated_at: Option<String>,
    /// Time for which the server retains the task after its creation; `None` for no limit.
    pub ttl: Option<Duration>,
    /// Interval between two polls that the server asks for.
    pub poll_interval: Option<Duration>,
}

impl TaskUpdate {
    /// Returns true if the status is final.
    pub fn is_final(&self) -> bool {
        matches!(
            self.status,
            TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled
        )
    }
}

/// State of a task with its outcome and its open questions.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) id: String,
    pub(super) update: TaskUpdate,
    pub(super) questions: Option<Box<RawValue>>,
    pub(super) result: Option<Box<RawValue>>,
    pub(super) error: Option<RpcError>,
}

/// Members of both eras: `ttl` and `pollInterval` are those of 2025-11-25. Some servers send both.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Members {
    task_id: String,
    status: TaskStatus,
    status_message: Option<String>,
    created_at: Option<String>,
    last_updated_at: Option<String>,
    ttl_ms: Option<f64>,
    ttl: Option<f64>,
    poll_interval_ms: Option<f64>,
    poll_interval: Option<f64>,
    input_requests: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    error: Option<RpcError>,
}

/// Result that creates a task in revision 2025-11-25.
#[derive(Deserialize)]
struct Created {
    task: Box<RawValue>,
}

impl Snapshot {
    /// Reads the result of `tasks/get`, or the parameters of `notifications/tasks`.
    pub(super) fn read(text: &str) -> Result<Self, ClientError> {
        let members: Members = read_json(text)
            .map_err(|error| ClientError::protocol(format!("a task cannot be read: {error}")))?;
        let ttl = members.ttl_ms.or(members.ttl);
        let poll_interval = members.poll_interval_ms.or(members.poll_interval);
        Ok(Self {
            id: members.task_id,
            update: TaskUpdate {
                status: members.status,
                message: members.status_message.map(cut),
                created_at: members.created_at.map(cut),
                last_updated_at: members.last_updated_at.map(cut),
                ttl: ttl.map(milliseconds),
                poll_interval: poll_interval.map(milliseconds),
            },
            questions: members.input_requests,
            result: members.result,
            error: members.error,
        })
    }

    /// Reads the result of a call that has become a task.
    pub(super) fn read_created(text: &str, is_modern: bool) -> Result<Self, ClientError> {
        if is_modern {
            return Self::read(text);
        }
        let created: Created = serde_json::from_str(text)
            .map_err(|error| ClientError::protocol(format!("a task cannot be read: {error}")))?;
        Self::read(created.task.get())
    }
}

/// Cuts a text of the server to [`MAX_TEXT`].
fn cut(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let mut ends = (0..=MAX_TEXT).rev();
        let end = ends.find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or_default());
        text.shrink_to_fit();
    }
    text
}

/// Converts a duration of a server, which may be absurd.
fn milliseconds(value: f64) -> Duration {
    Duration::try_from_secs_f64(value.max(0.0) / 1_000.0).unwrap_or(Duration::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_eras_are_read() {
        let modern = r#"{"resultType":"task","taskId":"a","status":"working","ttlMs":null,
            "pollIntervalMs":250,"createdAt":"x","lastUpdatedAt":"y"}"#;
        let legacy = r#"{"task":{"taskId":"a","status":"working","ttl":1500,"pollInterval":250}}"#;
        let modern = Snapshot::read_created(modern, true).unwrap();
        let legacy = Snapshot::read_created(legacy, false).unwrap();
        assert_eq!(modern.update.ttl, None, "TASK-S-05");
        assert_eq!(
            legacy.update.ttl,
            Some(Duration::from_millis(1_500)),
            "LTASK-B-03"
        );
        for snapshot in [modern, legacy] {
            assert_eq!(snapshot.id, "a");
            assert_eq!(
                snapshot.update.poll_interval,
                Some(Duration::from_millis(250))
            );
            assert!(!snapshot.update.is_final());
        }
    }

    #[test]
    fn the_members_of_both_eras_may_be_present() {
        let both = r#"{"taskId":"a","status":"working","ttl":1,"ttlMs":2,"pollIntervalMs":3,"pollInterval":4}"#;
        let update = Snapshot::read(both).unwrap().update;
        assert_eq!(update.ttl, Some(Duration::from_millis(2)));
        assert_eq!(update.poll_interval, Some(Duration::from_millis(3)));
    }

    #[test]
    fn a_half_of_a_character_is_replaced() {
        let task = r#"{"taskId":"a","status":"working","statusMessage":"no \ud83d"}"#;
        let created = format!(r#"{{"task":{task}}}"#);
        let read = [
            Snapshot::read(task),
            Snapshot::read_created(&created, false),
        ];
        for snapshot in read {
            assert_eq!(
                snapshot.unwrap().update.message.as_deref(),
                Some("no \u{fffd}")
            );
        }
    }

    #[test]
    fn long_texts_are_cut() {
        for (text, expected) in [
            ("é".repeat(3_000), "é".repeat(2_048)),
            ("a".repeat(4_096), "a".repeat(4_096)),
        ] {
            let state = format!(r#"{{"taskId":"a","status":"working","statusMessage":"{text}"}}"#);
            let message = Snapshot::read(&state).unwrap().update.message;
            assert_eq!(message, Some(expected));
        }
        let at_odd_end = "a".to_owned() + &"é".repeat(3_000);
        assert_eq!(cut(at_odd_end).len(), 4_095);
    }

    #[test]
    fn absurd_durations_do_no_harm() {
        for (value, expected) in [
            (-5.0, Duration::ZERO),
            (1e300, Duration::MAX),
            (f64::NAN, Duration::ZERO),
        ] {
            assert_eq!(milliseconds(value), expected, "{value}");
        }
    }
}

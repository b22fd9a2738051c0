//! Contents of a stored task. Its state is the JSON that clients poll, with the outcome; its body has the call, the journal and
//! the questions.
//!
//! An outcome is stored once, in the style of the newest revision. `status` derives the status from it, `state` writes and reads
//! the state, and `view` writes it for each revision without decoding it.

mod call;
mod newer;
mod outcome;
mod questions;
mod state;
mod status;
pub(crate) mod time;
mod view;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use treenail_runtime::internal::task::{Journal, ResultShape, StoredCall};

pub(crate) use self::call::CallText;
pub(crate) use self::newer::Newer;
pub(crate) use self::outcome::{Outcome, StoredError, first_text, shorten};
pub(crate) use self::questions::{Answer, Question};
pub(crate) use self::state::has_ended;
use self::state::read_outcome;
use self::status::Status;
use self::time::to_ms;
pub(crate) use self::view::{Form, Polled, has_questions, view_text};
use crate::clock::now_ms;
use crate::store::{StoredTask, TaskId};

/// Version of the format of a state and a body. Those of every version are JSON objects with the member `format`.
const FORMAT: u32 = 1;

/// Body of a stored task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Record {
    format: u32,
    /// The call, to run it again. `None` after its end, and for a record that could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call: Option<CallText>,
    /// Shape of the results of the call.
    #[serde(default)]
    pub(crate) shape: ResultShape,
    pub(crate) policy: Policy,
    pub(crate) updated_ms: u64,
    /// Lifetime since the creation; `None` is unlimited.
    pub(crate) ttl_ms: Option<u64>,
    /// Number of runs so far.
    pub(crate) attempts: u32,
    /// Id of the run that owns the task. A run that finds another one here has lost the task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<String>,
    /// Lease of that run. Other processes may have other limits.
    #[serde(default = "default_lease_ms")]
    lease_ms: u64,
    /// Set in the first version of a task that may run again, but whose work may not. Without a second version, the process that
    /// stored the first one may not know of it, and have continued the call as a plain one.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) unconfirmed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) questions: BTreeMap<String, Question>,
    /// Values of earlier runs, and answers of the rounds before the task.
    #[serde(default)]
    pub(crate) journal: Journal,
    /// A part of the state, and not of the body.
    #[serde(skip)]
    pub(crate) outcome: Option<Outcome>,
}

/// Settings of a tool that its stored tasks need.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Policy {
    /// Maximum run time since the creation.
    pub(crate) max_ms: u64,
    /// Time that a finished task remains readable.
    pub(crate) keep_ms: u64,
    /// Interval for polling clients.
    pub(crate) poll_ms: u64,
    /// Set if the call may run again after an interruption.
    pub(crate) resumable: bool,
    /// Set if work may run again that may have happened: the tool is `read_only` or `idempotent`.
    pub(crate) repeatable: bool,
    /// Set if a token completes the task, and not the function.
    pub(crate) external: bool,
}

impl Record {
    /// Makes the record of a new task, which nobody owns yet.
    pub(crate) fn new(call: &StoredCall, policy: Policy) -> Self {
        Self {
            format: FORMAT,
            call: CallText::new(call),
            shape: call.result_shape(),
            policy,
            updated_ms: now_ms(),
            ttl_ms: Some(policy.max_ms.saturating_add(policy.keep_ms)),
            attempts: 0,
            run: None,
            lease_ms: default_lease_ms(),
            unconfirmed: policy.resumable && !policy.repeatable,
            message: None,
            questions: BTreeMap::new(),
            journal: Journal::default(),
            outcome: None,
        }
    }

    /// Makes the record that replaces a damaged one.
    pub(crate) fn damaged(created_ms: u64) -> Self {
        let keep = Duration::from_secs(60 * 60);
        let mut record = Self {
            format: FORMAT,
            call: None,
            shape: ResultShape::default(),
            policy: Policy::new(keep, keep, Duration::from_secs(1)),
            updated_ms: created_ms,
            ttl_ms: None,
            attempts: 0,
            run: None,
            lease_ms: default_lease_ms(),
            unconfirmed: false,
            message: None,
            questions: BTreeMap::new(),
            journal: Journal::default(),
            outcome: None,
        };
        record.end(
            created_ms,
            Outcome::failed("the record of the task is damaged"),
        );
        record
    }

    /// Reads a stored task.
    pub(crate) fn read(stored: &StoredTask) -> Result<Self, Damaged> {
        let mut record: Self = serde_json::from_slice(&stored.body)?;
        check_format(record.format)?;
        record.outcome = read_outcome(&stored.state)?;
        Ok(record)
    }

    /// Makes the stored form of a version.
    pub(crate) fn store(&self, key: &TaskKey, version: u64) -> Result<StoredTask, Damaged> {
        let body = serde_json::to_vec(self)?;
        let mut stored = StoredTask::new(key.id.clone(), &*key.owner, key.created_ms, body);
        stored.state = self.state(key)?;
        stored.version = version;
        Ok(stored)
    }

    /// Passes the task on to a new run.
    pub(crate) fn claim(&mut self, run: String, lease: Duration) {
        self.run = Some(run);
        self.lease_ms = to_ms(lease);
        self.attempts += 1;
    }

    /// Notes that the visible state has changed.
    pub(crate) fn touch(&mut self) {
        // A clock that was set back must not show a time before the last change.
        self.updated_ms = now_ms().max(self.updated_ms);
    }

    /// Ends the task, unless it has ended. Returns `true` if it has ended by this.
    pub(crate) fn end(&mut self, created_ms: u64, outcome: Outcome) -> bool {
        if self.outcome.is_some() {
            return false;
        }
        self.touch();
        self.message = outcome.message();
        self.outcome = Some(outcome);
        self.run = None;
        self.call = None;
        self.questions.clear();
        self.journal = Journal::default();
        let elapsed = self.updated_ms.saturating_sub(created_ms);
        self.ttl_ms = Some(elapsed.saturating_add(self.policy.keep_ms));
        true
    }

    pub(crate) fn is_final(&self) -> bool {
        self.outcome.is_some()
    }

    /// Returns the time until the store has to wake a process for it: the lease while it runs, the deletion after its end.
    pub(crate) fn wake(&self, created_ms: u64) -> Duration {
        if self.is_final() {
            return Duration::from_millis(self.policy.keep_ms);
        }
        match (&self.run, self.policy.external) {
            (Some(_), _) => Duration::from_millis(self.lease_ms),
            (None, true) => self.time_left(created_ms),
            // It was released.
            (None, false) => Duration::ZERO,
        }
    }

    /// Returns the rest of its run time.
    pub(crate) fn time_left(&self, created_ms: u64) -> Duration {
        let end = created_ms.saturating_add(self.policy.max_ms);
        Duration::from_millis(end.saturating_sub(now_ms()).min(self.policy.max_ms))
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

/// The default of [`TaskLimits::lease`](crate::TaskLimits::lease).
fn default_lease_ms() -> u64 {
    30_000
}

/// Identity of a task, which no change of its record touches.
#[derive(Clone, Debug)]
pub(crate) struct TaskKey {
    pub(crate) id: TaskId,
    pub(crate) owner: Box<str>,
    pub(crate) created_ms: u64,
}

impl From<&StoredTask> for TaskKey {
    fn from(task: &StoredTask) -> Self {
        Self {
            id: task.id.clone(),
            owner: task.owner.as_str().into(),
            created_ms: task.created_ms,
        }
    }
}

/// Error of a state or a body that cannot be read or written.
#[derive(Debug)]
pub(crate) struct Damaged {
    pub(crate) problem: String,
}

impl From<serde_json::Error> for Damaged {
    fn from(error: serde_json::Error) -> Self {
        Self {
            problem: error.to_string(),
        }
    }
}

impl From<&str> for Damaged {
    fn from(problem: &str) -> Self {
        Self {
            problem: problem.to_owned(),
        }
    }
}

fn check_format(format: u32) -> Result<(), Damaged> {
    if format == FORMAT {
        return Ok(());
    }
    let problem = format!("its format is {format}, expected {FORMAT}");
    Err(Damaged { problem })
}

/// Settings of tasks in milliseconds.
impl Policy {
    pub(crate) fn new(max: Duration, keep: Duration, poll: Duration) -> Self {
        Self {
            max_ms: to_ms(max).max(1),
            keep_ms: to_ms(keep).max(1),
            poll_ms: to_ms(poll).max(1),
            resumable: false,
            repeatable: false,
            external: false,
        }
    }
}

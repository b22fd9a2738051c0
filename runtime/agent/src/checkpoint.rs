//! State of a run between two steps, and its serialized form.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;
use treenail_schema::{
    OneOrMany, Role, SamplingMessage, SamplingMessageContentBlock, ToolResultContent,
};

use crate::model_call::json_bytes;
use crate::results::media_bytes;
use crate::{CallRecord, RequestedCall, RunReport, StopReason, Usage};

/// A paused run, which [`ToolLoop::resume`](crate::ToolLoop::resume) continues. It can be stored in a self-describing serde
/// format with names of fields, such as JSON or CBOR.
///
/// ```
/// use treenail::agent::{PausedRun, Run, ToolLoop};
///
/// # async fn example(agent: ToolLoop, run: Run) -> Result<(), Box<dyn std::error::Error>> {
/// let stored = serde_json::to_string(&run.pause().await?)?;
///
/// // Later, and perhaps elsewhere.
/// let mut paused: PausedRun = serde_json::from_str(&stored)?;
/// let waiting: Vec<String> = paused.pending_approvals().map(|call| call.id.clone()).collect();
/// for id in waiting {
///     paused.approve(&id);
/// }
/// let report = agent.resume(paused).await?;
/// # Ok(())
/// # }
/// ```
///
/// It contains approvals, so store it where only the program itself can write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PausedRun {
    pub(super) state: RunState,
}

impl PausedRun {
    /// Returns the calls that are waiting for approval.
    pub fn pending_approvals(&self) -> impl Iterator<Item = &RequestedCall> {
        self.state.pending_approvals()
    }

    /// Approves a call. Returns false if no call with this id is waiting. Approval is requested again for calls without
    /// a decision.
    pub fn approve(&mut self, id: &str) -> bool {
        self.state.decide(id, Stage::Approved)
    }

    /// Denies a call and reports the reason to the model. Returns false if no call with this id is waiting.
    pub fn deny(&mut self, id: &str, reason: impl Into<String>) -> bool {
        self.state.decide(id, Stage::Denied(reason.into()))
    }

    /// Returns the conversation so far. If calls are open, its last message is the one that requests them.
    pub fn transcript(&self) -> &[SamplingMessage] {
        &self.state.messages
    }
}

/// Complete state of a run, sufficient to resume it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunState {
    pub(super) messages: Vec<SamplingMessage>,
    /// Calls of the last message, until all of them have results.
    pub(super) open: Vec<OpenCall>,
    /// Outcomes of tasks in the background that have ended while calls were open. They follow the results of these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    outcomes: Vec<SamplingMessage>,
    pub(super) iterations: u32,
    pub(super) usage: Option<Usage>,
    pub(super) calls: Vec<CallRecord>,
    pub(super) model: Option<String>,
    /// Submitted output, if one has been accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<Value>,
    #[serde(rename = "end")]
    pub(super) stop_reason: Option<StopReason>,
    /// Running time so far.
    pub(super) spent: Duration,
    /// Start of the current period of running, if the clock is running.
    #[serde(skip)]
    pub(super) running_since: Option<Instant>,
}

/// A call whose result is not in the transcript yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub(super) call: RequestedCall,
    pub(super) stage: Stage,
    /// True if the call runs as a task in the background, which has failed already. Its result is not an error.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) task_failed: bool,
}

impl OpenCall {
    pub(super) fn new(call: RequestedCall, stage: Stage) -> Self {
        Self {
            call,
            stage,
            task_failed: false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// Neither validated nor approved. Contains the parse error, if the call could not be parsed.
    Requested(Option<String>),
    /// Waiting for approval.
    #[serde(rename = "Asked")]
    AwaitingApproval,
    Approved,
    Denied(String),
    Running,
    Done(ToolResultContent),
}

impl RunState {
    pub(super) fn new(messages: Vec<SamplingMessage>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    pub(super) fn pending_approvals(&self) -> impl Iterator<Item = &RequestedCall> {
        let pending = self
            .open
            .iter()
            .filter(|open| open.stage == Stage::AwaitingApproval);
        pending.map(|open| &open.call)
    }

    pub(super) fn decide(&mut self, id: &str, stage: Stage) -> bool {
        let mut pending = self.open.iter_mut();
        let pending =
            pending.find(|open| open.call.id == id && open.stage == Stage::AwaitingApproval);
        pending.map(|open| open.stage = stage).is_some()
    }

    /// Appends the outcome of the call `id`, a task in the background, after the results of the open calls.
    pub(super) fn add_outcome(&mut self, id: &str, is_error: bool, outcome: SamplingMessage) {
        for record in self.calls.iter_mut().filter(|it| it.call.id == id) {
            record.is_error = is_error;
        }
        for open in self.open.iter_mut().filter(|it| it.call.id == id) {
            open.task_failed = is_error;
        }
        if self.open.is_empty() {
            self.messages.push(outcome);
        } else {
            self.outcomes.push(outcome);
        }
    }

    /// Replaces the results of calls.
    pub(super) fn replace_results(&mut self, results: Vec<ToolResultContent>) {
        let results = results.into_iter();
        let mut results: HashMap<_, _> = results.map(|it| (it.tool_use_id.clone(), it)).collect();
        for record in &mut self.calls {
            if let Some(result) = results.get(&record.call.id) {
                record.is_error = result.is_error == Some(true);
            }
        }
        for open in &mut self.open {
            if let Some(result) = results.remove(&open.call.id) {
                open.stage = Stage::Done(result);
            }
        }
        let messages = self.messages.iter_mut().rev();
        let blocks = messages.flat_map(|message| match &mut message.content {
            OneOrMany::One(block) => std::slice::from_mut(block),
            OneOrMany::Many(blocks) => blocks,
        });
        for block in blocks {
            if let SamplingMessageContentBlock::ToolResult(old) = block {
                if let Some(result) = results.remove(&old.tool_use_id) {
                    *old = result;
                }
            }
        }
    }

    /// Appends one message with the results of all open calls, in the order of the calls, and the outcomes of tasks. All
    /// calls have to be done.
    pub(super) fn add_results(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let mut content = Vec::new();
        for open in std::mem::take(&mut self.open) {
            let Stage::Done(result) = open.stage else {
                continue;
            };
            let (call, is_error) = (open.call, open.task_failed || result.is_error == Some(true));
            content.push(SamplingMessageContentBlock::ToolResult(result));
            self.calls.push(CallRecord { call, is_error });
        }
        let results = SamplingMessage::new(Role::User, OneOrMany::Many(content));
        self.messages.push(results);
        self.messages.append(&mut self.outcomes);
    }

    /// Size of what the conversation does not contain yet, in bytes: the media of results, and the outcomes of tasks.
    pub(super) fn waiting_bytes(&self) -> usize {
        let results = self.open.iter().filter_map(|open| match &open.stage {
            Stage::Done(result) => Some(&result.content),
            _ => None,
        });
        let media: usize = results.flatten().map(media_bytes).sum();
        media + self.outcomes.iter().map(json_bytes).sum::<usize>()
    }

    /// Number of tokens that the model has reported.
    pub(super) fn used_tokens(&self) -> u64 {
        let usage = self.usage.unwrap_or_default();
        usage.input_tokens.saturating_add(usage.output_tokens)
    }

    /// Number of calls in flight.
    pub(super) fn running(&self) -> usize {
        let running = |open: &&OpenCall| open.stage == Stage::Running;
        self.open.iter().filter(running).count()
    }

    /// Starts the clock of the run.
    pub(super) fn start_clock(&mut self) {
        self.running_since.get_or_insert_with(Instant::now);
    }

    /// Stops the clock of the run.
    pub(super) fn stop_clock(&mut self) {
        if let Some(since) = self.running_since.take() {
            self.spent += since.elapsed();
        }
    }

    pub(super) fn report(&self, stop_reason: StopReason) -> RunReport {
        RunReport {
            transcript: self.messages.clone(),
            stop_reason,
            usage: self.usage,
            iterations: self.iterations,
            calls: self.calls.clone(),
            model: self.model.clone(),
            output: self.output.clone(),
        }
    }
}

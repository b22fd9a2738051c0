//! A run between two of its steps.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use treenail_schema::{
    OneOrMany, Role, SamplingMessage, SamplingMessageContentBlock, ToolResultContent,
};

use crate::agent::{CallRecord, RequestedCall, RunReport, StopReason, Usage};

/// A run that has been paused, and can be gone on with: [`ToolLoop::resume`](crate::agent::ToolLoop::resume). It can be
/// stored, with whatever serde writes.
///
/// ```
/// use treenail_runtime::agent::{PausedRun, Run, ToolLoop};
///
/// # async fn example(agent: ToolLoop, run: Run) -> Result<(), Box<dyn std::error::Error>> {
/// let stored = serde_json::to_string(&run.pause().await?)?;
///
/// // Later, and perhaps elsewhere.
/// let mut paused: PausedRun = serde_json::from_str(&stored)?;
/// let waiting: Vec<String> = paused.waiting().map(|call| call.id.clone()).collect();
/// for id in waiting {
///     paused.approve(&id);
/// }
/// let report = agent.resume(paused).await?;
/// # Ok(())
/// # }
/// ```
///
/// It says which calls have been approved, so it is to be kept where only the program can write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PausedRun {
    pub(super) state: RunState,
}

impl PausedRun {
    /// The calls that wait for an approval.
    pub fn pending_approvals(&self) -> impl Iterator<Item = &RequestedCall> {
        self.state.pending_approvals()
    }

    /// Lets a call be made. Returns whether it waits for that. What is not decided is asked again.
    pub fn approve(&mut self, id: &str) -> bool {
        self.state.decide(id, Stage::Approved)
    }

    /// Does not let a call be made, and tells the model why. Returns whether it waits for that.
    pub fn deny(&mut self, id: &str, reason: impl Into<String>) -> bool {
        self.state.decide(id, Stage::Denied(reason.into()))
    }

    /// The conversation so far. If calls are open, its last message is that of the model which asks for them.
    pub fn transcript(&self) -> &[SamplingMessage] {
        &self.state.messages
    }
}

/// Where a run is. It says all that is needed to go on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunState {
    pub(super) messages: Vec<SamplingMessage>,
    /// The calls of the last message, until all have their results.
    pub(super) open: Vec<OpenCall>,
    pub(super) iterations: u32,
    pub(super) usage: Option<Usage>,
    pub(super) calls: Vec<CallRecord>,
    pub(super) model: Option<String>,
    pub(super) end: Option<StopReason>,
    /// How long it has run.
    pub(super) spent: Duration,
    /// Since when it runs, if it does.
    #[serde(skip)]
    pub(super) running_since: Option<Instant>,
}

/// A call that has no result in the transcript yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub(super) call: RequestedCall,
    pub(super) stage: Stage,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Stage {
    /// Neither its arguments nor whether it may be made has been looked at; what is wrong with it already, if anything is.
    Requested(Option<String>),
    /// It waits for an approval.
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

    /// Adds the results of the open calls, all of which are done, to the conversation: in the order of the calls, and with
    /// nothing else. Returns the message that has them.
    pub(super) fn add_results(&mut self) -> Option<&SamplingMessage> {
        if self.open.is_empty() {
            return None;
        }
        let mut content = Vec::new();
        for OpenCall { call, stage } in std::mem::take(&mut self.open) {
            let Stage::Done(result) = stage else { continue };
            let is_error = result.is_error == Some(true);
            content.push(SamplingMessageContentBlock::ToolResult(result));
            self.calls.push(CallRecord { call, is_error });
        }
        let results = SamplingMessage::new(Role::User, OneOrMany::Many(content));
        self.messages.push(results);
        self.messages.last()
    }

    /// How many calls are under way.
    pub(super) fn running(&self) -> usize {
        let running = |open: &&OpenCall| open.stage == Stage::Running;
        self.open.iter().filter(running).count()
    }

    /// Lets the run's time pass.
    pub(super) fn start_clock(&mut self) {
        self.running_since.get_or_insert_with(Instant::now);
    }

    /// Lets no more of the run's time pass.
    pub(super) fn stop_clock(&mut self) {
        if let Some(since) = self.running_since.take() {
            self.spent += since.elapsed();
        }
    }

    pub(super) fn report(&self, end: StopReason) -> RunReport {
        RunReport {
            transcript: self.messages.clone(),
            end,
            usage: self.usage,
            iterations: self.iterations,
            calls: self.calls.clone(),
            model: self.model.clone(),
        }
    }
}

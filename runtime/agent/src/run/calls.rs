//! Runs the calls of one message, in parallel and with timeouts.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};

use treenail_runtime::client::{ClientError, ClientLimits, ClientRequest};
use treenail_runtime::internal::timeout::{poll_pausable, timeout};
use treenail_runtime::internal::{self, AnsweredCall};
use treenail_schema::CallToolRequest;

use super::clock::DeadlineTimer;
use super::decide::find_tool;
use super::engine::TurnOutcome;
use super::shared::Shared;
use crate::arguments::ArgumentChecker;
use crate::catalog::{Catalog, ToolEntry};
use crate::checkpoint::{OpenCall, Stage};
use crate::results::{CallFailure, explain_task_only};
use crate::{RequestedCall, RunEvent, StopReason};

/// Runs the open calls in the state of a run.
pub(super) struct CallRunner {
    pub(super) shared: Arc<Shared>,
    pub(super) arguments: Arc<ArgumentChecker>,
}

/// A call in flight.
struct RunningCall {
    index: usize,
    future: CallFuture,
    /// True while it waits for the user: for an answer to the server, or for credentials.
    is_paused: bool,
}

type CallFuture = Pin<Box<dyn Future<Output = Result<AnsweredCall, ClientError>> + Send>>;

/// Calls of one message that are in flight, and the timer of the run.
#[derive(Default)]
struct RunningCalls {
    running: Vec<RunningCall>,
    deadline_timer: DeadlineTimer,
}

impl CallRunner {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            arguments: Arc::new(ArgumentChecker::new(&ClientLimits::default())),
        }
    }

    /// Runs the open calls until all of them have results. When the run times out, calls in flight are cancelled.
    pub(super) async fn run(&self, catalog: &Catalog) -> TurnOutcome {
        let open = self.shared.state().open.len();
        for index in 0..open {
            self.evaluate(index, catalog).await;
        }
        let mut running_calls = RunningCalls::default();
        let is_done = poll_fn(|context| self.poll(&mut running_calls, catalog, context)).await;
        // Cancels the calls in flight.
        drop(running_calls);
        if !is_done {
            let reason = self.shared.timeout_reason();
            self.record_end(&StopReason::Timeout);
            self.fail_open(|_| CallFailure::Interrupted { reason: &reason });
            return TurnOutcome::Stop(StopReason::Timeout);
        }
        let recorded = self.recall_end();
        recorded.map_or(TurnOutcome::Continue, TurnOutcome::Stop)
    }

    /// Polls the calls; ready with true when all have results, and with false when the run has timed out.
    fn poll(
        &self,
        running_calls: &mut RunningCalls,
        catalog: &Catalog,
        context: &mut Context<'_>,
    ) -> Poll<bool> {
        loop {
            self.fail_denied();
            self.start_approved(running_calls, catalog);
            if !self.poll_running(running_calls, context) {
                break;
            }
        }
        let state = self.shared.state();
        let is_done = |stage: &Stage| matches!(stage, Stage::Done(_));
        if state.open.iter().all(|open| is_done(&open.stage)) {
            return Poll::Ready(true);
        }
        let awaits_approval = state.pending_approvals().next().is_some();
        drop(state);
        let running = &running_calls.running;
        let awaits_user = awaits_approval || !running.is_empty();
        let awaits_user = awaits_user && running.iter().all(|call| call.is_paused);
        let timer = &mut running_calls.deadline_timer;
        let expired = timer.poll(&self.shared, awaits_user, context);
        expired.map(|()| false)
    }

    /// Fails the denied calls, including those that nobody can approve because the events are no longer read.
    fn fail_denied(&self) {
        let has_reader = self.shared.has_reader();
        let denied = |open: &OpenCall| match &open.stage {
            Stage::Denied(reason) => Some(Some(reason.clone())),
            Stage::AwaitingApproval if !has_reader => Some(None),
            _ => None,
        };
        let state = self.shared.state();
        let calls = state.open.iter().enumerate();
        let denied: Vec<_> = calls
            .filter_map(|(index, open)| Some((index, denied(open)?)))
            .collect();
        drop(state);
        for (index, reason) in denied {
            let reason = reason.as_deref();
            let failure = reason.map_or(CallFailure::NoApprover, |reason| CallFailure::Denied {
                reason: Some(reason).filter(|reason| !reason.is_empty()),
            });
            self.fail(index, failure);
        }
    }

    fn start_approved(&self, running_calls: &mut RunningCalls, catalog: &Catalog) {
        if self.holds_calls_back() {
            return;
        }
        let max = self.shared.config.limits.parallel_calls.max(1);
        while running_calls.running.len() < max && !self.shared.is_pausing() {
            let mut state = self.shared.state();
            let approved = |it: &_| matches!(it, Stage::Approved);
            let next = state.open.iter().position(|open| approved(&open.stage));
            let Some(index) = next else {
                return;
            };
            let call = state.open[index].call.clone();
            state.open[index].stage = Stage::Running;
            drop(state);
            // The tool may have been removed while the approval was pending.
            let Some(entry) = find_tool(&call, catalog) else {
                let known = &catalog.names();
                self.fail(index, CallFailure::UnknownTool { known });
                continue;
            };
            self.shared.emit(RunEvent::CallStarted {
                id: call.id.clone(),
            });
            // Only here, so that a run that restarts asks for the same approvals again, and emits the same events.
            if let Some(recorded) = self.recall(index) {
                self.finish(index, recorded, None);
                continue;
            }
            let future = self.call(call, entry);
            running_calls.running.push(RunningCall {
                index,
                future,
                is_paused: false,
            });
        }
    }

    /// Returns true while a run that may restart awaits approvals. Its consumer may ask a question in order to decide, which
    /// restarts the run: a call in flight has no result in the journal then, and would be made again.
    fn holds_calls_back(&self) -> bool {
        let may_restart = self.shared.config.model.journal().is_some();
        may_restart && self.shared.state().pending_approvals().next().is_some()
    }

    /// Polls the calls in flight; returns true if one has finished.
    fn poll_running(&self, running_calls: &mut RunningCalls, context: &mut Context<'_>) -> bool {
        let before = running_calls.running.len();
        running_calls.running.retain_mut(|running| {
            let (poll, is_paused) = poll_pausable(running.future.as_mut(), context);
            running.is_paused = is_paused;
            let Poll::Ready(outcome) = poll else {
                return true;
            };
            self.on_outcome(running.index, outcome);
            false
        });
        running_calls.running.len() < before
    }

    fn call(&self, call: RequestedCall, entry: &ToolEntry) -> CallFuture {
        let RequestedCall { id, input, .. } = call;
        let (client, tool) = (entry.client.clone(), Arc::clone(&entry.tool));
        let limit = self.shared.config.limits.call_timeout;
        let config = &self.shared.config;
        let in_background = config.background_tasks && config.model.journal().is_none();
        let progress_sink = self
            .shared
            .has_reader()
            .then(|| Arc::downgrade(&self.shared));
        Box::pin(async move {
            let request = client
                .session()
                .tools_call(&tool.name, input)
                .timeout(limit);
            let request = with_progress(request, progress_sink, id);
            let called = async {
                if in_background {
                    return internal::start_tool_call(&client, &tool.name, request).await;
                }
                let result = internal::call_tool(&client, &tool.name, request).await;
                result.map(AnsweredCall::Finished)
            };
            let called = timeout(limit, called).await?;
            called.map_err(|error| explain_task_only(error, &tool))
        })
    }

    pub(super) fn open_call(&self, index: usize) -> Option<(RequestedCall, Stage)> {
        let state = self.shared.state();
        let open = state.open.get(index)?;
        Some((open.call.clone(), open.stage.clone()))
    }

    pub(super) fn set_stage(&self, index: usize, stage: Stage) {
        if let Some(open) = self.shared.state().open.get_mut(index) {
            open.stage = stage;
        }
    }
}

/// Forwards the progress of a call to the events of the run. The reference is weak, because a task in the background
/// retains the request and belongs to the run.
fn with_progress(
    request: ClientRequest<CallToolRequest>,
    progress_sink: Option<Weak<Shared>>,
    id: String,
) -> ClientRequest<CallToolRequest> {
    let Some(shared) = progress_sink else {
        return request;
    };
    request.on_progress(move |progress| {
        if let Some(shared) = shared.upgrade() {
            let (id, progress) = (id.clone(), Box::new(progress));
            shared.emit_and_wake(RunEvent::Progress { id, progress });
        }
    })
}

//! A run: a future of a report, and a stream of events.
//!
//! `shared` is the state of a run and its engine, `engine` the main loop, `request` builds its requests, `decide` validates
//! and approves calls, `calls` runs them, `output` ends the run with a submission, `results` sets the results of calls,
//! `background` has those that run as tasks, `clock` is the deadline, and `cancel` ends a run early.

mod background;
mod calls;
mod cancel;
mod clock;
mod decide;
mod engine;
mod output;
mod request;
mod results;
mod shared;

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use self::calls::CallRunner;
use self::engine::Engine;
use self::shared::Shared;
use crate::checkpoint::{RunState, Stage};
use crate::report::Fault;
use crate::tool_loop::Config;
use crate::{PausedRun, RunEvent, RunReport, StopReason, ToolLoopError};

/// Run of a [`ToolLoop`](crate::ToolLoop). Awaiting it returns the report. It is also a stream of events; after
/// reading them, await it for the report. It makes progress only while it is awaited or polled, in the task that does
/// so, and uses tokio's clock.
///
/// ```
/// use treenail::agent::{RunEvent, ToolLoop};
///
/// # async fn example(agent: ToolLoop) -> Result<(), Box<dyn std::error::Error>> {
/// let mut run = agent.run("Do I need an umbrella in Oslo?");
/// while let Some(event) = run.next().await {
///     match event {
///         RunEvent::Text(text) => print!("{text}"),
///         RunEvent::ApprovalRequested(asked) => run.deny(&asked.call.id, "not today"),
///         _ => {}
///     }
/// }
/// let report = run.await?;
/// # Ok(())
/// # }
/// ```
///
/// A run that is awaited without being read emits no events, and calls that need approval are denied.
///
/// # Errors
///
/// See [`ToolLoopError`].
///
/// # Cancellation
///
/// Dropping the run cancels everything: the model request and the calls; their servers are notified.
///
/// # Panics
///
/// If called outside a tokio runtime.
#[must_use = "a run does nothing until it is awaited or read"]
pub struct Run {
    shared: Arc<Shared>,
    engine: Pin<Box<dyn Future<Output = Result<StopReason, Fault>> + Send>>,
    outcome: Option<Result<RunReport, ToolLoopError>>,
}

impl Run {
    pub(super) fn new(config: Arc<Config>, state: RunState) -> Self {
        let shared = Arc::new(Shared::new(config, state));
        let engine = Box::pin(Engine::run(Arc::clone(&shared)));
        Self {
            shared,
            engine,
            outcome: None,
        }
    }

    /// Returns the next event; `None` when the run has ended.
    ///
    /// # Cancellation
    ///
    /// Cancel safe: dropping the future does not affect the run, and no event is lost.
    pub async fn next(&mut self) -> Option<RunEvent> {
        poll_fn(|context| self.poll_event(context)).await
    }

    /// Approves a call. Does nothing if no call with this id is waiting for approval.
    pub fn approve(&self, id: &str) {
        self.decide(id, Stage::Approved);
    }

    /// Denies a call and reports the reason to the model. Does nothing if no call with this id is waiting for approval.
    pub fn deny(&self, id: &str, reason: impl Into<String>) {
        self.decide(id, Stage::Denied(reason.into()));
    }

    fn decide(&self, id: &str, stage: Stage) {
        if !self.shared.state().decide(id, stage) {
            tracing::debug!(id, "no call with this id is waiting for approval");
        }
    }

    /// Pauses the run so that [`ToolLoop::resume`](crate::ToolLoop::resume) can continue it later, perhaps in
    /// another process. Calls in flight and tasks in the background finish first, and no others start. A model request is
    /// dropped and repeated after resuming. Tasks that run at the deadline of the run are cancelled.
    ///
    /// A run that has ended can be paused too; resuming it returns its report.
    ///
    /// # Errors
    ///
    /// If the run has failed or fails while pausing.
    ///
    /// # Cancellation
    ///
    /// Dropping the future drops the run.
    pub async fn pause(mut self) -> Result<PausedRun, ToolLoopError> {
        self.shared.pause();
        poll_fn(|context| {
            let is_idle = |run: &Self| run.shared.state().running() == 0;
            if is_idle(&self) || self.poll_outcome(context).is_ready() || is_idle(&self) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        })
        .await;
        if let Some(Err(error)) = self.outcome {
            return Err(error);
        }
        // Drops the model request.
        drop(self.engine);
        self.shared.finish_tasks().await;
        let mut state = self.shared.state();
        state.stop_clock();
        Ok(PausedRun {
            state: state.clone(),
        })
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.shared.attach_reader(context.waker());
        loop {
            // The server determines the rate of progress, so the queue may never become empty.
            if self.shared.has_only_progress() {
                let _ = self.poll_outcome(context);
            }
            if let Some(event) = self.next_event() {
                return Poll::Ready(Some(event));
            }
            if self.outcome.is_some() {
                return Poll::Ready(None);
            }
            if self.poll_outcome(context).is_pending() {
                let event = self.next_event();
                return event.map_or(Poll::Pending, |event| Poll::Ready(Some(event)));
            }
        }
    }

    /// Returns an unread event. The clock stops if a call awaits approval, because the consumer may ask the user before it
    /// polls the run again.
    fn next_event(&self) -> Option<RunEvent> {
        let event = self.shared.next_event()?;
        let mut state = self.shared.state();
        if state.pending_approvals().next().is_some() {
            state.stop_clock();
        }
        Some(event)
    }

    /// Drives the run until it has an outcome.
    fn poll_outcome(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.outcome.is_some() {
            return Poll::Ready(());
        }
        self.shared.state().start_clock();
        let ended = ready!(self.engine.as_mut().poll(context));
        let reason = match &ended {
            Ok(StopReason::Timeout) => self.shared.timeout_reason(),
            Ok(_) => "the run ended".to_owned(),
            Err(_) => "the run failed".to_owned(),
        };
        CallRunner::new(Arc::clone(&self.shared)).interrupt(&reason, ended.as_ref().ok());
        if let Ok(end) = &ended {
            self.shared.emit(RunEvent::Done(end.clone()));
        }
        let mut state = self.shared.state();
        state.stop_clock();
        let outcome = match ended {
            Ok(end) => {
                state.stop_reason = Some(end.clone());
                Ok(state.report(end))
            }
            Err(fault) => Err(fault.with(state.report(StopReason::Failed))),
        };
        drop(state);
        self.outcome = Some(outcome);
        Poll::Ready(())
    }
}

impl Stream for Run {
    type Item = RunEvent;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.get_mut().poll_event(context)
    }
}

impl IntoFuture for Run {
    type Output = Result<RunReport, ToolLoopError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(mut self) -> Self::IntoFuture {
        self.shared.detach_reader();
        Box::pin(poll_fn(move |context| {
            ready!(self.poll_outcome(context));
            // Some until it is taken here, and never polled afterwards.
            self.outcome.take().map_or(Poll::Pending, Poll::Ready)
        }))
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Run")
            .field("outcome", &self.outcome)
            .finish_non_exhaustive()
    }
}

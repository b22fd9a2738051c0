//! A run: a future with a report, and a stream of what happens.
//!
//! `shared` is what the run and its engine both know, `engine` asks the model and goes on until the end, `decide` looks at
//! its calls, and `calls` makes them; `cancel` ends a run before its end.

mod calls;
mod cancel;
mod decide;
mod engine;
mod shared;

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream;

use self::engine::Engine;
use self::shared::Shared;
use crate::agent::checkpoint::{RunState, Stage};
use crate::agent::report::Fault;
use crate::agent::tool_loop::Config;
use crate::agent::{PausedRun, RunEvent, RunReport, StopReason, ToolLoopError};

/// A run of a [`ToolLoop`](crate::agent::ToolLoop). Awaiting it brings its report; reading it, as a stream, shows what
/// happens while it happens, and awaiting it afterwards brings the report. It runs only while one of both is done, in the
/// task that does it, and is driven by tokio's clock.
///
/// ```
/// use treenail_runtime::agent::{RunEvent, ToolLoop};
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
/// A run that is awaited without being read makes no events, and what would have to be asked is denied.
///
/// # Errors
///
/// See [`ToolLoopError`].
///
/// # Cancellation
///
/// Dropping it cancels everything: the request to the model, and the calls, of which the servers are told.
///
/// # Panics
///
/// Outside of a tokio runtime.
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

    /// The next thing that happens; `None` when the run has ended.
    ///
    /// # Cancellation
    ///
    /// Dropping the future does nothing to the run, and no event is lost.
    pub async fn next(&mut self) -> Option<RunEvent> {
        poll_fn(|context| self.poll_event(context)).await
    }

    /// Lets a call be made that waits for an approval. Does nothing if none with that id does.
    pub fn approve(&self, id: &str) {
        self.decide(id, Stage::Approved);
    }

    /// Does not let a call be made that waits for an approval, and tells the model why. Does nothing if none with that id
    /// waits.
    pub fn deny(&self, id: &str, reason: impl Into<String>) {
        self.decide(id, Stage::Denied(reason.into()));
    }

    fn decide(&self, id: &str, stage: Stage) {
        if !self.shared.state().decide(id, stage) {
            tracing::debug!(id, "no call with this id waits for an approval");
        }
    }

    /// Ends the run so that it can be gone on with later, perhaps in another process:
    /// [`ToolLoop::resume`](crate::agent::ToolLoop::resume). Calls that are under way end first, and no others are begun;
    /// a request to the model is dropped, and made again later.
    ///
    /// A run that has ended can be paused too; going on with it brings its report.
    ///
    /// # Errors
    ///
    /// If the run fails, or has failed.
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
        let mut state = self.shared.state();
        state.stop_clock();
        Ok(PausedRun {
            state: state.clone(),
        })
    }

    fn poll_event(&mut self, context: &mut Context<'_>) -> Poll<Option<RunEvent>> {
        self.shared.attach_reader(context.waker());
        loop {
            if let Some(event) = self.shared.next_event() {
                return Poll::Ready(Some(event));
            }
            if self.outcome.is_some() {
                return Poll::Ready(None);
            }
            if self.poll_outcome(context).is_pending() {
                let event = self.shared.next_event();
                return event.map_or(Poll::Pending, |event| Poll::Ready(Some(event)));
            }
        }
    }

    /// Runs on, until there is an outcome.
    fn poll_outcome(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if self.outcome.is_some() {
            return Poll::Ready(());
        }
        let ended = ready!(self.engine.as_mut().poll(context));
        if let Ok(end) = &ended {
            self.shared.emit(RunEvent::Done(end.clone()));
        }
        let mut state = self.shared.state();
        state.stop_clock();
        let outcome = match ended {
            Ok(end) => {
                state.end = Some(end.clone());
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
            // It is there, and is polled no more once it has been taken.
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

//! Cancellation of a run by its user.

use std::sync::Arc;

use super::Run;
use super::calls::CallRunner;
use crate::{RunReport, StopReason};

impl Run {
    /// Ends the run at once and returns its report. The model request is dropped, calls in flight are cancelled, and
    /// their servers are notified. Each open call, and each whose task runs in the background, gets a result that states
    /// this. A partial model message is not in the transcript.
    ///
    /// The report allows the conversation to continue, unlike dropping the run. For a run that has already ended, it is
    /// the original report.
    ///
    /// ```
    /// use treenail::agent::{StopReason, Model, ToolLoop};
    ///
    /// # async fn example(agent: ToolLoop, enough: impl Future<Output = ()>) {
    /// # use std::pin::pin;
    /// let mut enough = pin!(enough);
    /// let mut run = agent.run("Count all stars.");
    /// let report = loop {
    ///     tokio::select! {
    ///         event = run.next() => if event.is_none() { break run.await.ok() },
    ///         () = &mut enough => break Some(run.cancel()),
    ///     }
    /// };
    /// # }
    /// ```
    pub fn cancel(self) -> RunReport {
        let Self {
            shared,
            engine,
            outcome,
        } = self;
        drop(engine);
        match outcome {
            Some(Ok(report)) => return report,
            Some(Err(error)) => return error.report().clone(),
            None => {}
        }
        let calls = CallRunner::new(Arc::clone(&shared));
        let reason = "the user cancelled the run";
        calls.interrupt(reason, Some(&StopReason::Cancelled));
        let mut state = shared.state();
        state.stop_clock();
        // A resumed run may have ended before it was paused.
        let ended = state.stop_reason.clone();
        state.report(ended.unwrap_or(StopReason::Cancelled))
    }
}

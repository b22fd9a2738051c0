//! A run that its user ends.

use std::sync::Arc;

use super::Run;
use super::calls::CallRunner;
use crate::agent::results::CallFailure;
use crate::agent::{RunReport, StopReason};

impl Run {
    /// Ends the run at once, and tells what was said and done until then: the request to the model is dropped, and calls that
    /// are under way are cancelled, of which the servers are told. Each open call gets a result that says so. What the model
    /// was in the middle of saying is not in the transcript.
    ///
    /// With the report the conversation can go on, which dropping the run would lose. That of a run that has ended already is
    /// its own.
    ///
    /// ```
    /// use treenail_runtime::agent::{StopReason, Model, ToolLoop};
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
        let reason = "the user has cancelled it";
        CallRunner::new(Arc::clone(&shared)).fail_open(|_| CallFailure::Interrupted { reason });
        let mut state = shared.state();
        state.add_results();
        state.stop_clock();
        state.report(StopReason::Cancelled)
    }
}

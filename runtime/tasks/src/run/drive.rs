//! Work of a run to its end.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

use serde_json::value::RawValue;
use treenail_runtime::RpcError;

use super::change::NotStored;
use super::{Run, Stop};
use crate::record::{Outcome, Record, first_text};

/// Future of the function of a task: its result in the style of the newest revision.
pub(crate) type Work =
    Pin<Box<dyn Future<Output = Result<Box<RawValue>, RpcError>> + Send + 'static>>;

/// Runs the function of a task, and stores the outcome.
pub(crate) async fn drive(run: Arc<Run>, mut work: Work) {
    let _dismissal = Dismissal(&run);
    let ended = {
        let mut kept = pin!(run.watch_over());
        poll_fn(|context| {
            // Not the work first: its result is worthless once the run has lost its task.
            if let Poll::Ready(stop) = kept.as_mut().poll(context) {
                return Poll::Ready(Err(stop));
            }
            work.as_mut().poll(context).map(Ok)
        })
        .await
    };
    let id = &run.key.id;
    match ended {
        Ok(result) => {
            tracing::debug!(
                ?id,
                failed = result.is_err(),
                "the function of a task has ended"
            );
            run.finish(result).await;
        }
        Err(stop) => {
            // The function stops before the end of the task is visible.
            drop(work);
            tracing::debug!(?id, ?stop, "the run of a task was stopped");
            match stop {
                Stop::TimedOut => {
                    run.end(Outcome::failed("the task exceeded its maximum run time"))
                        .await;
                }
                Stop::Released => run.release().await,
                Stop::Ended | Stop::Lost => {}
            }
        }
    }
}

/// Dismisses a run when it is dropped, after a panic too: a release waits for it.
struct Dismissal<'a>(&'a Run);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.dismiss();
    }
}

impl Run {
    async fn finish(&self, result: Result<Box<RawValue>, RpcError>) {
        let most = self.engine.limits.result_bytes;
        let outcome = match result {
            Ok(result) if result.get().len() > most => {
                let bytes = result.get().len();
                tracing::error!(id = ?self.key.id, bytes, most, "the result of a task is too large");
                Outcome::failed(format!("the result has {bytes} bytes, more than {most}"))
            }
            result => Outcome::of(result),
        };
        match &outcome {
            Outcome::Result(result) if self.record().policy.external => {
                self.hand_over(first_text(result)).await;
            }
            _ => self.end(outcome).await,
        }
    }

    /// Stores the outcome, and tries again while the store fails and the lease lasts.
    pub(crate) async fn end(&self, outcome: Outcome) {
        let Err(problem) = self.store_end(outcome).await else {
            return;
        };
        // A small outcome may still find space.
        let outcome = Outcome::failed(format!("the outcome could not be stored: {problem}"));
        if let Err(problem) = self.store_end(outcome).await {
            tracing::error!(id = ?self.key.id, problem, "the outcome of a task was not stored");
        }
    }

    /// Stores the outcome. The error is the problem with it.
    async fn store_end(&self, outcome: Outcome) -> Result<(), String> {
        let created_ms = self.key.created_ms;
        let end = |record: &mut Record| Ok(record.end(created_ms, outcome.clone()));
        self.stored(self.persist(end).await)
    }

    /// Ends a task that cannot run again.
    pub(crate) async fn give_up(&self, reason: &str) {
        let _dismissal = Dismissal(self);
        tracing::warn!(id = ?self.key.id, reason, "an interrupted task cannot continue");
        self.end(Outcome::failed(reason)).await;
    }

    /// Leaves the task to another process, which may take it over at once.
    async fn release(&self) {
        let release = |record: &mut Record| {
            if record.policy.external {
                // Without a run, it would wait for a token, which may not have been passed on. Its lease ends.
                return Ok(false);
            }
            record.run = None;
            // This was no interruption.
            record.attempts = record.attempts.saturating_sub(1);
            Ok(true)
        };
        if let Err(problem) = self.stored(self.persist(release).await) {
            tracing::warn!(id = ?self.key.id, problem, "a task was not released; its lease ends later");
        }
    }

    /// Leaves the task to the bearer of its token.
    async fn hand_over(&self, message: Option<String>) {
        // A question that the function has abandoned would stay open.
        let pending = self.take_pending(false);
        let hand_over = |record: &mut Record| {
            if let Some(pending) = &pending {
                pending.apply(record);
            }
            record.run = None;
            if message.is_some() {
                record.message.clone_from(&message);
            }
            record.touch();
            Ok(true)
        };
        if let Err(problem) = self.stored(self.persist(hand_over).await) {
            tracing::error!(id = ?self.key.id, problem, "an external task was not handed over");
        }
    }

    /// Returns the problem with a last change, unless the task has ended otherwise.
    fn stored(&self, outcome: Result<(), NotStored>) -> Result<(), String> {
        match outcome {
            Ok(()) => Ok(()),
            Err(NotStored::Stopped) => {
                tracing::info!(id = ?self.key.id, "a run had lost its task before it ended");
                Ok(())
            }
            Err(problem) => Err(problem.to_string()),
        }
    }
}

//! Calls that run as tasks of their servers while the model continues.

mod tasks;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use treenail_schema::{ContentBlock, ToolResultContent};

pub(super) use self::tasks::BackgroundTasks;
use self::tasks::{EndedTask, TaskOutcome};
use super::clock::DeadlineTimer;
use super::engine::{Engine, TurnOutcome};
use super::shared::Shared;
use crate::StopReason;
use crate::checkpoint::RunState;
use crate::results::{CallFailure, error_text};

impl Engine {
    /// Ends the run, or continues it with the outcome of a task in the background.
    pub(super) async fn end_turn(&self, end: StopReason) -> TurnOutcome {
        if end != StopReason::Finished || self.shared.background.is_empty() {
            return TurnOutcome::Stop(end);
        }
        if self.wait_for_task().await {
            TurnOutcome::Continue
        } else {
            TurnOutcome::Stop(StopReason::Timeout)
        }
    }

    /// Waits for the end of all tasks in the background; returns false if the run timed out.
    pub(super) async fn wait_for_all_tasks(&self) -> bool {
        while !self.shared.background.is_empty() {
            if !self.wait_for_task().await {
                return false;
            }
        }
        true
    }

    /// Waits for the end of a task in the background; returns false if the run timed out.
    async fn wait_for_task(&self) -> bool {
        let shared = Arc::clone(&self.shared);
        let ended = shared.next_ended_tasks().await;
        ended.is_some_and(|ended| {
            self.add_outcomes(ended);
            true
        })
    }

    /// Appends the outcomes of the tasks that have ended meanwhile to the conversation.
    pub(super) async fn add_ended_tasks(&self) {
        let ended = self.shared.background.ended().await;
        self.add_outcomes(ended);
    }

    fn add_outcomes(&self, ended: Vec<EndedTask>) {
        for task in ended {
            let outcome = task.finish(&self.shared);
            self.shared.append(|state| add_outcome(state, &outcome));
        }
    }
}

impl Shared {
    /// Waits until at least one task has ended, and returns all that have. Returns `None` at the deadline of the run,
    /// whose clock is stopped while all tasks wait for the user.
    async fn next_ended_tasks(&self) -> Option<Vec<EndedTask>> {
        let mut timer = DeadlineTimer::default();
        poll_fn(|context| {
            let ended = self.background.take_ended(context);
            if !ended.is_empty() {
                return Poll::Ready(Some(ended));
            }
            let awaits_user = self.background.are_paused(context.waker());
            timer.poll(self, awaits_user, context).map(|()| None)
        })
        .await
    }

    /// Waits until all tasks have ended, without the engine. At the deadline of the run, the others are cancelled.
    pub(super) async fn finish_tasks(&self) {
        while !self.background.is_empty() {
            let Some(ended) = self.next_ended_tasks().await else {
                return self.cancel_tasks(&self.timeout_reason());
            };
            for task in ended {
                let outcome = task.finish(self);
                self.append(|state| add_outcome(state, &outcome));
            }
        }
    }

    /// Cancels the tasks that have not ended. The results of all calls whose outcome the model has not received are
    /// replaced, because they promise one.
    pub(super) fn cancel_tasks(&self, reason: &str) {
        let ended = self.background.ended_now().into_iter();
        let mut results: Vec<_> = ended.map(|task| task.finish(self).into_result()).collect();
        results.extend(self.background.cancel().into_iter().map(|call| {
            let text = error_text(&call.name, CallFailure::Interrupted { reason });
            ToolResultContent::new(call.id, [ContentBlock::text(text)]).with_is_error(true)
        }));
        if !results.is_empty() {
            self.state().replace_results(results);
        }
    }
}

fn add_outcome(state: &mut RunState, outcome: &TaskOutcome) {
    state.add_outcome(&outcome.call.id, outcome.is_error, outcome.to_message());
}

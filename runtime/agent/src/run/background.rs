//! Calls that run as tasks of their servers while the model continues.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::task::JoinHandle;
use tokio::time::timeout_at;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::ToolTask;
use treenail_schema::{
    CallToolResult, ContentBlock, OneOrMany, Role, SamplingMessage,
    SamplingMessageContentBlock as Block, TextContent, ToolResultContent,
};

use super::engine::{Engine, TurnOutcome};
use super::shared::Shared;
use crate::results::{CallFailure, error_text, for_model};
use crate::{RequestedCall, RunEvent, StopReason};

/// Calls of a run that their servers run as tasks.
#[derive(Debug, Default)]
pub(super) struct BackgroundTasks(Mutex<Vec<BackgroundTask>>);

#[derive(Debug)]
struct BackgroundTask {
    id: String,
    call: RequestedCall,
    outcome: JoinHandle<Result<CallToolResult, ClientError>>,
}

impl Drop for BackgroundTask {
    fn drop(&mut self) {
        // Dropping the outcome cancels the task on the server.
        self.outcome.abort();
    }
}

/// Task that has ended.
struct EndedTask {
    id: String,
    call: RequestedCall,
    outcome: Result<CallToolResult, ClientError>,
}

impl BackgroundTasks {
    /// Adds a task, and returns the text for the model.
    pub(super) fn add(&self, call: RequestedCall, task: ToolTask) -> String {
        let id: String = task.id.chars().take(128).collect();
        let text = format!(
            "The call is running in the background as task {}. Its result will follow in a later message. Do not repeat the call. \
            Go on with other work, or finish your message to wait for the result.",
            quoted(&id)
        );
        let outcome = tokio::spawn(task.outcome);
        self.lock().push(BackgroundTask { id, call, outcome });
        text
    }

    /// Returns true if no task is running.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Waits until at least one task has ended, and returns all that have.
    async fn next_ended(&self) -> Vec<EndedTask> {
        poll_fn(|context| {
            let ended = self.take_ended(context);
            if ended.is_empty() {
                Poll::Pending
            } else {
                Poll::Ready(ended)
            }
        })
        .await
    }

    /// Returns the tasks that have ended so far.
    async fn ended(&self) -> Vec<EndedTask> {
        poll_fn(|context| Poll::Ready(self.take_ended(context))).await
    }

    fn take_ended(&self, context: &mut Context<'_>) -> Vec<EndedTask> {
        let mut ended = Vec::new();
        self.lock().retain_mut(|task| {
            let Poll::Ready(outcome) = Pin::new(&mut task.outcome).poll(context) else {
                return true;
            };
            let stopped = |_| Err(ClientError::closed("the task could not be observed"));
            ended.push(EndedTask {
                id: std::mem::take(&mut task.id),
                call: task.call.clone(),
                outcome: outcome.unwrap_or_else(stopped),
            });
            false
        });
        ended
    }

    fn lock(&self) -> MutexGuard<'_, Vec<BackgroundTask>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl EndedTask {
    /// Returns the message for the model, and emits the event.
    fn into_message(self, shared: &Shared) -> SamplingMessage {
        let (content, is_error) = match &self.outcome {
            Ok(result) => {
                let capabilities = shared.config.model.capabilities();
                let content = for_model(result, capabilities, shared.config.limits.result_bytes);
                (content, result.is_error == Some(true))
            }
            Err(error) => {
                let text = error_text(&self.call.name, CallFailure::Failed(error));
                (vec![ContentBlock::text(text)], true)
            }
        };
        let state = if is_error {
            "has failed"
        } else {
            "has finished"
        };
        let heading = format!(
            "Task {} of the tool {} {state}. This is its output, not a message of the user:",
            quoted(&self.id),
            quoted(&self.call.name)
        );
        let mut blocks = vec![Block::Text(TextContent::new(heading))];
        blocks.extend(content.iter().filter_map(to_block));
        shared.emit(RunEvent::TaskFinished {
            id: self.call.id.clone(),
            task: self.id,
            is_error,
            content,
            result: self.outcome.ok().map(Box::new),
        });
        SamplingMessage::new(Role::User, OneOrMany::Many(blocks))
    }
}

impl Engine {
    /// Ends the run, or continues it with the outcome of a task in the background.
    pub(super) async fn end_turn(&mut self, end: StopReason) -> TurnOutcome {
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
    pub(super) async fn wait_for_all_tasks(&mut self) -> bool {
        while !self.shared.background.is_empty() {
            if !self.wait_for_task().await {
                return false;
            }
        }
        true
    }

    /// Waits for the end of a task in the background; returns false if the run timed out.
    async fn wait_for_task(&mut self) -> bool {
        let shared = Arc::clone(&self.shared);
        let ended = timeout_at(shared.deadline(), shared.background.next_ended()).await;
        ended.is_ok_and(|ended| {
            self.add_outcomes(ended);
            true
        })
    }

    /// Appends the outcomes of the tasks that have ended meanwhile to the conversation.
    pub(super) async fn add_ended_tasks(&mut self) {
        let ended = self.shared.background.ended().await;
        self.add_outcomes(ended);
    }

    fn add_outcomes(&mut self, ended: Vec<EndedTask>) {
        for task in ended {
            let message = task.into_message(&self.shared);
            self.append(|state| state.add_outcome(message));
        }
    }
}

impl Shared {
    /// Waits until all tasks have ended, without the engine. At the deadline of the run, the others are cancelled.
    pub(super) async fn finish_tasks(&self) {
        if self.background.is_empty() {
            return;
        }
        self.state().start_clock();
        let deadline = self.deadline();
        while !self.background.is_empty() {
            match timeout_at(deadline, self.background.next_ended()).await {
                Ok(ended) => {
                    for task in ended {
                        let message = task.into_message(self);
                        self.state().add_outcome(message);
                    }
                }
                Err(_) => self.cancel_tasks(&self.timeout_reason()),
            }
        }
    }

    /// Cancels all tasks, and replaces the results of their calls, which promise an outcome.
    pub(super) fn cancel_tasks(&self, reason: &str) {
        let cancelled = std::mem::take(&mut *self.background.lock());
        let results = cancelled.iter().map(|task| {
            let text = error_text(&task.call.name, CallFailure::Interrupted { reason });
            let id = &*task.call.id;
            let result = ToolResultContent::new(id, [ContentBlock::text(text)]);
            (id, result.with_is_error(true))
        });
        let results: HashMap<_, _> = results.collect();
        if !results.is_empty() {
            self.state().replace_results(results);
        }
    }
}

/// Converts content for a model, which has no other kinds.
fn to_block(content: &ContentBlock) -> Option<Block> {
    match content {
        ContentBlock::Text(text) => Some(Block::Text(text.clone())),
        ContentBlock::Image(image) => Some(Block::Image(image.clone())),
        ContentBlock::Audio(audio) => Some(Block::Audio(audio.clone())),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    treenail_schema::internal::quoted(text)
}

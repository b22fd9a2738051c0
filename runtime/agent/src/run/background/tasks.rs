//! The tasks of a run, and their outcomes.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::task::{JoinHandle, unconstrained};
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::ToolTask;
use treenail_runtime::internal::timeout::poll_pausable;
use treenail_schema::{
    CallToolResult, ContentBlock, OneOrMany, Role, SamplingMessage,
    SamplingMessageContentBlock as Block, TextContent, ToolResultContent,
};

use crate::results::{CallFailure, error_text};
use crate::run::shared::Shared;
use crate::{RequestedCall, RunEvent};

/// Calls of a run that their servers run as tasks.
#[derive(Debug, Default)]
pub(in crate::run) struct BackgroundTasks {
    tasks: Mutex<Vec<BackgroundTask>>,
    /// Waker of the wait for a task, for the start and the end of a pause.
    waker: Arc<Mutex<Option<Waker>>>,
}

#[derive(Debug)]
struct BackgroundTask {
    id: String,
    call: RequestedCall,
    outcome: JoinHandle<Result<CallToolResult, ClientError>>,
    /// True while it waits for the user: for an answer to the server, or for credentials.
    is_paused: Arc<AtomicBool>,
}

impl Drop for BackgroundTask {
    fn drop(&mut self) {
        // Dropping the outcome cancels the task on the server.
        self.outcome.abort();
    }
}

/// Task that has ended.
pub(super) struct EndedTask {
    id: String,
    call: RequestedCall,
    outcome: Result<CallToolResult, ClientError>,
}

/// Outcome of a task, as the model receives it.
pub(super) struct TaskOutcome {
    task: String,
    pub(super) call: RequestedCall,
    content: Vec<ContentBlock>,
    pub(super) is_error: bool,
}

impl BackgroundTasks {
    /// Adds a task, and returns the text for the model.
    pub(in crate::run) fn add(&self, call: RequestedCall, task: ToolTask) -> String {
        let id: String = task.id.chars().take(128).collect();
        let text = format!(
            "The call is running in the background as task {}. Its result will follow in a later message. Do not repeat the call. \
            Go on with other work, or finish your message to wait for the result.",
            quoted(&id)
        );
        let is_paused = Arc::new(AtomicBool::new(false));
        let outcome = self.observe(task, Arc::clone(&is_paused));
        lock(&self.tasks).push(BackgroundTask {
            id,
            call,
            outcome: tokio::spawn(outcome),
            is_paused,
        });
        text
    }

    /// Returns the outcome of a task. Reports pauses of it, which the timeouts around a spawned task do not notice.
    fn observe(
        &self,
        task: ToolTask,
        is_paused: Arc<AtomicBool>,
    ) -> impl Future<Output = Result<CallToolResult, ClientError>> + Send + 'static {
        let waker = Arc::clone(&self.waker);
        async move {
            let mut outcome = pin!(task.outcome);
            poll_fn(|context| {
                let (poll, pauses) = poll_pausable(outcome.as_mut(), context);
                if is_paused.swap(pauses, Ordering::Relaxed) != pauses {
                    lock(&waker).iter().for_each(Waker::wake_by_ref);
                }
                poll
            })
            .await
        }
    }

    /// Returns true if no task is running.
    pub(in crate::run) fn is_empty(&self) -> bool {
        lock(&self.tasks).is_empty()
    }

    /// Returns true while all tasks wait for the user; `waker` is woken when this changes.
    pub(super) fn are_paused(&self, waker: &Waker) -> bool {
        // Before the flags are read, so that no change is missed.
        *lock(&self.waker) = Some(waker.clone());
        let tasks = lock(&self.tasks);
        tasks
            .iter()
            .all(|task| task.is_paused.load(Ordering::Relaxed))
    }

    /// Returns the tasks that have ended so far.
    pub(super) async fn ended(&self) -> Vec<EndedTask> {
        poll_fn(|context| Poll::Ready(self.take_ended(context))).await
    }

    /// As [`BackgroundTasks::ended`], without a context to wake.
    pub(super) fn ended_now(&self) -> Vec<EndedTask> {
        let mut context = Context::from_waker(Waker::noop());
        match pin!(unconstrained(self.ended())).poll(&mut context) {
            Poll::Ready(ended) => ended,
            Poll::Pending => Vec::new(),
        }
    }

    /// Returns the tasks that have ended; `context` is woken by the others.
    pub(super) fn take_ended(&self, context: &mut Context<'_>) -> Vec<EndedTask> {
        let mut ended = Vec::new();
        lock(&self.tasks).retain_mut(|task| {
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

    /// Cancels all tasks, and returns their calls.
    pub(super) fn cancel(&self) -> Vec<RequestedCall> {
        let cancelled = std::mem::take(&mut *lock(&self.tasks));
        cancelled.iter().map(|task| task.call.clone()).collect()
    }
}

impl EndedTask {
    /// Emits the event, and returns the outcome for the model.
    pub(super) fn finish(self, shared: &Shared) -> TaskOutcome {
        let (content, is_error) = match &self.outcome {
            Ok(result) => (shared.for_model(result), result.is_error == Some(true)),
            Err(error) => {
                let text = error_text(&self.call.name, CallFailure::Failed(error));
                (vec![ContentBlock::text(text)], true)
            }
        };
        shared.emit(RunEvent::TaskFinished {
            id: self.call.id.clone(),
            task: self.id.clone(),
            is_error,
            content: content.clone(),
            result: self.outcome.ok().map(Box::new),
        });
        TaskOutcome {
            task: self.id,
            call: self.call,
            content,
            is_error,
        }
    }
}

impl TaskOutcome {
    /// Returns the message for a model that goes on.
    pub(super) fn to_message(&self) -> SamplingMessage {
        let state = if self.is_error {
            "has failed"
        } else {
            "has finished"
        };
        let heading = format!(
            "Task {} of the tool {} {state}. This is its output, not a message of the user:",
            quoted(&self.task),
            quoted(&self.call.name)
        );
        let mut blocks = vec![Block::Text(TextContent::new(heading))];
        blocks.extend(self.content.iter().filter_map(to_block));
        SamplingMessage::new(Role::User, OneOrMany::Many(blocks))
    }

    /// Returns the result of the call, for a run that has ended.
    pub(super) fn into_result(self) -> ToolResultContent {
        let mut result = ToolResultContent::new(self.call.id, self.content);
        result.is_error = self.is_error.then_some(true);
        result
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

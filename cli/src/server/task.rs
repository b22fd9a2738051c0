//! Waiting for tasks, with a live line of their state.

use std::time::{Duration, Instant};

use treenail::ClientError;
use treenail::schema::{CallToolResult, TaskStatus};
use treenail::tasks::{TaskHandle, TaskUpdate};

use super::Connection;
use crate::exit::Failure;
use crate::signals::until_interrupted;

/// Interval of the live line.
const TICK: Duration = Duration::from_secs(1);

impl Connection {
    /// Waits for a task and shows its state, until it ends or the user interrupts the program. The request timeout does not
    /// apply.
    pub(crate) async fn wait_for_task(
        &self,
        task: &mut TaskHandle<CallToolResult>,
    ) -> Result<Result<CallToolResult, ClientError>, Failure> {
        let start = Instant::now();
        let tool = task.tool().to_owned();
        let mut updates = task.updates();
        let mut latest: Option<TaskUpdate> = None;
        let mut ticks = tokio::time::interval(TICK);
        let waiting = async {
            let mut ended = std::pin::pin!(task.wait());
            loop {
                tokio::select! {
                    biased;
                    outcome = &mut ended => return Ok(outcome),
                    Some(update) = updates.next() => latest = Some(update),
                    _ = ticks.tick() => {}
                }
                if let Some(update) = &latest {
                    self.show_task(&tool, update, start.elapsed());
                }
            }
        };
        let outcome = until_interrupted(waiting).await;
        self.terminal.clear_progress();
        outcome
    }

    /// Waits until a task asks nothing any more. The handler of the connection answers.
    pub(crate) async fn answer_task(
        &self,
        task: &mut TaskHandle<CallToolResult>,
    ) -> Result<(), Failure> {
        let mut updates = task.updates();
        let answering = async {
            let mut ended = std::pin::pin!(task.wait());
            loop {
                tokio::select! {
                    biased;
                    Some(update) = updates.next() => {
                        if update.status != TaskStatus::InputRequired {
                            return Ok(());
                        }
                    }
                    outcome = &mut ended => {
                        if let Err(error @ (ClientError::Unanswered(_) | ClientError::Unreachable(_) | ClientError::Closed(_))) = outcome {
                            return Err(error.into());
                        }
                        return Ok(());
                    }
                }
            }
        };
        until_interrupted(answering).await
    }

    /// Shows the state of a task on one line, unless the user is typing.
    fn show_task(&self, tool: &str, update: &TaskUpdate, waited: Duration) {
        if self.timer.is_paused() {
            return;
        }
        let seconds = waited.as_secs();
        let status = status_name(update.status);
        let message = update.message.as_deref().unwrap_or_default();
        self.terminal
            .show_status(&format!("{tool}  {status}  {seconds} s  {message}"));
    }
}

/// Returns the name of a status in the protocol.
pub(crate) fn status_name(status: TaskStatus) -> String {
    let name = serde_json::to_value(status).unwrap_or_default();
    name.as_str().unwrap_or("unknown").to_owned()
}

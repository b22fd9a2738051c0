//! `treenail task get`, `wait`, `answer` and `cancel`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};
use treenail::ClientError;
use treenail::prelude::*;
use treenail::schema::{CallToolResult, TaskStatus, error_code};
use treenail::tasks::{TaskHandle, TaskTicket, TaskUpdate};

use crate::args::{OutputArgs, ServerArgs};
use crate::commands::call::print_result;
use crate::commands::print_if_json;
use crate::exit::{Exit, Failure};
use crate::render::sanitize_text;
use crate::server::{Connection, status_name};
use crate::terminal::Terminal;
use crate::tickets::TicketFile;

/// Task of a server
#[derive(Debug, Args)]
pub(super) struct OneTask {
    /// Id of the task, or the start of it
    // Servers choose ids; many are base64url, which may start with `-`.
    #[arg(value_name = "ID", allow_hyphen_values = true)]
    id: String,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

/// Task of a server, and a file for its result
#[derive(Debug, Args)]
pub(super) struct AwaitedTask {
    #[command(flatten)]
    pub(super) task: OneTask,

    /// Save images, audio and other binary content to this file, or the text if there is none; with --json, save the JSON
    #[arg(
        id = "file",
        short = 'o',
        long = "output",
        value_name = "FILE",
        help_heading = "Output"
    )]
    file: Option<PathBuf>,
}

impl AwaitedTask {
    pub(super) async fn wait(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let Self { task: one, file } = self;
        one.with_task(terminal, async |task| {
            let outcome = task.connection.wait_for_task(&mut task.handle).await;
            let outcome = outcome.map_err(|failure| {
                failure.note("the task continues; `treenail task cancel` cancels it")
            })?;
            let output = (one.server.output, file.as_deref());
            print_outcome(
                task.connection,
                (&task.handle, task.file, task.ticket),
                outcome,
                output,
            )
            .await
        })
        .await
    }
}

impl OneTask {
    pub(super) async fn get(self, terminal: &Terminal) -> Result<Exit, Failure> {
        self.with_task(terminal, async |task| {
            task.connection.stop_answering();
            task.print_state(&self).await
        })
        .await
    }

    pub(super) async fn answer(self, terminal: &Terminal) -> Result<Exit, Failure> {
        self.with_task(terminal, async |task| {
            task.connection.answer_task(&mut task.handle).await?;
            task.connection.stop_answering();
            task.print_state(&self).await
        })
        .await
    }

    pub(super) async fn cancel(self, terminal: &Terminal) -> Result<Exit, Failure> {
        self.with_task(terminal, async |task| {
            task.connection.stop_answering();
            let cancelling = async { Ok(task.handle.cancel().await) };
            let cancelled = task.connection.with_timeout(cancelling).await?;
            task.forget_if_unknown(cancelled)?;
            let status = status(task.connection, &task.handle).await;
            match status.map_err(|failure| failure.note("the cancellation was requested"))? {
                Some(status @ (TaskStatus::Completed | TaskStatus::Failed)) => {
                    let status = status_name(status);
                    terminal.print_note(&format!(
                        "the task was not cancelled, because it had ended: {status}; `treenail task wait` prints its result"
                    ));
                }
                Some(TaskStatus::Cancelled) | None => {
                    task.file.remove(task.ticket.id())?;
                    terminal.print_note("the task was cancelled");
                }
                Some(status) => {
                    let status = status_name(status);
                    terminal.print_note(&format!(
                        "the cancellation was requested; the task is still {status}"
                    ));
                }
            }
            Ok(Exit::Success)
        })
        .await
    }

    async fn with_task(
        &self,
        terminal: &Terminal,
        work: impl AsyncFnOnce(&mut Resumed<'_>) -> Result<Exit, Failure>,
    ) -> Result<Exit, Failure> {
        let file = TicketFile::of_server(&self.server)?;
        let ticket = file.find(&self.id)?;
        Connection::with_connection(&self.server, terminal, async |connection| {
            let handle = connection.client.resume_task(&ticket)?;
            let mut task = Resumed {
                connection,
                file: &file,
                ticket: &ticket,
                handle,
            };
            work(&mut task).await
        })
        .await
    }
}

/// Task of an earlier call, with its connection.
struct Resumed<'a> {
    connection: &'a Connection,
    file: &'a TicketFile,
    ticket: &'a TaskTicket,
    handle: TaskHandle<CallToolResult>,
}

impl Resumed<'_> {
    /// Removes the ticket if the server does not know the task.
    fn forget_if_unknown<T>(&self, outcome: Result<T, ClientError>) -> Result<T, Failure> {
        if let Err(ClientError::Refused(error)) = &outcome
            && error.code == error_code::INVALID_PARAMS
        {
            self.file.remove(self.ticket.id())?;
        }
        Ok(outcome?)
    }

    /// Requests and prints the state of the task.
    async fn print_state(&self, one: &OneTask) -> Result<Exit, Failure> {
        let terminal = &self.connection.terminal;
        let requesting = async { Ok(self.handle.status().await) };
        let update = self.connection.with_timeout(requesting).await?;
        let Some(update) = self.forget_if_unknown(update)? else {
            return Ok(Exit::Success);
        };
        let json = state_json(self.ticket.id(), &update);
        if !print_if_json(one.server.output, terminal, &json).await? {
            let message = update.message.as_deref();
            let message = message.map_or_else(String::new, |message| format!(": {message}"));
            let text = format!("{}{message}", status_name(update.status));
            terminal.print_text(&sanitize_text(&text)).await?;
        }
        Ok(Exit::Success)
    }
}

/// Returns the status of a task. `None` if the server does not know the task any more.
async fn status(
    connection: &Connection,
    task: &TaskHandle<CallToolResult>,
) -> Result<Option<TaskStatus>, Failure> {
    let requesting = async { Ok(task.status().await) };
    match connection.with_timeout(requesting).await? {
        Ok(update) => Ok(update.map(|update| update.status)),
        Err(ClientError::Refused(error)) if error.code == error_code::INVALID_PARAMS => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Prints the outcome of a task. Its ticket is removed unless the task continues, or its result could not be printed.
pub(in crate::commands) async fn print_outcome(
    connection: &Connection,
    (task, tickets, ticket): (&TaskHandle<CallToolResult>, &TicketFile, &TaskTicket),
    outcome: Result<CallToolResult, ClientError>,
    (output, file): (OutputArgs, Option<&Path>),
) -> Result<Exit, Failure> {
    let ended = has_ended(connection, task, &outcome).await;
    let printed = match outcome {
        Ok(result) => print_result(connection, &result, output, file).await,
        Err(error) => Err(error.into()),
    };
    let is_lost = |failure: &Failure| {
        matches!(
            failure.exit(),
            Exit::Io | Exit::Interrupted | Exit::Terminated
        )
    };
    if ended && !printed.as_ref().is_err_and(is_lost) {
        tickets.forget(ticket.id(), &connection.terminal);
    }
    printed
}

/// Returns true if a task has ended, so that its ticket is of no more use.
async fn has_ended(
    connection: &Connection,
    task: &TaskHandle<CallToolResult>,
    outcome: &Result<CallToolResult, ClientError>,
) -> bool {
    let Err(error) = outcome else {
        return true;
    };
    match error {
        ClientError::Cancelled(_) | ClientError::Tool(_) => true,
        ClientError::Refused(_) => {
            // The error is that of the task, or of the requests for its state.
            match status(connection, task).await {
                Ok(Some(status)) => matches!(
                    status,
                    TaskStatus::Completed | TaskStatus::Failed | TaskStatus::Cancelled
                ),
                Ok(None) => true,
                Err(_) => false,
            }
        }
        _ => false,
    }
}

fn state_json(id: &str, update: &TaskUpdate) -> Value {
    let milliseconds = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    json!({
        "taskId": id,
        "status": status_name(update.status),
        "statusMessage": update.message,
        "createdAt": update.created_at,
        "lastUpdatedAt": update.last_updated_at,
        "ttlMs": update.ttl.map(milliseconds),
        "pollIntervalMs": update.poll_interval.map(milliseconds),
    })
}

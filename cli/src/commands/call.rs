//! `treenail call`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use treenail::schema::{CallToolResult, TaskSupport};
use treenail::tasks::{TaskHandle, TaskTicket};

use super::task::print_outcome;
use super::{print_if_json, print_or_save_if_json};
use crate::args::{ArgumentArgs, OutputArgs, ServerArgs};
use crate::arguments::{self, RawArguments};
use crate::exit::{Exit, Failure};
use crate::files::print_or_save;
use crate::render::{Rendered, render_tool_result, sanitize_line};
use crate::server::Connection;
use crate::terminal::Terminal;
use crate::tickets::TicketFile;

/// Call a tool and print its result
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// Name of the tool
    tool: String,

    #[command(flatten)]
    arguments: ArgumentArgs,

    /// Save images, audio and other binary content to this file, or the text if there is none; several parts are saved to
    /// numbered files such as plot-1.png; with --json, save the JSON
    #[arg(
        short,
        long,
        value_name = "FILE",
        conflicts_with = "detach",
        help_heading = "Output"
    )]
    output: Option<PathBuf>,

    /// Run the call as a task if the server permits it, and show its state while waiting
    #[arg(long, conflicts_with = "detach", help_heading = "Task")]
    task: bool,

    /// Run the call as a task if the server permits it, print its id, and do not wait for it. If the server answers directly, the
    /// result is printed, with a note
    #[arg(long, help_heading = "Task")]
    detach: bool,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Call {
    pub(super) async fn run(mut self, terminal: &Terminal) -> Result<Exit, Failure> {
        self.server.tasks = self.task || self.detach;
        let raw = RawArguments::read(&self.arguments)?;
        Connection::with_connection(&self.server, terminal, async |server| {
            self.call(server, &raw).await
        })
        .await
    }

    async fn call(&self, connection: &Connection, raw: &RawArguments) -> Result<Exit, Failure> {
        let client = &connection.client;
        let tools = connection.with_timeout(client.tools()).await?;
        let tool = tools.iter().find(|tool| tool.name == self.tool);
        let names = || tools.iter().map(|tool| tool.name.as_str());
        let tool = tool.ok_or_else(|| arguments::unknown_name("tool", &self.tool, names()))?;
        let arguments = arguments::tool_arguments(raw, tool)?;

        if self.task || self.detach {
            return self.call_as_task(connection, arguments).await;
        }
        let support = tool.execution.as_ref().and_then(|it| it.task_support);
        if support == Some(TaskSupport::Required) {
            let note = "the tool runs only as a task; add `--task`";
            connection.terminal.print_note(note);
        }
        let preparing = client.tool_request(&self.tool, &arguments);
        let request = connection.with_timeout(preparing).await?;
        let result = connection.send(request).await?;
        print_result(
            connection,
            &result,
            self.server.output,
            self.output.as_deref(),
        )
        .await
    }

    /// Calls the tool with support for tasks, and waits for the task or detaches from it.
    async fn call_as_task(
        &self,
        connection: &Connection,
        arguments: impl Serialize,
    ) -> Result<Exit, Failure> {
        // A task without a ticket would be lost.
        let file = TicketFile::of_server(&self.server)?;
        file.prepare()?;
        let mut task = connection.start_task(&self.tool, arguments).await?;
        let output = self.output.as_deref();
        let Some(ticket) = task.ticket() else {
            let result = task.wait().await?;
            if self.detach {
                let note = "there is no task, because the server answered directly";
                connection.terminal.print_note(note);
            }
            return print_result(connection, &result, self.server.output, output).await;
        };
        let added = file.add(&ticket);
        if self.detach {
            connection.stop_answering();
            let printed = self.print_ticket(connection, &ticket).await;
            return added.and(printed);
        }
        if let Err(failure) = added {
            let why = failure.message();
            let note =
                format!("the task cannot be resumed, because its ticket was not stored: {why}");
            connection.terminal.print_note(&note);
        }
        let outcome = match connection.wait_for_task(&mut task).await {
            Ok(outcome) => outcome,
            Err(failure) => {
                cancel_task(connection, &task, &file, &ticket).await;
                return Err(failure);
            }
        };
        let output = (self.server.output, output);
        print_outcome(connection, (&task, &file, &ticket), outcome, output).await
    }

    async fn print_ticket(
        &self,
        connection: &Connection,
        ticket: &TaskTicket,
    ) -> Result<Exit, Failure> {
        let terminal = &connection.terminal;
        if !print_if_json(self.server.output, terminal, ticket).await? {
            terminal.print_text(&sanitize_line(ticket.id())).await?;
            terminal.print_note(if self.server.target.url.is_some() {
                "the task runs on the server; `treenail task wait` prints its result"
            } else {
                "the server ends with this command; if it stores its tasks, `treenail task wait` starts it again and prints the result"
            });
        }
        Ok(Exit::Success)
    }
}

/// Cancels a task, and forgets its ticket if it was cancelled.
async fn cancel_task(
    connection: &Connection,
    task: &TaskHandle<CallToolResult>,
    file: &TicketFile,
    ticket: &TaskTicket,
) {
    match connection.with_timeout(task.cancel()).await {
        Ok(()) => file.forget(ticket.id(), &connection.terminal),
        Err(error) => connection.terminal.print_note(&format!(
            "the task may continue, because its cancellation failed: {}",
            error.message()
        )),
    }
}

/// Prints the result of a tool. Returns the exit code, or the failure of the tool.
pub(super) async fn print_result(
    connection: &Connection,
    result: &CallToolResult,
    output: OutputArgs,
    file: Option<&Path>,
) -> Result<Exit, Failure> {
    let failed = result.is_error == Some(true);
    let exit = if failed { Exit::Tool } else { Exit::Success };
    let terminal = &connection.terminal;
    if print_or_save_if_json(output, file, terminal, result).await? {
        return Ok(exit);
    }
    let parts = render_tool_result(result);
    if failed {
        let lines: Vec<_> = parts.iter().map(Rendered::to_text).collect();
        let message = format!("the tool failed: {}", lines.join("\n"));
        return Err(Failure::new(exit, message));
    }
    if parts.is_empty() {
        terminal.print_note("the tool returned no content");
    }
    print_or_save(&parts, file, terminal).await?;
    Ok(exit)
}

//! `treenail task list`.

use clap::Args;
use serde_json::json;

use crate::args::OutputArgs;
use crate::commands::print_if_json;
use crate::exit::{Exit, Failure};
use crate::render::{Table, sanitize_line};
use crate::terminal::Terminal;
use crate::tickets::all_tickets;
use crate::timestamp::format_timestamp;

/// List the stored tasks of all servers, without connecting to them
#[derive(Debug, Args)]
pub(super) struct List {
    #[command(flatten)]
    pub(super) output: OutputArgs,
}

impl List {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let stored = all_tickets()?;
        if print_if_json(self.output, terminal, &json!(stored)).await? {
            return Ok(Exit::Success);
        }
        let mut table = Table::default();
        for server in &stored {
            for ticket in &server.tasks {
                table.push_row([
                    sanitize_line(ticket.id()),
                    sanitize_line(ticket.tool()),
                    format_timestamp(ticket.created()),
                    sanitize_line(&server.server),
                ]);
            }
        }
        let lines = table.to_lines(Terminal::stdout_width());
        if lines.is_empty() {
            terminal.print_note("no task is stored");
        }
        terminal.print_text(&lines.join("\n")).await?;
        Ok(Exit::Success)
    }
}

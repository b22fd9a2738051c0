//! `treenail prompt`.

use clap::Args;
use console::Style;
use treenail::schema::{GetPromptResult, Role};

use super::print_if_json;
use crate::args::{ArgumentArgs, ServerArgs};
use crate::arguments::{self, RawArguments};
use crate::exit::{Exit, Failure};
use crate::render::{Rendered, sanitize_line};
use crate::server::Connection;
use crate::terminal::Terminal;

/// Get a prompt and print its messages
#[derive(Debug, Args)]
pub(crate) struct Prompt {
    /// Name of the prompt
    name: String,

    #[command(flatten)]
    arguments: ArgumentArgs,

    #[command(flatten)]
    pub(super) server: ServerArgs,
}

impl Prompt {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        let raw = RawArguments::read(&self.arguments)?;
        Connection::with_connection(&self.server, terminal, async |server| {
            self.prompt(server, &raw).await
        })
        .await
    }

    async fn prompt(&self, connection: &Connection, raw: &RawArguments) -> Result<Exit, Failure> {
        let client = &connection.client;
        let prompts = connection.with_timeout(client.prompts()).await?;
        let prompt = prompts.iter().find(|prompt| prompt.name == self.name);
        let names = || prompts.iter().map(|prompt| prompt.name.as_str());
        let prompt =
            prompt.ok_or_else(|| arguments::unknown_name("prompt", &self.name, names()))?;
        let arguments = arguments::prompt_arguments(raw, prompt)?;

        let request = client.get_prompt(&self.name, arguments);
        let result = connection.send(request).await?;
        let terminal = &connection.terminal;
        if !print_if_json(self.server.output, terminal, &result).await? {
            print_messages(&result, terminal).await?;
        }
        Ok(Exit::Success)
    }
}

async fn print_messages(result: &GetPromptResult, terminal: &Terminal) -> Result<(), Failure> {
    if let Some(description) = &result.description {
        terminal.print_note(&sanitize_line(description));
    }
    for message in &result.messages {
        let role = match message.role {
            Role::Assistant => "assistant:",
            _ => "user:",
        };
        let text = Rendered::from_block(&message.content).to_text();
        terminal
            .print_text(&format!("{} {text}", Style::new().bold().apply_to(role)))
            .await?;
    }
    Ok(())
}

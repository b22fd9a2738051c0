//! `treenail prompt`.

use clap::Args;
use console::Style;
use treenail::schema::{GetPromptResult, Role};

use super::printed_as_json;
use crate::args::{ArgumentArgs, ServerArgs};
use crate::arguments::{self, Typed};
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::server::Connected;
use crate::show::{Shown, clean_line};

/// Show the messages of a prompt
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
    pub(super) async fn run(self, screen: &Screen) -> Result<Exit, Failure> {
        let typed = Typed::read(&self.arguments)?;
        Connected::with(&self.server, screen, async |server| {
            self.prompt(server, &typed).await
        })
        .await
    }

    async fn prompt(&self, connected: &Connected, typed: &Typed) -> Result<Exit, Failure> {
        let client = &connected.client;
        let prompts = connected.bounded(client.prompts()).await?;
        let prompt = prompts.iter().find(|prompt| prompt.name == self.name);
        let names = || prompts.iter().map(|prompt| prompt.name.as_str());
        let prompt = prompt.ok_or_else(|| arguments::unknown("prompt", &self.name, names()))?;
        let arguments = arguments::of_prompt(typed, prompt)?;

        let request = client.get_prompt(&self.name, arguments);
        let result = connected.finish(request).await?;
        let screen = &connected.screen;
        if !printed_as_json(self.server.output, screen, &result)? {
            print(&result, screen)?;
        }
        Ok(Exit::Success)
    }
}

fn print(result: &GetPromptResult, screen: &Screen) -> Result<(), Failure> {
    if let Some(description) = &result.description {
        screen.note(&clean_line(description));
    }
    for message in &result.messages {
        let role = match message.role {
            Role::Assistant => "assistant:",
            _ => "user:",
        };
        let text = Shown::block(&message.content).line();
        screen.print(&format!("{} {text}", Style::new().bold().apply_to(role)))?;
    }
    Ok(())
}

//! The commands, each in a file of its own: what it takes, and what it does.

mod call;
mod chat;
mod check;
mod generate;
mod info;
mod list;
mod lock;
mod prompt;
mod read;

use clap::Subcommand;
use serde::Serialize;

use crate::args::{OutputArgs, Verbosity};
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::show::exact_json;

/// What is done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::List),
    Call(call::Call),
    Read(read::Read),
    Prompt(prompt::Prompt),
    Info(info::Info),
    Lock(lock::Lock),
    Check(check::Check),
    Chat(Box<chat::Chat>),
    Generate(generate::Generate),
}

impl Command {
    /// How much is said beside the result.
    pub(crate) fn verbosity(&self) -> Verbosity {
        let output = match self {
            Self::List(list) => list.server.output,
            Self::Call(call) => call.server.output,
            Self::Read(read) => read.server.output,
            Self::Prompt(prompt) => prompt.server.output,
            Self::Info(info) => info.server.output,
            Self::Lock(lock) => lock.server.output,
            Self::Check(check) => check.server.output,
            Self::Chat(chat) => chat.output,
            Self::Generate(generate) => return generate.verbosity,
        };
        output.verbosity
    }
}

/// Does what is asked.
pub(crate) async fn run(command: Command, screen: &Screen) -> Result<Exit, Failure> {
    match command {
        Command::List(list) => list.run(screen).await,
        Command::Call(call) => call.run(screen).await,
        Command::Read(read) => read.run(screen).await,
        Command::Prompt(prompt) => prompt.run(screen).await,
        Command::Info(info) => info.run(screen).await,
        Command::Lock(lock) => lock.run(screen).await,
        Command::Check(check) => check.run(screen).await,
        Command::Chat(chat) => chat.run(screen).await,
        Command::Generate(generate) => generate.run(screen),
    }
}

/// Prints a result of the protocol as JSON if that is asked for; whether it was.
fn printed_as_json(
    output: OutputArgs,
    screen: &Screen,
    result: &impl Serialize,
) -> Result<bool, Failure> {
    if output.json {
        screen.print(&exact_json(result))?;
    }
    Ok(output.json)
}

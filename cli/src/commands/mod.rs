//! The commands, each in a file of its own: what it takes, and what it does.

mod call;
mod info;
mod list;
mod prompt;
mod read;

use clap::Subcommand;
use serde::Serialize;

use crate::args::{OutputArgs, ServerArgs, Verbosity};
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::server::Connected;
use crate::show::exact_json;

/// What is done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::List),
    Call(call::Call),
    Read(read::Read),
    Prompt(prompt::Prompt),
    Info(info::Info),
}

impl Command {
    /// How much is said beside the result.
    pub(crate) fn verbosity(&self) -> Verbosity {
        self.server().output.verbosity
    }

    fn server(&self) -> &ServerArgs {
        match self {
            Self::List(list) => &list.server,
            Self::Call(call) => &call.server,
            Self::Read(read) => &read.server,
            Self::Prompt(prompt) => &prompt.server,
            Self::Info(info) => &info.server,
        }
    }
}

/// Connects, does what is asked, and closes the connection whatever came of it.
pub(crate) async fn run(command: Command, screen: &Screen) -> Result<Exit, Failure> {
    let connected = Connected::open(command.server(), screen).await?;
    let done = match command {
        Command::List(list) => list.run(&connected).await,
        Command::Call(call) => call.run(&connected).await,
        Command::Read(read) => read.run(&connected).await,
        Command::Prompt(prompt) => prompt.run(&connected).await,
        Command::Info(info) => info.run(&connected),
    };
    connected.close().await;
    done
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

//! Subcommands, one per file.

mod auth;
mod call;
mod chat;
mod check;
mod completions;
mod dev;
mod generate;
mod info;
mod inspect;
mod install;
mod list;
mod lock;
mod new;
mod pack;
mod prompt;
mod proxy;
mod read;
mod task;

use std::path::Path;

use clap::Subcommand;
use serde::Serialize;

use crate::args::{OutputArgs, Verbosity};
use crate::exit::{Exit, Failure};
use crate::files::save_file;
use crate::render::escaped_json;
use crate::terminal::Terminal;

/// Subcommand with its options.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    List(list::List),
    Call(call::Call),
    Read(read::Read),
    Prompt(prompt::Prompt),
    Info(info::Info),
    Inspect(Box<inspect::Inspect>),
    Lock(lock::Lock),
    Check(check::Check),
    Task(task::Task),
    Chat(Box<chat::Chat>),
    Generate(generate::Generate),
    Dev(dev::Dev),
    Auth(auth::Auth),
    New(new::New),
    Install(install::Install),
    Uninstall(install::Uninstall),
    Pack(Box<pack::Pack>),
    Completions(completions::Completions),
    Man(completions::Man),
    Proxy(proxy::Proxy),
}

impl Command {
    /// Returns the requested verbosity.
    pub(crate) fn verbosity(&self) -> Verbosity {
        let output = match self {
            Self::List(list) => list.server.output,
            Self::Call(call) => call.server.output,
            Self::Read(read) => read.server.output,
            Self::Prompt(prompt) => prompt.server.output,
            Self::Info(info) => info.server.output,
            Self::Inspect(inspect) => inspect.server.output,
            Self::Lock(lock) => lock.server.output,
            Self::Check(check) => check.server.output,
            Self::Task(task) => task.output(),
            Self::Chat(chat) => chat.output,
            Self::Generate(generate) => return generate.verbosity,
            Self::Dev(dev) => return dev.verbosity,
            Self::Auth(auth) => auth.output(),
            Self::New(new) => return new.verbosity,
            Self::Install(install) => return install.verbosity,
            Self::Uninstall(uninstall) => return uninstall.verbosity,
            Self::Pack(pack) => pack.server.output,
            Self::Completions(completions) => return completions.verbosity,
            Self::Man(man) => return man.verbosity,
            Self::Proxy(proxy) => return proxy.verbosity,
        };
        output.verbosity
    }
}

/// Runs a subcommand.
pub(crate) async fn run(command: Command, terminal: &Terminal) -> Result<Exit, Failure> {
    match command {
        Command::List(list) => list.run(terminal).await,
        Command::Call(call) => call.run(terminal).await,
        Command::Read(read) => read.run(terminal).await,
        Command::Prompt(prompt) => prompt.run(terminal).await,
        Command::Info(info) => info.run(terminal).await,
        Command::Inspect(inspect) => inspect.run(terminal).await,
        Command::Lock(lock) => lock.run(terminal).await,
        Command::Check(check) => check.run(terminal).await,
        Command::Task(task) => Box::pin(task.run(terminal)).await,
        Command::Chat(chat) => chat.run(terminal).await,
        Command::Generate(generate) => generate.run(terminal),
        Command::Dev(dev) => Box::pin(dev.run(terminal)).await,
        Command::Auth(auth) => auth.run(terminal).await,
        Command::New(new) => new.run(terminal),
        Command::Install(install) => install.run(terminal).await,
        Command::Uninstall(uninstall) => uninstall.run(terminal).await,
        Command::Pack(pack) => Box::pin(pack.run(terminal)).await,
        Command::Completions(completions) => completions.run(terminal),
        Command::Man(man) => man.run(terminal),
        Command::Proxy(proxy) => Box::pin(proxy.run(terminal)).await,
    }
}

/// Prints a result as JSON if `--json` is set, and returns whether it is.
async fn print_if_json(
    output: OutputArgs,
    terminal: &Terminal,
    result: &impl Serialize,
) -> Result<bool, Failure> {
    print_or_save_if_json(output, None, terminal, result).await
}

/// Prints a result as JSON, or saves it to `file`, if `--json` is set, and returns whether it is.
async fn print_or_save_if_json(
    output: OutputArgs,
    file: Option<&Path>,
    terminal: &Terminal,
    result: &impl Serialize,
) -> Result<bool, Failure> {
    if !output.json {
        return Ok(false);
    }
    let json = escaped_json(result);
    match file {
        Some(file) => save_file(file, format!("{json}\n").as_bytes(), terminal).await?,
        None => terminal.print_text(&json).await?,
    }
    Ok(true)
}

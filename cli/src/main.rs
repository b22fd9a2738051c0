//! `treenail`: uses servers of the Model Context Protocol from the command line.
//!
//! `args` is what can be said on the command line, `commands` what is done then; `server` connects, `arguments` turns what
//! was typed into what a tool takes, `ask` answers what a server asks, `show` turns what it says into text, and `screen` is
//! the one place that writes.

mod args;
mod arguments;
mod ask;
mod commands;
mod exit;
mod save;
mod screen;
mod server;
mod show;
mod usage;

use std::env;
use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::screen::Screen;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let typed: Vec<_> = env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            usage::advise(error, &typed).exit()
        }
    };
    let screen = Screen::new(cli.command.verbosity());
    match run(cli, &screen) {
        Ok(code) => code.into(),
        Err(failure) => {
            screen.error(&failure);
            failure.exit().into()
        }
    }
}

fn run(cli: Cli, screen: &Screen) -> Result<exit::Exit, exit::Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(exit::Failure::local("the program cannot begin"))?;
    runtime.block_on(commands::run(cli.command, screen))
}

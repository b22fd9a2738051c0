//! `treenail`: uses servers of the Model Context Protocol from the command line.
//!
//! `args` defines the command line and `commands` implements the subcommands. `server` connects, `arguments` converts
//! `key=value` pairs to tool arguments, `elicit` answers elicitation requests, `render` formats results as text, and
//! `terminal` is the only module that writes to standard output and standard error.

mod args;
mod argument_tip;
mod arguments;
mod commands;
mod elicit;
mod exit;
mod file_lock;
mod files;
mod hosts;
mod render;
mod server;
mod signals;
mod state;
mod terminal;
mod tickets;
mod timestamp;

use std::env;
use std::process::ExitCode;

use clap::Parser;

use crate::args::Cli;
use crate::terminal::Terminal;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let typed: Vec<_> = env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect();
            argument_tip::add_tips(error, &typed).exit()
        }
    };
    let terminal = Terminal::new(cli.command.verbosity());
    match run(cli, &terminal) {
        Ok(code) => code.into(),
        Err(failure) => {
            terminal.print_error(&failure);
            failure.exit().into()
        }
    }
}

fn run(cli: Cli, terminal: &Terminal) -> Result<exit::Exit, exit::Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(exit::Failure::io("could not start the async runtime"))?;
    runtime.block_on(commands::run(cli.command, terminal))
}

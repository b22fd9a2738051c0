//! Measures MCP servers that offer the same tool: `bench <command> [--option value]…`.

mod client;
mod count;
mod dialect;
mod http;
mod list;
mod load;
mod program;
mod table;
mod task;

use std::env;
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::program::{Streams, with_add_and_struct, with_variants};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const USAGE: &str = "\
usage: bench <command> [--option value]…
  calls         calls per second, CPU time and latency   --calls 50000 --rounds 5
                                                         --streams pipes|sockets
  instructions  instructions per call, with callgrind    --keep <directory for its files>
                                                         --only <program>,<program>… --calls 12000
  variants      the same for variants of Treenail's server
  syscalls      system calls per call, with strace
  tasks         `tasks/get` beside a plain call          --keep <directory for the files of callgrind>
  lists         time of `tools/list` with 1,000 tools    --calls 100 --rounds 5
  clients       calls per second and CPU time, client    --calls 50000 --rounds 5
  client-instructions  instructions per call, client     --keep <directory for its files>
  http          requests per second and CPU time, HTTP   --calls 50000 --rounds 5
  http-instructions  instructions per request, HTTP      --keep <directory for its files>
  http-latency  one call at a time over HTTP             --calls 20000 --rounds 5
  http-threads  CPU time with one thread and with two    --calls 50000 --rounds 5
  http-sessions a session for each call, 50 clients      --calls 20000 --rounds 5
  http-session-instructions  instructions of such a call --keep <directory for its files>
  http-idle     memory of idle sessions and streams      --calls 10000
  http-large    results of 10 MB over HTTP               --calls 20";

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let mut arguments = env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let options = Options::read(arguments)?;
    match command.as_str() {
        "calls" => load::compare(
            options.rounds.unwrap_or(5),
            options.calls.unwrap_or(50_000),
            options.streams,
        ),
        "instructions" => count::instructions(with_add_and_struct(), options),
        "variants" => count::instructions(with_variants(), options),
        "syscalls" => count::system_calls(),
        "tasks" => task::compare(options.keep.as_deref()),
        "lists" => list::compare(options.rounds.unwrap_or(5), options.calls.unwrap_or(100)),
        "clients" => client::compare(options.rounds.unwrap_or(5), options.calls.unwrap_or(50_000)),
        "client-instructions" => client::instructions(options.keep.as_deref()),
        "http" => http::compare(options.rounds.unwrap_or(5), options.calls.unwrap_or(50_000)),
        "http-latency" => {
            http::latency(options.rounds.unwrap_or(5), options.calls.unwrap_or(20_000))
        }
        "http-threads" => {
            http::threads(options.rounds.unwrap_or(5), options.calls.unwrap_or(50_000))
        }
        "http-idle" => http::idle(options.calls.unwrap_or(10_000)),
        "http-large" => http::large(options.calls.unwrap_or(20)),
        "http-sessions" => {
            http::sessions(options.rounds.unwrap_or(5), options.calls.unwrap_or(20_000))
        }
        "http-session-instructions" => http::session_instructions(options.keep.as_deref()),
        "http-instructions" => http::instructions(options.keep.as_deref()),
        _ => Err(USAGE.into()),
    }
}

#[derive(Default)]
pub(crate) struct Options {
    pub(crate) calls: Option<usize>,
    rounds: Option<usize>,
    pub(crate) keep: Option<PathBuf>,
    /// Names of program files with commas between them.
    pub(crate) only: Option<String>,
    streams: Streams,
}

impl Options {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Self::default();
        while let Some(option) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            match option.as_str() {
                "--calls" => options.calls = Some(value.parse()?),
                "--rounds" => options.rounds = Some(value.parse()?),
                "--keep" => options.keep = Some(value.into()),
                "--only" => options.only = Some(value),
                "--streams" => options.streams = streams(&value)?,
                _ => return Err(USAGE.into()),
            }
        }
        Ok(options)
    }
}

fn streams(name: &str) -> Result<Streams> {
    match name {
        "pipes" => Ok(Streams::Pipes),
        "sockets" => Ok(Streams::Sockets),
        _ => Err(USAGE.into()),
    }
}

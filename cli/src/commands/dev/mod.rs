//! `treenail dev`: a server that is built and restarted when its sources change.
//!
//! `build` and `cargo` build when `watch` sees a change. `relay` is the server that a host starts: it passes messages between the
//! host (`client`, `message`) and the server of the last build. `http` restarts servers with a port of their own.

mod build;
mod cargo;
mod client;
mod http;
mod message;
mod process;
mod relay;
mod watch;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use tokio::sync::mpsc;
use tokio::time::timeout;

use self::build::{BuildPlan, Builder, Program};
use self::cargo::CargoBuild;
use self::client::ClientOutput;
use self::http::HttpSupervisor;
use self::relay::{Relay, RelayOptions};
use self::watch::Watched;
use crate::args::{TraceArgs, Verbosity};
use crate::exit::{Exit, Failure};
use crate::server::trace::Trace;
use crate::signals::until_interrupted;
use crate::terminal::Terminal;

/// Maximum wait for a client to read the last messages.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Run a server that is under development: build it, and restart it when its sources change
///
/// Configure a host to start `treenail dev` in place of the server. The host stays connected while the server is replaced: it
/// learns of changed tools, and a build that fails leaves the old server running. By default, the server is the binary of the
/// Cargo package in this directory.
#[derive(Debug, Args)]
pub(crate) struct Dev {
    #[command(flatten)]
    cargo: CargoArgs,

    /// Command that builds the server, quoted as in a shell, in place of Cargo; the server is the command after `--`
    #[arg(
        long,
        value_name = "COMMAND",
        requires = "server",
        conflicts_with = "cargo"
    )]
    build: Option<String>,

    /// File or directory whose changes start a build too; can be repeated. All files of a directory count, also those that the
    /// server writes [default without Cargo: the program, and source files in this directory]
    #[arg(long, value_name = "PATH")]
    watch: Vec<PathBuf>,

    /// Directory of the server and its sources [default: this directory]
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Stop the old server before the new one is started, if only one of them can run at a time
    #[arg(long, conflicts_with = "http")]
    stop_first: bool,

    /// Restart a server over HTTP, at this URL. Clients connect to it directly
    #[arg(long, value_name = "URL")]
    http: Option<String>,

    /// Command of a server without Cargo. With an option of Cargo, or if it starts with `-`: arguments of the server
    #[arg(last = true, value_name = "PROGRAM")]
    server: Vec<OsString>,

    #[command(flatten)]
    trace: TraceArgs,

    #[command(flatten)]
    pub(super) verbosity: Verbosity,
}

/// Options of `cargo build`.
#[derive(Debug, Args)]
#[group(id = "cargo", multiple = true)]
#[command(next_help_heading = "Cargo")]
struct CargoArgs {
    /// Package to build
    #[arg(short, long, value_name = "NAME")]
    package: Option<String>,

    /// Binary to build
    #[arg(long, value_name = "NAME", conflicts_with = "example")]
    bin: Option<String>,

    /// Example to build
    #[arg(long, value_name = "NAME")]
    example: Option<String>,

    /// Features to enable
    #[arg(short = 'F', long, value_name = "FEATURES")]
    features: Option<String>,

    /// Build with optimizations
    #[arg(long)]
    release: bool,
}

impl Dev {
    pub(super) async fn run(self, terminal: &Terminal) -> Result<Exit, Failure> {
        if let Some(directory) = &self.directory {
            let changed = std::env::set_current_dir(directory);
            changed.map_err(Failure::io(format!("`{}`", directory.display())))?;
        }
        let plan = self.plan()?;
        // The file of the trace exists before the watch, which ignores it.
        let trace = match &self.http {
            Some(_) => None,
            None => Trace::with_environment(&self.trace, terminal)?,
        };
        let builder = Builder::new(plan, self.trace.file(), terminal).await?;
        let (sender, outcomes) = mpsc::channel(1);
        let building = tokio::spawn(builder.run(sender));
        let done = match &self.http {
            Some(url) => {
                let mut supervisor = HttpSupervisor::new(url, terminal)?;
                let done = until_interrupted(supervisor.run(outcomes)).await;
                supervisor.close().await;
                done
            }
            None => self.relay(terminal, trace, outcomes).await,
        };
        // The receiver is gone, so the build ends too. It cannot panic.
        let _ = building.await;
        done.map(|()| Exit::Success)
    }

    async fn relay(
        &self,
        terminal: &Terminal,
        trace: Option<Trace>,
        outcomes: mpsc::Receiver<build::BuildOutcome>,
    ) -> Result<(), Failure> {
        if Terminal::is_interactive() {
            terminal.print_note(
                "treenail dev: this is a server on standard input and output; configure a host to start it",
            );
        }
        let options = RelayOptions {
            terminal: terminal.clone(),
            trace,
            stop_first: self.stop_first,
        };
        let (output, flushed) = ClientOutput::spawn();
        let mut relay = Relay::new(options, output);
        let lines = client::spawn_reader();
        let done = until_interrupted(relay.run(lines, outcomes)).await;
        relay.close().await;
        // A client that reads no more does not delay the end.
        let _ = timeout(FLUSH_TIMEOUT, flushed).await;
        done
    }

    fn plan(&self) -> Result<BuildPlan, Failure> {
        let options = self.cargo.options();
        let is_arguments = self
            .server
            .first()
            .is_none_or(|word| word.to_string_lossy().starts_with('-'));
        if self.build.is_none() && (is_arguments || !options.is_empty()) {
            let (arguments, watched) = (self.server.clone(), self.watch.clone());
            return Ok(BuildPlan::Cargo(CargoBuild::new(
                options, arguments, watched,
            )));
        }
        let mut words = self.server.iter().cloned();
        let path = words.next().unwrap_or_default();
        let build = self.build.as_deref().map(split_build).transpose()?;
        // A program that is built is no source.
        let file = build.is_none().then_some(Path::new(&path));
        let watched = Watched::without_cargo(&self.watch, file);
        Ok(BuildPlan::Command {
            build,
            program: Program {
                path,
                arguments: words.collect(),
            },
            watched,
        })
    }
}

impl CargoArgs {
    fn options(&self) -> Vec<OsString> {
        let values = [
            ("--package", &self.package),
            ("--bin", &self.bin),
            ("--example", &self.example),
            ("--features", &self.features),
        ];
        let mut options = Vec::new();
        for (option, value) in values {
            if let Some(value) = value {
                options.extend([option.into(), value.into()]);
            }
        }
        if self.release {
            options.push("--release".into());
        }
        options
    }
}

fn split_build(command: &str) -> Result<Vec<OsString>, Failure> {
    match shlex::split(command) {
        Some(words) if !words.is_empty() => Ok(words.into_iter().map(OsString::from).collect()),
        Some(_) => Err(Failure::usage("--build is empty")),
        None => Err(Failure::usage(format!(
            "--build `{command}` has an unterminated quote"
        ))),
    }
}

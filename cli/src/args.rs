//! What can be said on the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser};
use treenail::schema::Revision;

use crate::arguments::Given;
use crate::commands::Command;
use crate::exit::AFTER_HELP;

/// Use servers of the Model Context Protocol from the command line.
#[derive(Debug, Parser)]
#[command(name = "treenail", version, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Which server, and how to treat it. Every command that connects has these.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) headers: HeaderArgs,

    #[command(flatten)]
    pub(crate) environment: EnvArgs,

    /// Speak this revision of the protocol and no other, e.g. 2025-11-25 [default: the newest that both know]
    #[arg(long, value_name = "REVISION", help_heading = "Server")]
    pub(crate) protocol_version: Option<Revision>,

    /// How long each request may take, e.g. 90, 1.5s, 5m; progress begins the time anew, and questions stop it
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, help_heading = "Server")]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) probe: ProbeArgs,

    /// A directory that the server is told it may work in; can be repeated
    #[arg(long = "roots", value_name = "DIR", help_heading = "Server")]
    pub(crate) roots: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) answers: AnswerArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

/// What to connect to.
#[derive(Debug, Args)]
#[group(id = "target", required = true, multiple = false)]
#[command(next_help_heading = "Server")]
pub(crate) struct TargetArgs {
    /// Start a server: its program and arguments in one text, quoted as in a shell
    #[arg(short, long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,

    /// Connect to a server over HTTP
    #[arg(short, long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// Start a server: its program and arguments, behind `--`
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// Headers of every request over HTTP.
#[derive(Debug, Args)]
pub(crate) struct HeaderArgs {
    /// A header for every request over HTTP; others on this computer can see it, so not for secrets
    #[arg(
        long = "header",
        value_name = "NAME: VALUE",
        conflicts_with_all = ["command", "program"],
        help_heading = "Server"
    )]
    pub(crate) plain: Vec<String>,

    /// A header for every request over HTTP, with its value taken from a variable of the environment
    #[arg(
        long = "header-env",
        value_name = "NAME=VARIABLE",
        conflicts_with_all = ["command", "program"],
        help_heading = "Server"
    )]
    pub(crate) from_env: Vec<String>,
}

/// Time of the probe.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ProbeArgs {
    /// Wait this long for a server to say which revisions it speaks, before the handshake of older revisions is tried; a
    /// server that starts slowly may need more [default: 10s, but no more than --timeout]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Server")]
    pub(crate) probe_timeout: Option<Duration>,
}

/// Environment of a server that is started.
#[derive(Debug, Args)]
pub(crate) struct EnvArgs {
    /// Give the server that is started this variable: NAME for its value here, or NAME=VALUE, which others on this computer
    /// can see; can be repeated. Without it, a server has HOME, LOGNAME, PATH, SHELL, TERM and USER only
    #[arg(
        long = "env",
        value_name = "NAME[=VALUE]",
        conflicts_with = "url",
        help_heading = "Server"
    )]
    pub(crate) set: Vec<String>,

    /// Give the server that is started the whole environment, secrets included
    #[arg(long = "inherit-env", conflicts_with = "url", help_heading = "Server")]
    pub(crate) inherit: bool,

    /// Variables that are secrets of this program: removed from what is inherited.
    #[arg(skip)]
    pub(crate) secrets: Vec<String>,
}

/// What is answered when the server asks.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Questions of the server")]
pub(crate) struct AnswerArgs {
    /// Fill in this field of a form when the server asks for it; a list of choices by repetition
    #[arg(long = "answer", value_name = "NAME=VALUE")]
    pub(crate) fields: Vec<String>,

    /// Say yes where the server only wants something confirmed
    #[arg(long)]
    pub(crate) yes: bool,

    /// Agree to pages on this host; they are shown, and never opened or fetched
    #[arg(long = "accept-page", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
}

/// What is shown, and how.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print the protocol's own JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
}

/// How much is said beside the result.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Verbosity {
    /// Show log messages of the server, and what it writes to standard error; twice for the smallest too
    #[arg(short, long, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,

    /// Show nothing but the result, questions and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Arguments of a tool, in either form.
#[derive(Debug, Args)]
pub(crate) struct ArgumentArgs {
    /// Arguments: `key=value`, read as the type that the tool asks for (repeated for a list), or `key:=JSON`; `-` alone
    /// reads all of them as one JSON object from standard input
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) given: Vec<Given>,

    /// All arguments as one JSON object, sent as it is: the text itself, @FILE, or - for standard input
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
}

/// A time: seconds, or a number with `ms`, `s`, `m` or `h`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        unit => return Err(format!("unknown unit `{unit}`; use ms, s, m or h")),
    };
    let count: f64 = digits
        .parse()
        .map_err(|_| "expected a number of seconds, or a time such as 1.5s, 5m".to_owned())?;
    match Duration::try_from_secs_f64(count * unit) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("expected a time above zero".to_owned()),
    }
}

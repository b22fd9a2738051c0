//! Definition of the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, ValueEnum};
use treenail::schema::Revision;

use crate::arguments::RawArgument;
use crate::commands::Command;
use crate::exit::AFTER_HELP;
pub(crate) use crate::server::trace::{TraceArgs, TraceTarget, parse_trace_target};
use crate::server::{MessageArgs, SignIn, TlsArgs};

/// Use Model Context Protocol servers from the command line
#[derive(Debug, Parser)]
#[command(name = "treenail", version, after_help = AFTER_HELP, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command that connects to a server.
#[derive(Debug, Args)]
pub(crate) struct ServerArgs {
    #[command(flatten)]
    pub(crate) target: TargetArgs,

    #[command(flatten)]
    pub(crate) headers: HeaderArgs,

    #[command(flatten)]
    pub(crate) auth: AuthArgs,

    #[command(flatten)]
    pub(crate) tls: TlsArgs,

    /// Way to sign in, if it does not depend on the terminal.
    #[arg(skip)]
    pub(crate) sign_in: Option<SignIn>,

    /// Support for tasks.
    #[arg(skip)]
    pub(crate) tasks: bool,

    #[command(flatten)]
    pub(crate) environment: EnvArgs,

    /// Protocol revision to use, e.g. 2025-11-25 [default: the newest that both sides support]
    #[arg(long, value_name = "REVISION", help_heading = "Server")]
    pub(crate) protocol_version: Option<Revision>,

    /// Timeout of each request, e.g. 90, 1.5s, 5m; progress resets it, and elicitation pauses it
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration, help_heading = "Server")]
    pub(crate) timeout: Duration,

    #[command(flatten)]
    pub(crate) probe: ProbeArgs,

    #[command(flatten)]
    pub(crate) messages: MessageArgs,

    /// Directory to expose to the server as a root; can be repeated
    #[arg(long = "roots", value_name = "DIR", help_heading = "Server")]
    pub(crate) roots: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) answers: AnswerArgs,

    #[command(flatten)]
    pub(crate) output: OutputArgs,

    #[command(flatten)]
    pub(crate) trace: TraceArgs,
}

impl ServerArgs {
    /// Returns the options for the server at a URL, with the defaults of all others.
    pub(crate) fn of_url(url: &str, output: OutputArgs) -> Self {
        Self {
            target: TargetArgs {
                command: None,
                url: Some(url.to_owned()),
                program: Vec::new(),
            },
            headers: HeaderArgs {
                plain: Vec::new(),
                from_env: Vec::new(),
            },
            auth: AuthArgs::default(),
            tls: TlsArgs::default(),
            sign_in: None,
            tasks: false,
            environment: EnvArgs {
                set: Vec::new(),
                inherit: false,
                secrets: Vec::new(),
            },
            protocol_version: None,
            timeout: Duration::from_secs(60),
            probe: ProbeArgs {
                probe_timeout: None,
            },
            messages: MessageArgs::default(),
            roots: Vec::new(),
            answers: AnswerArgs {
                fields: Vec::new(),
                yes: false,
                hosts: Vec::new(),
            },
            output,
            trace: TraceArgs::default(),
        }
    }
}

/// Server to connect to.
#[derive(Debug, Args)]
#[group(id = "target", required = true, multiple = false)]
#[command(next_help_heading = "Server")]
pub(crate) struct TargetArgs {
    /// Start a server with this command line, quoted as in a shell
    #[arg(short, long, value_name = "COMMAND")]
    pub(crate) command: Option<String>,

    /// Connect to the server at this URL over HTTP
    #[arg(short, long, value_name = "URL")]
    pub(crate) url: Option<String>,

    /// Start a server with this program and its arguments, after `--`
    #[arg(last = true, value_name = "PROGRAM")]
    pub(crate) program: Vec<OsString>,
}

/// Additional headers of HTTP requests.
#[derive(Debug, Args)]
pub(crate) struct HeaderArgs {
    /// Header to add to every HTTP request; visible to other users of this machine, so not for secrets
    #[arg(
        long = "header",
        value_name = "NAME: VALUE",
        conflicts_with_all = ["command", "program"],
        help_heading = "Server"
    )]
    pub(crate) plain: Vec<String>,

    /// Header to add to every HTTP request, with its value from an environment variable
    #[arg(
        long = "header-env",
        value_name = "NAME=VARIABLE",
        conflicts_with_all = ["command", "program"],
        help_heading = "Server"
    )]
    pub(crate) from_env: Vec<String>,
}

/// Authorization of servers over HTTP.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Authorization")]
pub(crate) struct AuthArgs {
    /// Sign in when the server requires it, or send no token
    #[arg(
        id = "auth",
        long = "auth",
        value_name = "MODE",
        value_enum,
        default_value = "auto"
    )]
    pub(crate) mode: AuthMode,

    /// Client id that is registered at the authorization server; by default, the program registers itself
    #[arg(long, value_name = "ID", conflicts_with_all = ["command", "program"])]
    pub(crate) client_id: Option<String>,

    /// Scope to ask for, in place of those that the server requires; can be repeated
    #[arg(long = "scope", value_name = "SCOPE", conflicts_with_all = ["command", "program"])]
    pub(crate) scopes: Vec<String>,
}

/// Mode of authorization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum AuthMode {
    #[default]
    /// Uses stored tokens, and signs in at a terminal.
    Auto,
    /// Sends no token.
    Never,
}

/// Timeout of the version probe.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct ProbeArgs {
    /// Timeout for a server to report its protocol revisions before trying the handshake of older revisions;
    /// increase it for servers that start slowly [default: 10s, but at most --timeout]
    #[arg(long, value_name = "TIME", value_parser = parse_duration, help_heading = "Server")]
    pub(crate) probe_timeout: Option<Duration>,
}

/// Environment of the server process.
#[derive(Debug, Args)]
pub(crate) struct EnvArgs {
    /// Pass an environment variable to the server process: NAME for the current value, or NAME=VALUE, which is visible to
    /// other users of this machine; can be repeated. By default, only HOME, LOGNAME, PATH, SHELL, TERM and USER are passed
    #[arg(
        long = "env",
        value_name = "NAME[=VALUE]",
        conflicts_with = "url",
        help_heading = "Server"
    )]
    pub(crate) set: Vec<String>,

    /// Pass the whole environment to the server process, including secrets
    #[arg(long = "inherit-env", conflicts_with = "url", help_heading = "Server")]
    pub(crate) inherit: bool,

    /// Variables that hold secrets of this program; they are never inherited.
    #[arg(skip)]
    pub(crate) secrets: Vec<String>,
}

/// Answers to elicitation requests.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Elicitation")]
pub(crate) struct AnswerArgs {
    /// Answer for a form field that the server asks for; repeat it to select several choices
    #[arg(long = "answer", value_name = "NAME=VALUE")]
    pub(crate) fields: Vec<String>,

    /// Accept requests for confirmation
    #[arg(long)]
    pub(crate) yes: bool,

    /// Accept URLs on this host; they are printed, but never opened or fetched
    #[arg(long = "accept-page", value_name = "HOST")]
    pub(crate) hosts: Vec<String>,
}

/// Output options.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct OutputArgs {
    /// Print the JSON of the protocol
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) verbosity: Verbosity,
}

/// Amount of output besides the result.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Verbosity {
    /// Show log messages and standard error of the server; use -vv to include debug messages
    #[arg(short, long, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    pub(crate) verbose: u8,

    /// Print only results, prompts and errors
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

/// Arguments of a tool or a prompt.
#[derive(Debug, Args)]
pub(crate) struct ArgumentArgs {
    /// Arguments: `key=value`, converted to the type in the schema (repeat it for a list), or `key:=JSON`; `-` reads all
    /// arguments as one JSON object from standard input
    #[arg(value_name = "KEY=VALUE")]
    pub(crate) given: Vec<RawArgument>,

    /// All arguments as one JSON object, which is not checked: inline, @FILE, or - for standard input. Numbers are sent as values
    /// of 64 bits
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
}

/// Parses a duration: a number of seconds, or a number with the unit `ms`, `s`, `m` or `h`.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        unit => return Err(format!("unknown unit `{unit}`; expected ms, s, m or h")),
    };
    let count: f64 = digits
        .parse()
        .map_err(|_| "expected a number of seconds, or a duration such as 1.5s or 5m".to_owned())?;
    match Duration::try_from_secs_f64(count * unit) {
        Ok(duration) if !duration.is_zero() => Ok(duration),
        _ => Err("expected a duration above zero".to_owned()),
    }
}

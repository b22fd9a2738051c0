//! Exit codes, which scripts rely on, and the error type of the program.

use std::process::ExitCode;
use std::{fmt, io};

use treenail::ClientError;

/// Exit codes. They are documented in `--help` and must not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    /// The tool ran and reported an error (`isError`).
    Tool = 1,
    /// Invalid command line or tool arguments; nothing was sent.
    Usage = 2,
    /// The connection failed or was lost.
    Connection = 3,
    /// The server returned an error, or does not declare the requested feature.
    Refused = 4,
    Timeout = 5,
    /// The server violated the protocol.
    Protocol = 6,
    /// The server sent a request that could not be answered.
    Unanswered = 7,
    /// A local file or stream could not be read or written, or an answer is longer than the limit of this program.
    Io = 8,
    /// A check failed: a server has breaking changes against its lock file or violates a requirement, or a generated file is
    /// out of date.
    Breaking = 9,
    /// The server has additions but no breaking changes, and `--refuse` rejects them.
    Additive = 10,
    /// Only descriptions have changed, and `--refuse` rejects that.
    Wording = 11,
    /// The model did not complete its answer.
    Unfinished = 12,
    /// The task of the call was cancelled.
    Cancelled = 13,
    /// Ctrl-C.
    Interrupted = 130,
    /// SIGTERM.
    Terminated = 143,
}

/// Text at the end of `--help`.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  treenail list -- npx -y @modelcontextprotocol/server-everything
  treenail call echo message=hello -- npx -y @modelcontextprotocol/server-everything
  treenail call search tags=a tags=b 'filter:={\"year\": 2026}' --json --command 'my-server --dir .'
  treenail read file:///notes.txt -o notes.txt --url https://example.com/mcp --header-env Authorization=AUTH
  treenail lock -o some.lock.json --command 'npx some-server'
  treenail check some.lock.json --command 'npx some-server'
  treenail dev --bin my-server
  treenail generate weather.lock.json -o src/weather.rs
  treenail inspect -- my-server
  treenail auth login https://mcp.example.com/mcp

  treenail chat -m gpt-5-mini -s files='npx -y @modelcontextprotocol/server-filesystem .' 'What is in here?'

Exit codes:
  0    success
  1    the tool ran and returned an error
  2    the command line or a tool argument is invalid; nothing was sent
  3    the server could not be reached, or the connection was lost
  4    the server rejected the request, or does not support it
  5    the request timed out
  6    the server violated the protocol
  7    the server sent a request that could not be answered
  8    a local file or stream could not be read or written, or an answer is longer than
       --max-message
  9    `check`: the server has breaking changes; `auth check`: it violates a requirement;
       `generate --check`: the file is not up to date
  10   `check`: the server has additions but no breaking changes, with `--refuse additive`
       or `wording`
  11   `check`: only descriptions have changed, with `--refuse wording`
  12   `chat`: the model did not complete its answer
  13   the task of the call was cancelled
  130  interrupted by Ctrl-C; the call was cancelled
  143  terminated by SIGTERM; the call was cancelled";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        // All codes fit into a byte.
        Self::from(exit as u8)
    }
}

/// Error that ends a command: an exit code, a message and notes.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    /// Additional lines, printed after the message.
    notes: Vec<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
            notes: Vec::new(),
        }
    }

    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }

    /// Returns a conversion from an I/O error on `subject`, which starts the message.
    pub(crate) fn io(subject: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(Exit::Io, format!("{subject}: {error}"))
    }

    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        let exit = match &error {
            ClientError::Tool(_) => Exit::Tool,
            ClientError::Timeout(_) => Exit::Timeout,
            ClientError::Cancelled(_) => Exit::Cancelled,
            ClientError::Http { status, .. } if (400..500).contains(status) => Exit::Refused,
            ClientError::Unreachable(_)
            | ClientError::Closed(_)
            | ClientError::SessionExpired
            | ClientError::Http { .. } => Exit::Connection,
            ClientError::Refused(_)
            | ClientError::Unsupported(_)
            | ClientError::Unauthorized(_)
            | ClientError::Authorization(_) => Exit::Refused,
            ClientError::Unanswered(_) => Exit::Unanswered,
            ClientError::Invalid(_) => Exit::Usage,
            ClientError::TooLong(_) => Exit::Io,
            _ => Exit::Protocol,
        };
        let failure = Self::new(exit, error.to_string());
        if let ClientError::TooLong(_) = &error {
            return failure.note("use --max-message to raise the limit");
        }
        if let ClientError::Authorization(_) = &error {
            return failure.note(
                "if the server expects other credentials, use --header-env to send a header from an environment variable",
            );
        }
        let status = match &error {
            ClientError::Http { status, .. } => Some(*status),
            ClientError::Unauthorized(unauthorized) => Some(unauthorized.status),
            _ => None,
        };
        if let Some(status) = status {
            return match http_status_hint(status) {
                Some(hint) => failure.note(hint),
                None => failure,
            };
        }
        match error.as_refused().and_then(|refused| refused.data.as_ref()) {
            Some(data) => failure.note(format!("data: {data}")),
            None => failure,
        }
    }
}

/// Returns advice for HTTP statuses that the user can resolve.
fn http_status_hint(status: u16) -> Option<&'static str> {
    match status {
        401 => Some(
            "run `treenail auth login URL`, or use --header-env to send a header from an environment variable",
        ),
        404 | 405 => Some("check the path of the URL; there may be no MCP server at this path"),
        _ => None,
    }
}

//! How the program ends: the exit codes, which scripts rely on, and what is said of a failure.

use std::process::ExitCode;
use std::{fmt, io};

use treenail::ClientError;

/// The exit codes. They are documented in `--help` and stay as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    /// The tool was run and failed (`isError`).
    Tool = 1,
    /// The command line is wrong, or the arguments of the tool are; nothing was sent.
    Usage = 2,
    /// There is no connection, or it was lost.
    Connection = 3,
    /// The server answered with an error, or has not declared what was asked for.
    Refused = 4,
    Timeout = 5,
    /// The server broke the protocol.
    Protocol = 6,
    /// The server asked for something that is not answered here.
    Unanswered = 7,
    /// A file or stream of this computer cannot be read or written.
    Local = 8,
    /// The server is not what its lock file says any more, and a program may fail.
    Breaking = 9,
    /// It has something more, and that is refused.
    Additive = 10,
    /// It describes itself in other words, and that is refused.
    Wording = 11,
    /// The model has not come to the end of its answer.
    Unfinished = 12,
    /// Ctrl-C.
    Interrupted = 130,
    /// The signal to terminate.
    Terminated = 143,
}

/// What `--help` says at its end.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  treenail list -- npx -y @modelcontextprotocol/server-everything
  treenail call echo message=hello -- npx -y @modelcontextprotocol/server-everything
  treenail call search tags=a tags=b 'filter:={\"year\": 2026}' --json --command 'my-server --dir .'
  treenail read file:///notes.txt -o notes.txt --url https://example.com/mcp --header-env Authorization=AUTH
  treenail lock -o some.lock.json --command 'npx some-server'
  treenail check some.lock.json --command 'npx some-server'
  treenail generate weather.lock.json -o src/weather.rs

  treenail chat -m gpt-5-mini -s files='npx -y @modelcontextprotocol/server-filesystem .' 'What is in here?'

Exit codes:
  0    it worked
  1    the tool was run and failed
  2    the command line or an argument of the tool is wrong; nothing was sent
  3    the server cannot be reached, or the connection was lost
  4    the server refused, or does not have what was asked for
  5    there was no answer in time
  6    the server broke the protocol
  7    the server asked for something that could not be answered
  8    a file or stream of this computer cannot be read or written
  9    `check`: the server has changed so that programs may fail
  10   `check`: it has additions at most, with `--refuse additive` or `wording`
  11   `check`: it has other words only, with `--refuse wording`
  12   `chat`: the model did not come to the end of its answer
  130  Ctrl-C: the call was cancelled
  143  told to terminate: the call was cancelled";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        // All of them are below 256.
        Self::from(exit as u8)
    }
}

/// Why there is nothing to show.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    message: String,
    /// More lines, which are not part of the error itself.
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

    /// Something on this computer that went wrong; `what` says which.
    pub(crate) fn local(what: impl fmt::Display) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::new(Exit::Local, format!("{what}: {error}"))
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
            ClientError::Http { status, .. } if (400..500).contains(status) => Exit::Refused,
            ClientError::Closed(_) | ClientError::SessionExpired | ClientError::Http { .. } => {
                Exit::Connection
            }
            ClientError::Refused(_) | ClientError::Unsupported(_) => Exit::Refused,
            ClientError::Unanswered(_) => Exit::Unanswered,
            ClientError::Invalid(_) => Exit::Usage,
            _ => Exit::Protocol,
        };
        let failure = Self::new(exit, error.to_string());
        if let ClientError::Http { status, .. } = &error {
            return match hint(*status) {
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

/// Advice on an HTTP status that the command line can do something about.
fn hint(status: u16) -> Option<&'static str> {
    match status {
        401 => {
            Some("it wants credentials; --header-env sends a header with the value of a variable")
        }
        404 | 405 => Some("there may be no MCP server at this path of the URL"),
        _ => None,
    }
}

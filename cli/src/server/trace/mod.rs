//! Trace of the messages of a session: every message with its direction and time.
//!
//! [`TracedSession`] wraps a session and passes each message to a [`TraceSink`], without the secrets that [`Redactor`] knows.
//! [`Trace`] is the option `--trace`, with sinks for the terminal and for files.

mod args;
mod authorization;
mod file;
mod incoming;
mod redact;
mod session;
mod text;
mod unescape;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use treenail::auth::OAuth;
use treenail::client::{HttpAuthorization, Session};

pub(crate) use self::args::{TraceArgs, TraceTarget, parse_trace_target};
use self::authorization::RedactedAuthorization;
use self::file::FileSink;
pub(crate) use self::redact::Redactor;
pub(crate) use self::session::TracedSession;
use self::text::TextSink;
use crate::args::ServerArgs;
use crate::exit::Failure;
use crate::terminal::Terminal;

/// Receiver of traced messages. The task that reads messages calls it, so it must not block for long.
pub(crate) trait TraceSink: fmt::Debug + Send + Sync {
    /// Records a message.
    fn record(&self, message: &TracedMessage<'_>);

    /// Records the end of the connection. Default: does nothing.
    fn closed(&self) {}
}

/// Direction of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    ToServer,
    FromServer,
}

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Request,
    Notification,
    Result,
    /// An error object in place of a result.
    Error,
    /// The sender of a request does not wait for its answer any longer.
    Cancelled,
    /// A request that ended without an answer, for example because the connection was lost.
    Failed,
}

/// A message, without secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TracedMessage<'a> {
    pub(crate) direction: Direction,
    pub(crate) kind: MessageKind,
    /// JSON text of the id of the request; `None` for notifications.
    pub(crate) id: Option<&'a str>,
    /// Method of the message, or of the request that it answers.
    pub(crate) method: &'a str,
    /// JSON text of the parameters, the result or the error. For [`MessageKind::Failed`], a description; empty for
    /// [`MessageKind::Cancelled`].
    pub(crate) body: &'a str,
    /// Time since the request, for its answer.
    pub(crate) elapsed: Option<Duration>,
}

impl TracedMessage<'_> {
    /// Returns the JSON-RPC message, or `None` if this is no message.
    pub(crate) fn to_json(self) -> Option<String> {
        let id = self.id.map(|id| format!("\"id\":{id},"));
        let id = id.unwrap_or_default();
        let member = match self.kind {
            MessageKind::Request | MessageKind::Notification => {
                let method = serde_json::Value::from(self.method);
                format!("\"method\":{method},\"params\":{}", self.body)
            }
            MessageKind::Result => format!("\"result\":{}", self.body),
            MessageKind::Error => format!("\"error\":{}", self.body),
            MessageKind::Cancelled | MessageKind::Failed => return None,
        };
        Some(format!("{{\"jsonrpc\":\"2.0\",{id}{member}}}"))
    }
}

/// Trace of one connection, as the option `--trace` requests it.
#[derive(Clone, Debug)]
pub(crate) struct Trace {
    sink: Arc<dyn TraceSink>,
    redactor: Arc<Redactor>,
}

impl Trace {
    /// Returns the trace that the options request, if any.
    pub(super) fn from_args(
        args: &ServerArgs,
        terminal: &Terminal,
    ) -> Result<Option<Self>, Failure> {
        Self::new(&args.trace, terminal, || Redactor::of_args(args))
    }

    /// Returns the trace that the options request, for a server that inherits the environment.
    pub(crate) fn with_environment(
        args: &TraceArgs,
        terminal: &Terminal,
    ) -> Result<Option<Self>, Failure> {
        Self::new(args, terminal, Redactor::of_environment)
    }

    fn new(
        args: &TraceArgs,
        terminal: &Terminal,
        redactor: impl FnOnce() -> Redactor,
    ) -> Result<Option<Self>, Failure> {
        let label = args.label.clone().unwrap_or_default();
        let sink: Arc<dyn TraceSink> = match &args.target {
            None => return Ok(None),
            Some(TraceTarget::Stderr { full }) => Arc::new(TextSink::new(terminal, label, *full)),
            Some(TraceTarget::File(file)) => Arc::new(FileSink::open(file, label, terminal)?),
        };
        let redactor = Arc::new(redactor());
        Ok(Some(Self { sink, redactor }))
    }

    /// Returns a trace into `sink`, besides the one that the options request.
    pub(super) fn with_sink(
        args: &ServerArgs,
        terminal: &Terminal,
        sink: Arc<dyn TraceSink>,
    ) -> Result<Self, Failure> {
        Ok(match Self::from_args(args, terminal)? {
            Some(trace) => Self {
                sink: Arc::new(BothSinks([trace.sink, sink])),
                redactor: trace.redactor,
            },
            None => Self {
                sink,
                redactor: Arc::new(Redactor::of_args(args)),
            },
        })
    }

    /// Returns a session that passes messages to the sink.
    pub(crate) fn wrap(&self, session: Arc<dyn Session>) -> Arc<dyn Session> {
        let (sink, redactor) = (Arc::clone(&self.sink), Arc::clone(&self.redactor));
        Arc::new(TracedSession::new(session, sink, redactor))
    }

    /// Returns credentials whose tokens are redacted.
    pub(super) fn redacted(&self, oauth: OAuth) -> impl HttpAuthorization + use<> {
        RedactedAuthorization::new(oauth, Arc::clone(&self.redactor))
    }
}

/// Sink that passes messages to two sinks.
#[derive(Debug)]
struct BothSinks([Arc<dyn TraceSink>; 2]);

impl TraceSink for BothSinks {
    fn record(&self, message: &TracedMessage<'_>) {
        self.0.iter().for_each(|sink| sink.record(message));
    }

    fn closed(&self) {
        self.0.iter().for_each(|sink| sink.closed());
    }
}

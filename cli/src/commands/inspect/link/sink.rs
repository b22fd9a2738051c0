//! Sink that adds messages and lines of the server to the log.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Deserialize;

use crate::commands::inspect::hub::{EntryKind, Hub, LogEntry, Status};
use crate::server::trace::{Direction, MessageKind, TraceSink, TracedMessage};
use crate::server::{LineObserver, LineSource};

/// Returns a function that adds lines of the server to the log.
pub(super) fn line_observer(hub: &Arc<Hub>) -> LineObserver {
    let hub = Arc::clone(hub);
    Arc::new(move |source, line| {
        let (kind, method) = match source {
            LineSource::Stderr => (EntryKind::Stderr, "standard error"),
            LineSource::Stdout => (EntryKind::Stray, "standard output"),
        };
        hub.record(entry_of_line(kind, method, line));
    })
}

fn entry_of_line(kind: EntryKind, method: &str, line: &str) -> LogEntry {
    LogEntry {
        kind,
        sent: false,
        id: None,
        method: method.to_owned(),
        subject: None,
        elapsed: None,
        text: line.to_owned(),
    }
}

/// Sink that adds messages to the log.
#[derive(Debug)]
pub(super) struct HubSink {
    hub: Arc<Hub>,
    generation: u64,
    current: Arc<AtomicU64>,
}

impl HubSink {
    /// Creates a sink of the connection with this number. `current` is the number of the latest connection.
    pub(super) fn new(hub: &Arc<Hub>, generation: u64, current: &Arc<AtomicU64>) -> Self {
        Self {
            hub: Arc::clone(hub),
            generation,
            current: Arc::clone(current),
        }
    }
}

impl TraceSink for HubSink {
    fn record(&self, message: &TracedMessage<'_>) {
        let kind = match message.kind {
            MessageKind::Request => EntryKind::Request,
            MessageKind::Notification => EntryKind::Notification,
            MessageKind::Result => EntryKind::Result,
            MessageKind::Error => EntryKind::Error,
            MessageKind::Cancelled => EntryKind::Cancelled,
            MessageKind::Failed => EntryKind::Failed,
        };
        let text = message.to_json();
        self.hub.record(LogEntry {
            kind,
            sent: message.direction == Direction::ToServer,
            id: message.id.map(str::to_owned),
            method: message.method.to_owned(),
            subject: subject_of(message),
            elapsed: message.elapsed,
            text: text.unwrap_or_else(|| message.body.to_owned()),
        });
    }

    fn closed(&self) {
        let entry = entry_of_line(EntryKind::Closed, "connection", "the connection ended");
        self.hub.record(entry);
        let is_current = self.current.load(Ordering::Acquire) == self.generation;
        let is_connected = matches!(self.hub.state().status, Status::Connected(_));
        if is_current && is_connected {
            let reason = "the server ended the connection".to_owned();
            self.hub.set_status(Status::Closed(reason, Vec::new()));
        }
    }
}

/// Returns the name or the URI that a request or a notification is about.
fn subject_of(message: &TracedMessage<'_>) -> Option<String> {
    #[derive(Deserialize)]
    struct Params {
        name: Option<String>,
        uri: Option<String>,
        level: Option<String>,
    }

    let is_call = matches!(
        message.kind,
        MessageKind::Request | MessageKind::Notification
    );
    let params = is_call.then(|| serde_json::from_str::<Params>(message.body).ok())??;
    params.name.or(params.uri).or(params.level)
}

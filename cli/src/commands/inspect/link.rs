//! Connection to the server: connects, reconnects, and reports every message to the hub.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_stream::Stream;
use treenail::client::TransportKind;
use treenail::schema::{LoggingLevel, Root, RootsListChangedNotification, SubscriptionFilter};
use treenail::{ClientError, McpClient};

use super::handler::PageHandler;
use super::hub::{EntryKind, Hub, LogEntry, Status};
use crate::args::ServerArgs;
use crate::exit::Failure;
use crate::server::trace::{Direction, MessageKind, TraceSink, TracedMessage};
use crate::server::{Inspected, InspectedParts, LineObserver, LineSource, roots_of, target_words};
use crate::terminal::Terminal;

/// Maximum number of subscribed resources.
const MAX_SUBSCRIPTIONS: usize = 64;

/// Maximum time to close a connection.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// Connection to the server, which can be opened again.
#[derive(Debug)]
pub(super) struct Link {
    args: ServerArgs,
    terminal: Terminal,
    hub: Arc<Hub>,
    target: Vec<String>,
    /// Number of the connection. Events of earlier ones are ignored.
    generation: Arc<AtomicU64>,
    client: Mutex<Option<McpClient>>,
}

impl Link {
    pub(super) fn new(
        args: ServerArgs,
        terminal: &Terminal,
        hub: &Arc<Hub>,
    ) -> Result<Arc<Self>, Failure> {
        let target = target_words(&args)?;
        hub.state().roots = roots_of(&args)?;
        Ok(Arc::new(Self {
            args,
            terminal: terminal.clone(),
            hub: Arc::clone(hub),
            target,
            generation: Arc::default(),
            client: Mutex::default(),
        }))
    }

    /// Returns the timeout of a request.
    pub(super) fn timeout(&self) -> Duration {
        self.args.timeout
    }

    /// Returns the client, if there is a connection.
    pub(super) fn client(&self) -> Option<McpClient> {
        self.lock().clone()
    }

    /// Closes the connection, and opens another one in the background.
    pub(super) async fn connect(self: &Arc<Self>) {
        self.close().await;
        let generation = self.generation.fetch_add(1, Ordering::AcqRel) + 1;
        self.hub.set_status(Status::Connecting);
        tokio::spawn(Arc::clone(self).open(generation));
    }

    async fn open(self: Arc<Self>, generation: u64) {
        let sink = HubSink {
            hub: Arc::clone(&self.hub),
            generation,
            current: Arc::clone(&self.generation),
        };
        let parts = InspectedParts {
            handler: PageHandler(Arc::clone(&self.hub)),
            sink: Arc::new(sink),
            on_line: line_observer(&self.hub),
        };
        let opened = Inspected::open(&self.args, &self.terminal, parts).await;
        let is_current = || self.generation.load(Ordering::Acquire) == generation;
        match opened {
            Ok(client) if is_current() => {
                let server = self.describe(&client);
                *self.lock() = Some(client);
                self.hub.set_status(Status::Connected(server));
            }
            Ok(client) => drop(client),
            Err(failure) if is_current() => {
                let notes = failure.notes().to_vec();
                let status = Status::Closed(failure.message().to_owned(), notes);
                self.hub.set_status(status);
                self.terminal.print_error(&failure);
            }
            Err(_) => {}
        }
    }

    /// Closes the connection.
    pub(super) async fn close(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
        self.hub.cancel_calls();
        let subscriptions = std::mem::take(&mut self.hub.state().subscriptions);
        for task in subscriptions.into_values().flatten() {
            task.abort();
        }
        let client = self.lock().take();
        if let Some(client) = client {
            // The page needs no reason: it has requested the end.
            let _ = timeout(CLOSE_TIMEOUT, client.close()).await;
        }
    }

    /// Describes the server and the connection.
    fn describe(&self, client: &McpClient) -> Value {
        let session = client.session();
        let peer = session.peer_info();
        let transport = match session.session().transport() {
            TransportKind::Http => "Streamable HTTP",
            _ => "standard input and output",
        };
        let quoted = self.target.iter().map(|word| shlex::try_quote(word));
        let quoted: Vec<_> = quoted.flatten().collect();
        json!({
            "info": peer.info,
            "revision": peer.revision,
            "isModern": peer.revision.is_modern(),
            "supportedVersions": peer.supported_versions,
            "capabilities": peer.capabilities,
            "clientCapabilities": session.client_capabilities(),
            "instructions": peer.instructions,
            "transport": transport,
            "target": quoted.join(" "),
        })
    }

    /// Subscribes to a resource, or ends a subscription.
    pub(super) async fn set_subscribed(&self, uri: &str, active: bool) -> Result<(), ClientError> {
        let Some(client) = self.client() else {
            return Err(ClientError::closed("there is no connection"));
        };
        let session = client.session();
        let (is_known, count) = {
            let state = self.hub.state();
            (
                state.subscriptions.contains_key(uri),
                state.subscriptions.len(),
            )
        };
        if is_known == active {
            return Ok(());
        }
        if active && count >= MAX_SUBSCRIPTIONS {
            return Err(ClientError::invalid("too many resources are subscribed"));
        }
        let is_modern = session.protocol_version().is_modern();
        let task = match (active, is_modern) {
            (true, true) => {
                let mut filter = SubscriptionFilter::new();
                filter.resource_subscriptions = Some(vec![uri.to_owned()]);
                let subscription = session.subscriptions_listen(&filter).await?;
                let hub = Arc::clone(&self.hub);
                let uri = uri.to_owned();
                let holding = async move {
                    let mut subscription = pin!(subscription);
                    // The page reads the notifications in the log.
                    while poll_fn(|cx| subscription.as_mut().poll_next(cx))
                        .await
                        .is_some()
                    {}
                    let mut state = hub.state();
                    state.subscriptions.remove(&uri);
                    hub.send_connection(&state);
                };
                Some(tokio::spawn(holding).abort_handle())
            }
            (true, false) => {
                session.resources_subscribe(uri).await?;
                None
            }
            (false, true) => None,
            (false, false) => {
                session.resources_unsubscribe(uri).await?;
                None
            }
        };
        let mut state = self.hub.state();
        if active {
            state.subscriptions.insert(uri.to_owned(), task);
        } else if let Some(Some(task)) = state.subscriptions.remove(uri) {
            task.abort();
        }
        self.hub.send_connection(&state);
        Ok(())
    }

    /// Sets the roots, and announces the change to a server of the legacy era.
    pub(super) async fn set_roots(&self, roots: Vec<Root>) -> Result<(), ClientError> {
        {
            let mut state = self.hub.state();
            state.roots = roots;
            self.hub.send_connection(&state);
        }
        match self.client() {
            Some(client) if !client.session().protocol_version().is_modern() => {
                let session = client.session();
                let params = serde_json::from_value(json!({}));
                let params = params.map_err(|error| ClientError::invalid(error.to_string()))?;
                session
                    .notify::<RootsListChangedNotification>(&params)
                    .await
            }
            _ => Ok(()),
        }
    }

    /// Sets the minimum level of log messages: at once in the legacy era, and for each call in the modern one.
    pub(super) async fn set_log_level(&self, level: LoggingLevel) -> Result<(), ClientError> {
        if let Some(client) = self.client() {
            let session = client.session();
            if !session.protocol_version().is_modern() {
                session.logging_set_level(level).await?;
            }
        }
        let mut state = self.hub.state();
        state.log_level = Some(level);
        self.hub.send_connection(&state);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<McpClient>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns a function that adds lines of the server to the log.
fn line_observer(hub: &Arc<Hub>) -> LineObserver {
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
struct HubSink {
    hub: Arc<Hub>,
    generation: u64,
    current: Arc<AtomicU64>,
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

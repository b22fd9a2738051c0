//! Connection to the server, which can be opened again. `sink` reports every message to the hub, and `settings` has what users
//! change: subscriptions, roots, and the level of log messages.

mod settings;
mod sink;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use treenail::McpClient;
use treenail::client::TransportKind;

use self::sink::{HubSink, line_observer};
use super::handler::PageHandler;
use super::hub::{Hub, Status};
use crate::args::ServerArgs;
use crate::exit::Failure;
use crate::server::{Inspected, InspectedParts, roots_of, target_words};
use crate::terminal::Terminal;

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
    /// Locked while a connection is closed. The next one is opened after that.
    closing: tokio::sync::Mutex<()>,
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
            closing: tokio::sync::Mutex::default(),
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

    /// Closes the connection and opens another one, both in the background: the request of the page may be aborted.
    pub(super) fn connect(self: &Arc<Self>) {
        let (generation, client) = self.detach();
        self.hub.set_status(Status::Connecting);
        let link = Arc::clone(self);
        tokio::spawn(async move {
            let closing = link.closing.lock().await;
            close(client).await;
            drop(closing);
            if link.is_current(generation) {
                link.open(generation).await;
            }
        });
    }

    async fn open(self: Arc<Self>, generation: u64) {
        let sink = HubSink::new(&self.hub, generation, &self.generation);
        let parts = InspectedParts {
            handler: PageHandler(Arc::clone(&self.hub)),
            sink: Arc::new(sink),
            on_line: line_observer(&self.hub),
            sign_ins: self.hub.sign_ins().clone(),
        };
        let opened = Inspected::open(&self.args, &self.terminal, parts).await;
        let is_current = || self.is_current(generation);
        let opened = match opened {
            Ok(client) if is_current() => {
                let restored = self.restore_log_level(client.session()).await;
                restored.map(|()| client).map_err(Failure::from)
            }
            opened => opened,
        };
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
        let (_, client) = self.detach();
        close(client).await;
    }

    /// Returns true for the number of the newest connection.
    fn is_current(&self, generation: u64) -> bool {
        self.generation.load(Ordering::Acquire) == generation
    }

    /// Ends the use of the connection. Returns its client, and the number of the next connection.
    fn detach(&self) -> (u64, Option<McpClient>) {
        let generation = self.generation.fetch_add(1, Ordering::AcqRel) + 1;
        self.hub.cancel_calls();
        let subscriptions = std::mem::take(&mut self.hub.state().subscriptions);
        for task in subscriptions.into_values().flatten() {
            task.abort();
        }
        (generation, self.lock().take())
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

    fn lock(&self) -> MutexGuard<'_, Option<McpClient>> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn close(client: Option<McpClient>) {
    if let Some(client) = client {
        // The page needs no reason: it has requested the end.
        let _ = timeout(CLOSE_TIMEOUT, client.close()).await;
    }
}

//! Relay between a client and the server of the last build.
//!
//! The client stays connected while servers are replaced. Messages pass as text; only ids are replaced, because several servers
//! answer the same client. `memory` is the handshake that a new server repeats, `subscriptions` and `server_requests` translate
//! ids. `requests` passes messages of the client to a server, `server` starts one, `launches` replaces the running one by it, and
//! `events` reacts to builds and servers.

mod events;
mod launches;
mod memory;
mod requests;
mod server;
mod server_requests;
mod subscriptions;

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use treenail::client::{ClientLimits, Responder, ServerCommand};
use treenail::{ClientError, RpcError};

use self::memory::Memory;
use self::server::{Launch, Launcher, RunningServer};
use self::server_requests::ServerRequests;
use self::subscriptions::Subscriptions;
use super::build::BuildOutcome;
use super::client::ClientOutput;
use super::message::{self, ClientRequest};
use crate::exit::{Exit, Failure};
use crate::server::NESTED_SHUTDOWN_TIMEOUT;
use crate::server::trace::Trace;
use crate::terminal::Terminal;

/// Event of the client or of a server.
#[derive(Debug)]
pub(super) enum Event {
    Line(Vec<u8>),
    LineTooLong,
    /// A server has answered a request, or cannot answer it any more.
    Answered {
        generation: u64,
        id: String,
        result: Result<String, ClientError>,
    },
    /// A request did not reach its server.
    Unsent {
        generation: u64,
        request: ClientRequest,
    },
    Notified {
        generation: u64,
        method: String,
        params: String,
    },
    /// A server of the legacy era asks the client.
    Requested {
        generation: u64,
        id: String,
        method: String,
        params: String,
        responder: Responder,
    },
    /// A server has exited, or was stopped.
    Exited(u64),
    /// The last lines of a server that has exited.
    Explained {
        generation: u64,
        lines: String,
    },
    Launched {
        generation: u64,
        result: Result<RunningServer, String>,
    },
    /// A replaced server has been stopped.
    Retired(u64),
}

/// Options of a relay.
#[derive(Debug)]
pub(super) struct RelayOptions {
    pub(super) terminal: Terminal,
    pub(super) trace: Option<Trace>,
    /// The old server is stopped before the new one is started.
    pub(super) stop_first: bool,
}

/// Relay between a client and the server of the last build.
#[derive(Debug)]
pub(super) struct Relay {
    options: RelayOptions,
    launcher: Launcher,
    output: ClientOutput,
    events: mpsc::UnboundedReceiver<Event>,
    command: Option<ServerCommand>,
    server: ServerState,
    launching: Option<Launch>,
    last_generation: u64,
    pending: HashMap<String, PendingCall>,
    /// Requests that wait for a server.
    waiting: VecDeque<ClientRequest>,
    /// Generation of the last server that has exited, or was stopped.
    exited: u64,
    /// Generation of the last server that exited while it was used.
    crashed: u64,
    /// Calls of a server that has exited, with the reason, until it is explained.
    orphans: Vec<(String, String)>,
    memory: Memory,
    subscriptions: Subscriptions,
    server_requests: ServerRequests,
    /// The last build or start failed, and the client does not know it yet.
    unreported: Option<String>,
    background: JoinSet<()>,
}

#[derive(Debug)]
enum ServerState {
    Running(RunningServer),
    /// No server, until the first build ends.
    Building,
    /// The server has exited. The next request starts another.
    Exited,
    /// There is no server that could be started, for this reason.
    Failed(String),
}

/// Request of the client to a running server.
#[derive(Debug)]
struct PendingCall {
    request: ClientRequest,
    /// Id of the request to the server, in the order of requests.
    server_id: i64,
    generation: u64,
    abort: AbortHandle,
}

impl Relay {
    pub(super) fn new(options: RelayOptions, output: ClientOutput) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let launcher = Launcher {
            terminal: options.terminal.clone(),
            trace: options.trace.clone(),
            limits: ClientLimits::default().shutdown_timeout(NESTED_SHUTDOWN_TIMEOUT),
            events: sender,
            next_id: Arc::new(AtomicI64::new(1)),
        };
        Self {
            options,
            launcher,
            output,
            events,
            command: None,
            server: ServerState::Building,
            launching: None,
            last_generation: 0,
            pending: HashMap::new(),
            waiting: VecDeque::new(),
            exited: 0,
            crashed: 0,
            orphans: Vec::new(),
            memory: Memory::default(),
            subscriptions: Subscriptions::default(),
            server_requests: ServerRequests::default(),
            unreported: None,
            background: JoinSet::new(),
        }
    }

    /// Relays until the client closes its input.
    pub(super) async fn run(
        &mut self,
        mut lines: mpsc::Receiver<Event>,
        mut builds: mpsc::Receiver<BuildOutcome>,
    ) -> Result<(), Failure> {
        loop {
            tokio::select! {
                // Answers first: they free the memory that new requests take.
                biased;
                Some(event) = self.events.recv() => self.on_event(event),
                Some(outcome) = builds.recv() => self.on_build(outcome),
                line = lines.recv() => match line {
                    Some(event) => self.on_event(event),
                    None => return Ok(()),
                },
            }
            self.handle_ready_events()?;
            while self.background.try_join_next().is_some() {}
        }
    }

    /// Handles all events that have arrived, so that the queue does not grow: tokio limits the number of awaited events per poll,
    /// and a server can send more meanwhile. Their messages are limited in [`ClientOutput`].
    fn handle_ready_events(&mut self) -> Result<(), Failure> {
        loop {
            if self.output.is_stuck() {
                let message = "the client does not read its messages";
                return Err(Failure::new(Exit::Connection, message));
            }
            match self.events.try_recv() {
                Ok(event) => self.on_event(event),
                Err(_) => return Ok(()),
            }
        }
    }

    /// Stops all servers, and passes on their last answers.
    pub(super) async fn close(mut self) {
        self.launching = None;
        if let ServerState::Running(server) = mem::replace(&mut self.server, ServerState::Exited) {
            server.stop().await;
        }
        while let Ok(event) = self.events.try_recv() {
            self.on_event(event);
        }
        self.background.shutdown().await;
    }

    fn on_event(&mut self, event: Event) {
        match event {
            Event::Line(line) => {
                for message in message::parse_line(&line) {
                    self.on_message(message);
                }
            }
            Event::LineTooLong => {
                let error = RpcError::invalid_request("the message is too long");
                self.output.send(&message::answer("null", &Err(error)));
            }
            Event::Answered {
                generation,
                id,
                result,
            } => self.on_answer(generation, &id, result),
            Event::Unsent {
                generation,
                request,
            } => self.on_unsent(generation, request),
            Event::Notified {
                generation,
                method,
                params,
            } => self.on_notification(generation, &method, &params),
            Event::Requested {
                generation,
                id,
                method,
                params,
                responder,
            } => {
                if let Some(id) = self.server_requests.insert(generation, id, responder) {
                    self.output.send(&message::request(&id, &method, &params));
                }
            }
            Event::Exited(generation) => self.on_exit(generation),
            Event::Explained { generation, lines } => self.on_explained(generation, &lines),
            Event::Launched { generation, result } => self.on_launched(generation, result),
            Event::Retired(generation) => self.cancel_server_requests(generation),
        }
    }
}

#[cfg(test)]
mod tests;

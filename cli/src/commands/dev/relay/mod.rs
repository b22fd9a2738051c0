//! Relay between a client and the server of the last build.
//!
//! The client stays connected while servers are replaced. Messages pass as text; only ids are replaced, because several servers
//! answer the same client. `memory` is the handshake that a new server repeats, `subscriptions` and `server_requests` translate
//! ids, `server` starts a server, and `events` reacts to it.

mod events;
mod memory;
mod server;
mod server_requests;
mod subscriptions;

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::AtomicI64;
use std::task::Poll;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use treenail::client::{
    ClientLimits, Responder, ServerCommand, SessionNotification, SessionRequest,
};
use treenail::{ClientError, RpcError};

use self::memory::Memory;
use self::server::{Launcher, RunningServer};
use self::server_requests::ServerRequests;
use self::subscriptions::Subscriptions;
use super::build::BuildOutcome;
use super::client::ClientOutput;
use super::message::{self, ClientMessage, ClientRequest, InvalidMessage};
use crate::exit::{Exit, Failure};
use crate::server::trace::Trace;
use crate::terminal::Terminal;

/// Maximum number of requests that wait for a server.
const MAX_WAITING: usize = 1_000;

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
    Unsent(ClientRequest),
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
    /// Generation of the server that is being started.
    launching: Option<u64>,
    last_generation: u64,
    pending: HashMap<String, PendingCall>,
    /// Requests that wait for a server.
    waiting: VecDeque<ClientRequest>,
    /// Generation of the last server that exited by itself.
    exited: u64,
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
    generation: u64,
    abort: AbortHandle,
}

impl Relay {
    pub(super) fn new(options: RelayOptions, output: ClientOutput) -> Self {
        let (sender, events) = mpsc::unbounded_channel();
        let launcher = Launcher {
            terminal: options.terminal.clone(),
            trace: options.trace.clone(),
            limits: ClientLimits::default(),
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
            while self.background.try_join_next().is_some() {}
            if self.output.is_stuck() {
                return Err(Failure::new(
                    Exit::Connection,
                    "the client does not read its messages",
                ));
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
            Event::Unsent(request) => {
                self.pending.remove(&request.id);
                self.forward(request);
            }
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
            Event::Retired(generation) => {
                for cancellation in self.server_requests.cancel_all(generation) {
                    self.output.send(&cancellation);
                }
            }
        }
    }

    fn on_message(&mut self, message: Result<ClientMessage, InvalidMessage>) {
        match message {
            Ok(ClientMessage::Request(request)) => self.on_request(request),
            Ok(ClientMessage::Notification { method, params }) => {
                self.on_client_notification(method, params);
            }
            Ok(ClientMessage::Answer { id, result }) => self.server_requests.answer(&id, result),
            Err(InvalidMessage { id, error }) => {
                let id = id.as_deref().unwrap_or("null");
                self.output.send(&message::answer(id, &Err(error)));
            }
        }
    }

    fn on_request(&mut self, request: ClientRequest) {
        self.report_failure(Some(&request));
        match &*request.method {
            "subscriptions/listen" => self.subscriptions.insert(request.clone()),
            // The relay has declared log messages for its own.
            "logging/setLevel" if self.memory.initialize.is_some() && !self.memory.has_logging => {
                let result = self.memory.note_result(&request, "{}".to_owned());
                self.output.send(&message::answer(&request.id, &Ok(result)));
                return;
            }
            _ => {}
        }
        self.forward(request);
    }

    fn on_client_notification(&mut self, method: String, params: String) {
        match &*method {
            "notifications/initialized" => self.memory.is_initialized = true,
            "notifications/cancelled" => {
                let id = message::member(&params, &["requestId"]).unwrap_or_default();
                self.cancel(&id.to_string());
                return;
            }
            _ => {}
        }
        if let ServerState::Running(server) = &mut self.server {
            let session = Arc::clone(&server.session);
            server.calls.spawn(async move {
                let notification = SessionNotification::new(method, params);
                // A server that has exited needs no notification.
                let _ = session.notify(notification).await;
            });
        }
        self.report_failure(None);
    }

    /// Cancels a request. Dropping its future notifies the server.
    fn cancel(&mut self, id: &str) {
        self.subscriptions.remove(id);
        self.waiting.retain(|request| request.id != id);
        if let Some(call) = self.pending.remove(id) {
            call.abort.abort();
        }
    }

    /// Passes a request to the server, or lets it wait for one.
    fn forward(&mut self, request: ClientRequest) {
        match &self.server {
            ServerState::Running(_) => return self.send(request),
            ServerState::Failed(reason) if self.launching.is_none() => {
                let error = RpcError::internal(format!("there is no server: {reason}"));
                self.subscriptions.remove(&request.id);
                return self.output.send(&message::answer(&request.id, &Err(error)));
            }
            ServerState::Exited if self.launching.is_none() => self.launch(),
            _ => {}
        }
        if self.waiting.len() < MAX_WAITING {
            return self.waiting.push_back(request);
        }
        let error = RpcError::internal("too many requests wait for the server");
        self.output.send(&message::answer(&request.id, &Err(error)));
    }

    /// Sends a request to the running server.
    fn send(&mut self, request: ClientRequest) {
        let ServerState::Running(server) = &mut self.server else {
            return;
        };
        let server_id = self.launcher.next_id();
        if self.subscriptions.contains(&request.id) {
            self.subscriptions.connect(&request.id, server_id);
        }
        let call = send_call(
            (Arc::clone(&server.session), server_id, server.generation),
            request.clone(),
            self.launcher.events.clone(),
        );
        while server.calls.try_join_next().is_some() {}
        let call = PendingCall {
            generation: server.generation,
            abort: server.calls.spawn(call),
            request,
        };
        self.pending.insert(call.request.id.clone(), call);
    }
}

/// Sends a request and reports the answer.
async fn send_call(
    (session, server_id, generation): (Arc<dyn treenail::client::Session>, i64, u64),
    request: ClientRequest,
    events: mpsc::UnboundedSender<Event>,
) {
    let (method, params) = (request.method.clone(), request.params.clone());
    let mut sent = SessionRequest::new(server_id, method, params);
    sent.cancellable = request.method != "initialize";
    let mut answer = session.request(sent);
    let first = poll_fn(|context| Poll::Ready(answer.as_mut().poll(context))).await;
    let event = match first {
        // The session was closed before the request was written.
        Poll::Ready(Err(ClientError::Closed(_))) => Event::Unsent(request),
        Poll::Ready(result) => Event::Answered {
            generation,
            id: request.id,
            result,
        },
        Poll::Pending => Event::Answered {
            generation,
            id: request.id,
            result: answer.await,
        },
    };
    // The relay has ended.
    let _ = events.send(event);
}

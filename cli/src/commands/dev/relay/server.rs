//! Start of a server behind the client, and the repetition of the handshake.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::timeout;
use treenail::client::{
    ClientLimits, IncomingHandler, IncomingRequest, ServerCommand, Session, SessionNotification,
    SessionRequest, Stderr,
};

use super::Event;
use super::memory::{KINDS, Memory};
use crate::commands::dev::message::member;
use crate::server::StderrTail;
use crate::server::trace::Trace;
use crate::terminal::Terminal;

/// Timeout of each request that a new server gets before it replaces the old one.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(30);

/// Maximum wait for the calls of a replaced server.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(2);

/// Server behind the client.
#[derive(Debug)]
pub(in crate::commands::dev) struct RunningServer {
    pub(super) session: Arc<dyn Session>,
    pub(super) calls: JoinSet<()>,
    /// Number that distinguishes the messages of several servers.
    pub(super) generation: u64,
    /// Handshake that was repeated.
    pub(super) memory: Box<Memory>,
    tail: StderrTail,
}

/// Server that is being started.
#[derive(Debug)]
pub(super) struct Launch {
    pub(super) generation: u64,
    /// Dropped when the server is not wanted any more.
    pub(super) keep: Option<oneshot::Sender<Infallible>>,
}

/// Future that completes when a server that is being started is not wanted any more.
pub(super) type Abandoned = oneshot::Receiver<Infallible>;

impl Launch {
    pub(super) fn new(generation: u64) -> (Self, Abandoned) {
        let (keep, abandoned) = oneshot::channel();
        let keep = Some(keep);
        (Self { generation, keep }, abandoned)
    }
}

impl RunningServer {
    /// Waits for the running calls for a short time, and stops the server.
    pub(super) async fn retire(mut self) {
        let calls = async { while self.calls.join_next().await.is_some() {} };
        // The rest fails when the session closes.
        let _ = timeout(DRAIN_TIMEOUT, calls).await;
        self.stop().await;
    }

    /// Stops the server. Calls that it answers while it stops are still passed on.
    pub(super) async fn stop(mut self) {
        // The error would be that the server has already exited.
        let _ = self.session.close().await;
        while self.calls.join_next().await.is_some() {}
        self.tail.drain().await;
    }

    pub(super) fn tail(&self) -> StderrTail {
        self.tail.clone()
    }

    /// Returns the last lines of a server that has exited.
    pub(super) async fn last_lines(self) -> String {
        self.tail.last_lines().await.join("\n")
    }
}

/// Launcher of servers.
#[derive(Clone, Debug)]
pub(super) struct Launcher {
    pub(super) terminal: Terminal,
    pub(super) trace: Option<Trace>,
    pub(super) limits: ClientLimits,
    pub(super) events: UnboundedSender<Event>,
    /// Ids of requests to servers.
    pub(super) next_id: Arc<AtomicI64>,
}

impl Launcher {
    pub(super) fn next_id(&self) -> i64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Starts a server and repeats the handshake of the client.
    pub(super) async fn launch(
        &self,
        command: &ServerCommand,
        memory: Memory,
        generation: u64,
        abandoned: Abandoned,
    ) -> Result<RunningServer, String> {
        let tail = StderrTail::passing_on(&self.terminal);
        let command = command
            .clone()
            .stderr(Stderr::lines(tail.stderr_listener()))
            .on_stray_line(tail.stray_line_listener());
        let session = command.start(&self.limits).map_err(|it| it.to_string())?;
        let session: Arc<dyn Session> = Arc::new(session);
        let session = match &self.trace {
            Some(trace) => trace.wrap(session),
            None => session,
        };
        session.listen(Arc::new(Incoming {
            generation,
            events: self.events.clone(),
        }));
        let server = RunningServer {
            session,
            calls: JoinSet::new(),
            generation,
            memory: Box::default(),
            tail,
        };
        self.catch_up(server, memory, abandoned).await
    }

    /// Repeats the requests of `memory` that a server has not got yet. A server that fails is stopped.
    pub(super) async fn catch_up(
        &self,
        mut server: RunningServer,
        memory: Memory,
        abandoned: Abandoned,
    ) -> Result<RunningServer, String> {
        let repeated = tokio::select! {
            result = self.repeat_handshake(&*server.session, &server.memory, &memory) => result,
            _ = abandoned => Err("a newer build takes its place".to_owned()),
        };
        match repeated {
            Ok(()) => {
                *server.memory = memory;
                Ok(server)
            }
            Err(reason) => {
                // The reason of the exit is complete when the session has closed.
                let _ = server.session.close().await;
                let lines = server.last_lines().await;
                Err(format!("{reason}\n{lines}").trim_end().to_owned())
            }
        }
    }

    async fn repeat_handshake(
        &self,
        session: &dyn Session,
        known: &Memory,
        memory: &Memory,
    ) -> Result<(), String> {
        if let Some(params) = &memory.initialize {
            if known.initialize.is_none() {
                let result = self.ask(session, "initialize", params).await?;
                let revision = member(&result, &["protocolVersion"]).unwrap_or_default();
                if revision.as_str() != Some(&memory.revision) {
                    let chosen = &memory.revision;
                    return Err(format!(
                        "the new server chose revision {revision}, but the client is connected with {chosen}; restart the client"
                    ));
                }
                self.note_capabilities(&result, memory);
            }
            return self.restore_session(session, known, memory).await;
        }
        if let (Some(params), None) = (&memory.discover, &known.discover) {
            let result = self.ask(session, "server/discover", params).await?;
            self.note_capabilities(&result, memory);
        }
        Ok(())
    }

    /// Repeats the effects of former requests on a session of the legacy era. A server that rejects them works without.
    async fn restore_session(
        &self,
        session: &dyn Session,
        known: &Memory,
        memory: &Memory,
    ) -> Result<(), String> {
        if !memory.is_initialized {
            return Ok(());
        }
        let nothing = Memory::default();
        let mut known = known;
        if !known.is_initialized {
            let initialized =
                SessionNotification::new("notifications/initialized", "{}".to_owned());
            let sent = session.notify(initialized).await;
            sent.map_err(|error| error.to_string())?;
            known = &nothing;
        }
        for (method, params) in memory.changes_since(known) {
            if let Err(error) = self.ask(session, method, params).await {
                self.terminal.print_note(&format!("`{method}`: {error}"));
            }
        }
        Ok(())
    }

    async fn ask(
        &self,
        session: &dyn Session,
        method: &'static str,
        params: &str,
    ) -> Result<String, String> {
        let mut request = SessionRequest::new(self.next_id(), method, params.to_owned());
        request.cancellable = false;
        match timeout(HANDSHAKE_TIMEOUT, session.request(request)).await {
            Ok(result) => result.map_err(|error| error.to_string()),
            Err(_) => Err(format!(
                "no answer to `{method}` within {HANDSHAKE_TIMEOUT:?}"
            )),
        }
    }

    /// Reports lists that only the old or only the new server has: the client learns them in its next handshake.
    fn note_capabilities(&self, result: &str, memory: &Memory) {
        let has = |kind: &str| member(result, &["capabilities", kind]).is_some();
        for kind in KINDS {
            if has(kind) != memory.kinds.contains(&kind) {
                self.terminal.print_note(&format!(
                    "the capability `{kind}` has changed; reconnect the client to make it notice"
                ));
            }
        }
    }
}

/// Handler that turns messages of a server into events.
struct Incoming {
    generation: u64,
    events: UnboundedSender<Event>,
}

impl Incoming {
    fn send(&self, event: Event) {
        // The relay has ended.
        let _ = self.events.send(event);
    }
}

impl IncomingHandler for Incoming {
    fn notification(&self, method: &str, params: &str) {
        self.send(Event::Notified {
            generation: self.generation,
            method: method.to_owned(),
            params: params.to_owned(),
        });
    }

    fn request(&self, request: IncomingRequest<'_>) {
        self.send(Event::Requested {
            generation: self.generation,
            id: request.id.to_owned(),
            method: request.method.to_owned(),
            params: request.params.to_owned(),
            responder: request.responder,
        });
    }

    fn closed(&self) {
        self.send(Event::Exited(self.generation));
    }
}

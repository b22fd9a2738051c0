//! One session: its connection and calls.

mod streams;

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::time::Instant;
use treenail_runtime::internal::{IdKey, write_error};
use treenail_runtime::{Connection, PendingResponse, Principal, RpcError};
use treenail_schema::{RequestId, Revision};

pub(super) use self::streams::StreamHandle;
use crate::exchange::Exchange;
use crate::keep_alive;
use crate::legacy::attended::AttendedCall;
use crate::legacy::calls::{CallGuard, SessionCalls};
use crate::legacy::events::Events;
use crate::legacy::last_use::LastUse;

/// Session of one client. Dropping it ends its calls.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) kind: SessionKind,
    principal: Option<Principal>,
    pub(super) events: Arc<Events>,
    /// Stream for messages unrelated to a request.
    pub(super) shared_stream: u64,
    /// Connection for messages that start no call. Its output is sent on the shared stream.
    connection: Mutex<Connection>,
    pub(super) calls: Arc<SessionCalls>,
    last_use: Arc<LastUse>,
    /// The handshake is complete.
    initialized: AtomicBool,
    /// Waker of the task that sends the shared stream.
    stream_waker: Mutex<Option<Waker>>,
    /// Time for which a stalled reader may block its call.
    write_timeout: Duration,
    /// Time at which the authorization of the client ends, the latest of its requests. `None` if one of them has no end.
    expires: Mutex<Option<Instant>>,
    /// Time after which a stream is closed and its client has to reconnect.
    stream_max_age: Option<Duration>,
    /// Interval of keep-alive comments.
    pub(super) keep_alive: Duration,
}

/// Transport of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SessionKind {
    /// HTTP+SSE: all messages on the shared stream.
    HttpSse,
    /// Streamable HTTP: the messages of each request on a stream of their own.
    Streamable(Revision),
}

impl Session {
    pub(super) fn new(
        mut connection: Connection,
        kind: SessionKind,
        principal: Option<Principal>,
        expires: Option<Instant>,
    ) -> Self {
        // The session may stay idle for long.
        drop(connection.release());
        let limits = connection.server().limits();
        let last_use = LastUse::now();
        let events = Events::new(limits, Arc::clone(&last_use));
        Self {
            kind,
            principal,
            shared_stream: events.open(),
            events,
            write_timeout: limits.http.write_timeout,
            stream_max_age: limits.http.stream_max_age,
            keep_alive: keep_alive::interval(&limits.http),
            connection: Mutex::new(connection),
            calls: SessionCalls::new(Arc::clone(&last_use)),
            last_use,
            initialized: AtomicBool::new(matches!(kind, SessionKind::Streamable(_))),
            stream_waker: Mutex::default(),
            expires: Mutex::new(expires),
        }
    }

    /// Records the end of the authorization that a further request has.
    pub(super) fn authorize_until(&self, expires: Option<Instant>) {
        let mut latest = lock(&self.expires);
        *latest = latest.zip(expires).map(|(latest, end)| latest.max(end));
    }

    /// Returns the end of the client's authorization, if it has one.
    pub(super) fn expires(&self) -> Option<Instant> {
        *lock(&self.expires)
    }

    pub(super) fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        self.principal.as_ref() == principal
    }

    /// Returns true if the client reconnects when a stream is closed early.
    pub(super) fn supports_polling(&self) -> bool {
        matches!(self.kind, SessionKind::Streamable(revision) if revision >= Revision::V2025_11_25)
    }

    /// Runs `action` with the connection of the session.
    pub(super) fn with_connection<T>(&self, action: impl FnOnce(&mut Connection) -> T) -> T {
        let mut connection = lock(&self.connection);
        let output = action(&mut connection);
        if connection.legacy_revision().is_some() {
            self.initialized.store(true, Ordering::Relaxed);
        }
        let released = connection.release();
        drop(connection);
        // Without the lock, because it may run the user's code.
        drop(released);
        // The action may have changed subscriptions or produced messages.
        let waker = lock(&self.stream_waker).take();
        if let Some(waker) = waker {
            waker.wake();
        }
        output
    }

    /// Returns true if a call is in flight, or in its first poll.
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// Begins a call before its first poll, so that it can be stopped meanwhile. Returns its guard, and the number of calls in
    /// flight. `None` if the session has ended.
    pub(super) fn begin_call(&self, id: Option<&str>, stream: u64) -> Option<(CallGuard, usize)> {
        let id = id.map(|id| IdKey::of(&id.into()));
        self.calls.begin(id, stream)
    }

    /// Continues a call after its first poll. Its request polls it, and it outlives that request if its client disconnects. Its output
    /// is sent on `stream`. If it was stopped in its first poll, the next one ends it.
    pub(super) fn attend_call(
        self: &Arc<Self>,
        connection: Connection,
        mut call: PendingResponse,
        guard: CallGuard,
        stream: u64,
    ) -> AttendedCall {
        guard.attend(&mut call);
        let exchange = Exchange::new(connection, Some(call), None);
        AttendedCall::new(Arc::clone(self), stream, exchange, guard)
    }

    /// Spawns the task of a call, after its message `first`. Its output is sent on `stream`.
    pub(super) fn continue_call(
        self: &Arc<Self>,
        runtime: &Handle,
        mut exchange: Exchange,
        guard: CallGuard,
        (stream, mut first): (u64, Option<Vec<u8>>),
    ) {
        let session = Arc::downgrade(self);
        self.calls.spawn_call(runtime, guard, |guard| async move {
            let mut guard = Some(guard);
            loop {
                let next = match first.take() {
                    Some(first) => Some((first, false)),
                    None => poll_fn(|context| exchange.poll_next(context)).await,
                };
                let Some((message, last)) = next else {
                    break;
                };
                let Some(session) = session.upgrade() else {
                    return;
                };
                // A cancelled task runs until the end of its poll, and in HTTP+SSE, its stream continues.
                if guard.as_ref().is_some_and(|guard| !guard.is_running()) {
                    return;
                }
                if last && session.kind != SessionKind::HttpSse {
                    // A client that has the result may start another call. In HTTP+SSE, results wait for room in the one stream of
                    // their session, and count as calls as long.
                    guard.take();
                }
                session.send(stream, message, last).await;
            }
            drop(guard);
            if let Some(session) = session.upgrade() {
                session.finish_stream(stream);
            }
        });
    }

    /// Returns the number of calls in flight whose output is not being read.
    pub(super) fn abandoned_calls(&self) -> usize {
        match self.kind {
            SessionKind::Streamable(_) => {
                self.calls.count_on(|stream| !self.events.is_read(stream))
            }
            // A session of HTTP+SSE ends with its stream.
            SessionKind::HttpSse => 0,
        }
    }

    /// Ends the abandoned calls and returns their number. Clients that reconnect for a result receive an error.
    pub(super) fn end_abandoned_calls(&self) -> usize {
        let abandoned = self.calls.stop_on(|stream| !self.events.is_read(stream));
        let mut ended = 0;
        for (id, calls, stream) in abandoned {
            if let Some(id) = id {
                let error = RpcError::internal("the call was ended because the server is busy");
                let mut response = Vec::new();
                write_error(&mut response, Some(id.as_json()), &error);
                self.events.push(stream, response, true);
            } else {
                self.finish_stream(stream);
            }
            ended += calls;
        }
        ended
    }

    /// Stops the call of a request.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(stream) = self.calls.cancel(id) {
            self.finish_stream(stream);
        }
    }

    /// Records the use of the session.
    pub(super) fn touch(&self) {
        self.last_use.touch();
    }

    pub(super) fn last_used(&self) -> Instant {
        self.last_use.time()
    }

    /// Returns true if no stream is being read. The client may have disconnected, and can reconnect.
    pub(super) fn is_abandoned(&self) -> bool {
        !self.events.is_any_read()
    }

    /// Returns true if ending the session would interrupt a call or a stream.
    pub(super) fn is_active(&self) -> bool {
        let is_read = || self.initialized.load(Ordering::Relaxed) && self.events.is_any_read();
        !self.has_ended() && (self.has_calls() || is_read())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.events.has_ended(self.shared_stream)
    }

    /// Ends the calls and the streams.
    pub(super) fn end(&self) {
        for stream in self.calls.end() {
            self.events.end(stream);
        }
        self.events.end(self.shared_stream);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

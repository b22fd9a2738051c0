//! One session: a peer that has had a handshake, its calls and its streams.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::time::{Instant, timeout};
use treenail_schema::{RequestId, Revision};

use crate::deadline;
use crate::extensions::Principal;
use crate::server::{Connection, PendingResponse};
use crate::stream_close::StreamCloser;
use crate::transport::http::exchange::Exchange;
use crate::transport::http::legacy::calls::{Calls, Running};
use crate::transport::http::legacy::events::Events;
use crate::transport::http::legacy::reader::Reader;
use crate::transport::http::legacy::store::EventId;
use crate::wire::{RpcError, write_error};

/// A session. Dropping it ends its calls.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) kind: Kind,
    principal: Option<Principal>,
    pub(super) events: Arc<Events>,
    /// The stream of what belongs to no request.
    pub(super) own_stream: u64,
    /// What is not a call runs here; what it sends goes to the session's own stream.
    connection: Mutex<Connection>,
    calls: Arc<Calls>,
    used: Mutex<Instant>,
    /// Whether there has been a handshake.
    begun: AtomicBool,
    /// Whoever reads the own stream.
    listener: Mutex<Option<Waker>>,
    /// How long a reader may hold its call back.
    patience: Duration,
    /// How long a stream stays open before its client has to poll.
    open_for: Option<Duration>,
}

/// How messages find their client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// All on the own stream: HTTP+SSE.
    OneStream,
    /// Those of each request on a stream of its own: Streamable HTTP.
    Streams(Revision),
}

/// The stream for what comes of a request, before it is known whether anything will.
#[derive(Debug)]
pub(super) struct Begun {
    pub(super) stream: u64,
    /// `None` if others read it already.
    pub(super) reader: Option<Reader>,
}

impl Session {
    pub(super) fn new(connection: Connection, kind: Kind, principal: Option<Principal>) -> Self {
        let limits = connection.server().limits();
        let events = Events::new(limits);
        Self {
            kind,
            principal,
            own_stream: events.open(),
            events,
            patience: limits.http.write_timeout,
            open_for: limits.http.stream_max_age,
            connection: Mutex::new(connection),
            calls: Arc::default(),
            used: Mutex::new(Instant::now()),
            begun: AtomicBool::new(matches!(kind, Kind::Streams(_))),
            listener: Mutex::default(),
        }
    }

    pub(super) fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        self.principal.as_ref() == principal
    }

    /// Whether its client comes back when a stream is closed before its end.
    pub(super) fn polls(&self) -> bool {
        matches!(self.kind, Kind::Streams(revision) if revision >= Revision::V2025_11_25)
    }

    /// When a stream that is begun now has to be closed, to go on with another request.
    pub(super) fn open_until(&self) -> Option<Instant> {
        let open_for = self.open_for.filter(|_| self.polls())?;
        Some(deadline::after(open_for))
    }

    /// Does something with the connection of the session.
    pub(super) fn with<T>(&self, action: impl FnOnce(&mut Connection) -> T) -> T {
        let mut connection = lock(&self.connection);
        let done = action(&mut connection);
        if connection.legacy_revision().is_some() {
            self.begun.store(true, Ordering::Relaxed);
        }
        drop(connection);
        // There may be something to hear of now.
        if let Some(waker) = lock(&self.listener).take() {
            waker.wake();
        }
        done
    }

    /// Takes over what the session has to tell of itself, for its own stream.
    pub(super) fn poll_own(&self, context: &mut Context<'_>) {
        *lock(&self.listener) = Some(context.waker().clone());
        let mut connection = lock(&self.connection);
        while self.events.poll_room(self.own_stream, context).is_ready() {
            match connection.poll_outgoing(context) {
                Poll::Ready(message) => self.events.push(self.own_stream, message, false),
                Poll::Pending => return,
            }
        }
    }

    /// How many calls are in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.calls.count()
    }

    /// A stream for a request, and a connection for it.
    pub(super) fn begin(&self) -> (Connection, Begun) {
        let mut connection = self.with(|connection| connection.branch());
        if self.kind == Kind::OneStream {
            let (stream, reader) = (self.own_stream, None);
            return (connection, Begun { stream, reader });
        }
        let stream = self.events.open();
        let reader = self.events.read(EventId::beginning(stream));
        if self.polls() {
            let events = Arc::clone(&self.events);
            let closer = StreamCloser::new(move || events.detach(stream));
            connection.extensions_mut().insert(closer);
        }
        (connection, Begun { stream, reader })
    }

    /// Goes on with a call, whether its client stays or not; what comes of it goes to a stream.
    pub(super) fn start(
        self: &Arc<Self>,
        connection: Connection,
        mut call: PendingResponse,
        to: u64,
    ) {
        let running = Running::new(&mut call, to);
        let session = Arc::downgrade(self);
        self.calls.start(running, |over| async move {
            let mut exchange = Exchange::new(connection, Some(call), None);
            let mut over = Some(over);
            while let Some((message, last)) = exchange.next().await {
                if last {
                    // Who reads the answer may begin another call.
                    over.take();
                }
                let Some(session) = session.upgrade() else {
                    return;
                };
                session.tell(to, message, last).await;
            }
            drop(over);
            if let Some(session) = session.upgrade() {
                session.finish(to);
            }
        });
    }

    /// Adds a message to a stream, as soon as its reader has come far enough. Readers that take too long are sent away.
    pub(super) async fn tell(&self, stream: u64, message: Vec<u8>, last: bool) {
        let ends = last && self.kind != Kind::OneStream;
        let mut message = Some(message);
        loop {
            let told = self.events.tell(stream, &mut message, ends);
            if timeout(self.patience, told).await.is_ok() {
                return;
            }
            self.send_away(stream);
        }
    }

    /// Adds what a call has sent before anyone could read it; nothing waits unless others read too.
    pub(super) async fn note(&self, stream: u64, message: Vec<u8>, last: bool) {
        match self.kind {
            Kind::OneStream => self.tell(stream, message, last).await,
            Kind::Streams(_) => self.events.push(stream, message, last),
        }
    }

    /// Goes on without a reader, who may come back if there is a way.
    fn send_away(&self, stream: u64) {
        tracing::debug!("a client that reads nothing has lost its stream");
        match self.kind {
            Kind::Streams(_) => self.events.detach(stream),
            Kind::OneStream => self.end(),
        }
    }

    /// Nothing more comes of a request.
    fn finish(&self, stream: u64) {
        if stream == self.own_stream {
            self.events.wake_reader(stream);
        } else {
            self.events.end(stream);
        }
    }

    /// Forgets the stream of a request that needs none.
    pub(super) fn forget(&self, stream: u64) {
        if stream != self.own_stream {
            self.events.forget(stream);
        }
    }

    /// How many calls are in flight whose answers nobody reads.
    pub(super) fn left_calls(&self) -> usize {
        match self.kind {
            Kind::Streams(_) => self.calls.count_on(|stream| !self.events.is_read(stream)),
            // Without its stream there is no session.
            Kind::OneStream => 0,
        }
    }

    /// Ends those calls, with an error for clients that come back for the answer; returns how many.
    pub(super) fn end_left_calls(&self) -> usize {
        let left = self.calls.end_on(|stream| !self.events.is_read(stream));
        let mut ended = 0;
        for (id, calls, stream) in left {
            if let Some(id) = id {
                let error = RpcError::internal("the call was ended because the server is busy");
                let mut answer = Vec::new();
                write_error(&mut answer, Some(id.as_json()), &error);
                self.events.push(stream, answer, true);
            } else {
                self.finish(stream);
            }
            ended += calls;
        }
        ended
    }

    /// Stops the call that a request has begun.
    pub(super) fn cancel(&self, id: &RequestId) {
        if let Some(stream) = self.calls.cancel(id) {
            self.finish(stream);
        }
    }

    /// Notes that the session is used.
    pub(super) fn touch(&self) {
        *lock(&self.used) = Instant::now();
    }

    pub(super) fn used(&self) -> Instant {
        *lock(&self.used)
    }

    /// Whether nobody waits for what goes on, as far as can be seen: its clients have gone, and may come back.
    pub(super) fn is_left(&self) -> bool {
        !self.events.are_read()
    }

    /// Whether something goes on that an end would break off.
    pub(super) fn is_at_work(&self) -> bool {
        let is_read = || self.begun.load(Ordering::Relaxed) && self.events.are_read();
        !self.has_ended() && (self.in_flight() > 0 || is_read())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.events.has_ended(self.own_stream)
    }

    /// Ends the calls and the streams.
    pub(super) fn end(&self) {
        for stream in self.calls.end() {
            self.events.end(stream);
        }
        self.events.end(self.own_stream);
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

//! One session: a peer that has had a handshake, its calls and its streams.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use tokio::task::AbortHandle;
use tokio::time::Instant;
use treenail_schema::{RequestId, Revision};

use crate::extensions::Principal;
use crate::server::{Connection, PendingAnswer};
use crate::transport::http::exchange::Exchange;
use crate::transport::http::legacy::events::{EventId, Events, Reader};

/// A session. Dropping it ends its calls.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) revision: Revision,
    principal: Option<Principal>,
    pub(super) events: Arc<Events>,
    /// The stream of what belongs to no request.
    pub(super) own_stream: u64,
    /// What is not a call runs here; what it sends goes to the session's own stream.
    connection: Mutex<Connection>,
    calls: Arc<Mutex<HashMap<u64, Running>>>,
    used: Mutex<Instant>,
    /// Whoever reads the own stream.
    listener: Mutex<Option<Waker>>,
}

/// A call in flight.
#[derive(Debug)]
struct Running {
    id: Option<RequestId>,
    /// A batch may be many.
    calls: usize,
    handle: AbortHandle,
}

impl Session {
    pub(super) fn new(
        connection: Connection,
        revision: Revision,
        principal: Option<Principal>,
    ) -> Self {
        let events = Events::new(connection.server().limits());
        Self {
            revision,
            principal,
            own_stream: events.open(),
            events,
            connection: Mutex::new(connection),
            calls: Arc::default(),
            used: Mutex::new(Instant::now()),
            listener: Mutex::default(),
        }
    }

    pub(super) fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        self.principal.as_ref() == principal
    }

    /// Does something with the connection of the session.
    pub(super) fn with<T>(&self, action: impl FnOnce(&mut Connection) -> T) -> T {
        let done = action(&mut lock(&self.connection));
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
        lock(&self.calls)
            .values()
            .map(|running| running.calls)
            .sum()
    }

    /// Goes on with a call, whether its client stays or not; what comes of it is read from a stream.
    pub(super) fn start(&self, connection: Connection, call: PendingAnswer) -> Option<Reader> {
        let stream = self.events.open();
        let reader = self.events.read(EventId { stream, number: 0 });
        let (events, calls) = (Arc::clone(&self.events), Arc::clone(&self.calls));
        let (id, count) = (call.id().cloned(), call.calls());
        let mut running = lock(&self.calls);
        let task = tokio::spawn(async move {
            let mut exchange = Exchange::new(connection, Some(call), None);
            while let Some((message, last)) = exchange.next().await {
                poll_fn(|context| events.poll_room(stream, context)).await;
                events.push(stream, message, last);
            }
            events.end(stream);
            lock(&calls).remove(&stream);
        });
        let handle = task.abort_handle();
        let calls = count;
        running.insert(stream, Running { id, calls, handle });
        reader
    }

    /// A stream of what a call has sent before it was ready at once, and of its answer.
    pub(super) fn tell(
        &self,
        first: Vec<u8>,
        mut connection: Connection,
        answer: Vec<u8>,
    ) -> Option<Reader> {
        let stream = self.events.open();
        let reader = self.events.read(EventId { stream, number: 0 });
        self.events.push(stream, first, false);
        while let Some(message) = connection.next_outgoing() {
            self.events.push(stream, message, false);
        }
        self.events.push(stream, answer, true);
        reader
    }

    /// Stops the call that a request has begun.
    pub(super) fn cancel(&self, id: &RequestId) {
        let mut calls = lock(&self.calls);
        let found = calls.iter().find(|(_, call)| call.id.as_ref() == Some(id));
        let Some(stream) = found.map(|(stream, _)| *stream) else {
            return;
        };
        if let Some(call) = calls.remove(&stream) {
            call.handle.abort();
        }
        self.events.end(stream);
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
        self.in_flight() > 0 || self.events.are_read()
    }

    /// Ends the calls and the streams.
    pub(super) fn end(&self) {
        for (stream, call) in lock(&self.calls).drain() {
            call.handle.abort();
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

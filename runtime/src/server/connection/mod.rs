//! One connection: the revision of its peer, and the response to each of its messages.

mod batch;
mod extension;
mod feature;
mod handshake;
#[cfg(feature = "http-server")]
mod http;
mod observed;
mod outgoing;
mod places;
mod reject;
mod request;

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use treenail_schema::{Method, RequestId};

pub use self::batch::ParsedMessage;
use self::handshake::Handshake;
pub use self::places::CallPermits;
pub use self::reject::oversized;
use crate::extensions::Extensions;
use crate::outbox::{Outbox, outbox};
use crate::queue::QueueReceiver;
use crate::revision::CachedPeer;
use crate::server::Server;
use crate::server::observe::{ObservedTransport, SessionObservation};
use crate::server::registry::{LastSnapshot, Registry, Snapshot};
use crate::server::response::PendingResponse;
use crate::server::subscriptions::{Audience, Subscriber};
use crate::wire::{Body, Envelope, Invalid, Message, parse_with_known_meta, quoted};

/// Connection of a server to one peer, which handles its messages one at a time.
///
/// Each request of the modern era identifies its peer, so it needs no state here. A legacy peer has a handshake. Both may share a
/// connection.
#[derive(Debug)]
pub struct Connection {
    server: Server,
    handshake: Handshake,
    modern: CachedPeer,
    registry: Arc<Registry>,
    snapshot: LastSnapshot,
    /// The view of the caller for the next request, if it has been made already.
    prepared: Option<Arc<Snapshot>>,
    subscriber: Subscriber,
    extensions: Extensions,
    outbox: Outbox,
    outgoing: QueueReceiver,
    /// The number of calls that may start now.
    room: usize,
    /// Set while the peer has calls in flight.
    busy: bool,
    /// Places in the call budget of the server that are reserved for the next message.
    places: Option<OwnedSemaphorePermit>,
    /// The number of calls in the last deferred message.
    wanted: usize,
    /// The requests that the last batch has cancelled.
    cancelled: Vec<RequestId>,
    /// Subscriptions and calls alternate in sending.
    calls_first: bool,
    /// Set if the peer may restart its session.
    restarts: bool,
    /// The number of restarts.
    session: u64,
    /// The transport, unless the extensions have an HTTP request.
    transport: ObservedTransport,
    /// The id of the session over HTTP, if the server has an observer.
    session_id: Option<Arc<str>>,
    /// Observation of the session of the legacy era.
    observation: SessionObservation,
}

/// Outcome of [`Connection::handle_message`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Handled {
    /// The message has been handled. If it needs a response, the response has been written.
    Complete,
    /// The response takes longer.
    Pending(PendingResponse),
    /// The peer has cancelled a request, which should be dropped without a response.
    Cancelled(RequestId),
    /// No request has been handled, because the message starts more calls than the [capacity](Connection::set_call_capacity) of the
    /// connection, or the [whole server](crate::Limits::server_calls_in_flight), has left. The id is that of its request, if it is
    /// a single one.
    ///
    /// If the message starts [more calls](Connection::deferred_calls) than that capacity, it may be handled again when calls of the
    /// connection have ended. Otherwise, it may be handled again with [permits](Connection::call_permits) of the server: nothing
    /// else wakes the caller when another connection releases its calls. A transport that does not wait answers with
    /// [`Connection::reject_over_capacity`].
    Deferred(Option<RequestId>),
    /// The peer has sent `initialize` again, as bridges do for each of their own clients, and the response has been written.
    /// The state of the earlier session should be dropped: its calls in flight, without responses, and its deferred messages.
    Restarted,
}

impl Server {
    /// Starts a connection with a new peer.
    pub fn connect(&self) -> Connection {
        Connection::new(self.clone())
    }
}

impl Connection {
    fn new(server: Server) -> Self {
        let queue = outbox(server.limits());
        Self::with_registry(Registry::of(&server), server, queue)
    }

    fn with_registry(
        registry: Arc<Registry>,
        server: Server,
        (outbox, outgoing): (Outbox, QueueReceiver),
    ) -> Self {
        Self {
            server,
            registry,
            snapshot: LastSnapshot::default(),
            prepared: None,
            subscriber: Subscriber::default(),
            handshake: Handshake::NotBegun,
            modern: CachedPeer::default(),
            extensions: Extensions::new(),
            outbox,
            outgoing,
            room: usize::MAX,
            busy: false,
            places: None,
            cancelled: Vec::new(),
            wanted: 0,
            calls_first: true,
            restarts: true,
            session: 0,
            transport: ObservedTransport::Other,
            session_id: None,
            observation: SessionObservation::default(),
        }
    }

    /// Makes the connection reject a second `initialize`, for transports with a connection for each session.
    #[doc(hidden)]
    #[must_use]
    pub fn for_one_session(mut self) -> Self {
        self.restarts = false;
        self
    }

    /// Returns the server at this end.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// Returns the values that calls of this connection get from outside of the protocol, such as the
    /// [`Principal`](crate::Principal) that a transport has authenticated.
    ///
    /// A call gets the values that are set when its message is handled.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    /// Handles one message, without its line end, and appends its response to `out` if it is ready at once.
    ///
    /// This is the low-level interface of a server. Its caller polls the pending responses and the outgoing messages, cancels
    /// calls, bounds its queues, and waits for capacity. [`Connection::serve`] does all that for a byte stream. The guide's page on
    /// deployment has a bridge from single messages to such a stream.
    ///
    /// The response to an invalid message is an error; such a message never ends the connection. Handling a message may also
    /// cause [outgoing](Connection::poll_outgoing) messages.
    pub fn handle_message(&mut self, message: &[u8], out: &mut Vec<u8>) -> Handled {
        let modern = self.modern.clone();
        let body = parse_with_known_meta(message, self.server.limits().into(), modern.meta());
        let handled = self.handle_body(body, out);
        drop(self.snapshot.release());
        handled
    }

    /// Handles parsed messages, as [`Connection::handle_message`] does. Afterwards the owner releases the entries that they have
    /// used.
    #[doc(hidden)]
    pub fn handle_body(&mut self, body: Body<'_>, out: &mut Vec<u8>) -> Handled {
        let handled = match body {
            Body::One(message) => self.on_message(message, out),
            Body::Batch(messages) => self.batch(&messages, out, Self::on_message),
        };
        if !matches!(handled, Handled::Deferred(_)) {
            self.places = None;
        }
        handled
    }

    /// Sets the number of calls that the next message may start. Default: no bound but that of the server. A message that starts
    /// more is [deferred](Handled::Deferred).
    pub fn set_call_capacity(&mut self, calls: usize) {
        self.room = calls;
    }

    /// Handles one message.
    #[doc(hidden)]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "callers own the message; a match by value would copy its envelope"
    )]
    pub fn on_message(
        &mut self,
        message: Result<Message<'_>, Invalid<'_>>,
        out: &mut Vec<u8>,
    ) -> Handled {
        match &message {
            Ok(Message::Request(id, envelope))
                if !self.has_room() && self.server.begins_call(envelope) =>
            {
                self.wanted = 1;
                Handled::Deferred(serde_json::from_str(id).ok())
            }
            Ok(Message::Request(id, envelope)) => {
                let session = self.session;
                match self.on_request(id, envelope, out) {
                    Some(request) => {
                        let request = request.with_place(self.take_place());
                        Handled::Pending(PendingResponse::one(request))
                    }
                    None if self.session != session => Handled::Restarted,
                    None => Handled::Complete,
                }
            }
            Ok(Message::Notification(envelope)) => self.on_notification(envelope),
            Ok(Message::Response(id, answer)) => {
                self.outbox.requests().on_response(id, *answer);
                Handled::Complete
            }
            Err(invalid) => {
                self.reject_invalid(invalid, out);
                Handled::Complete
            }
        }
    }

    fn on_notification(&mut self, envelope: &Envelope<'_>) -> Handled {
        match (envelope.known, &self.handshake) {
            (Some(Method::Initialized), Handshake::Answered(peer)) => {
                let audience = Audience::new(&self.extensions, peer);
                self.handshake = Handshake::Finished(Arc::clone(peer));
                self.subscriber.start_legacy(&self.server, audience);
            }
            (Some(Method::Cancelled), _) => {
                let Some(id) = envelope.params.request_id else {
                    return Handled::Complete;
                };
                if self.subscriber.end(&self.server, id, None) {
                    return Handled::Complete;
                }
                return serde_json::from_str(id).map_or(Handled::Complete, Handled::Cancelled);
            }
            _ => {
                let method = quoted(&envelope.method);
                tracing::debug!(method, "a notification was ignored");
            }
        }
        Handled::Complete
    }
}

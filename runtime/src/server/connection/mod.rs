//! One connection: which revision its peer speaks, and the answer to each of its messages.

mod batch;
mod handshake;
#[cfg(feature = "http-server")]
mod http;
mod places;
mod request;

use std::sync::Arc;
use std::task::{self, Poll};

use tokio::sync::OwnedSemaphorePermit;
use treenail_schema::RequestId;

use self::handshake::Handshake;
pub(crate) use self::request::begins_call;
use crate::extensions::Extensions;
use crate::outbox::{Outbox, Outgoing, outbox};
use crate::revision::KnownPeer;
use crate::server::Server;
use crate::server::answer::{PendingResponse, write_error};
use crate::server::offer::Offer;
use crate::server::subscriptions::Subscriber;
use crate::wire::{Body, Envelope, Invalid, Message, RpcError, parse, parse_again, quoted};

/// One peer of a server: what it has said of itself, and its messages one at a time.
///
/// Requests of the modern era say with each message who is asking, so for them nothing is kept; a legacy peer has a
/// handshake. Both may share a connection.
#[derive(Debug)]
pub struct Connection {
    server: Server,
    handshake: Handshake,
    modern: KnownPeer,
    /// What the server offered when it was last asked.
    offer: Arc<Offer>,
    subscriber: Subscriber,
    extensions: Extensions,
    outbox: Outbox,
    outgoing: Outgoing,
    /// How many calls may begin now.
    room: usize,
    /// Whether the peer has calls in flight.
    busy: bool,
    /// Places in the budget of the server that have been taken for the next message.
    places: Option<OwnedSemaphorePermit>,
    /// How many calls the message begins that was held last.
    wanted: usize,
    /// Subscriptions and calls take turns in sending.
    calls_first: bool,
    /// The peer may begin its session again.
    restarts: bool,
    /// How often it has.
    session: u64,
}

/// What became of a message.
#[derive(Debug)]
pub enum Handled {
    /// It is dealt with; if it had to be answered, the answer has been written.
    Complete,
    /// The answer takes longer.
    Pending(PendingResponse),
    /// The peer takes back a request, which should be dropped without an answer.
    Cancelled(RequestId),
    /// Nothing has been done: the message begins more calls than there is [room](Connection::set_call_capacity) for, here or in the
    /// [whole server](crate::Limits::server_calls_in_flight). It may be received again later. The id is that of its request,
    /// if it is a single one.
    Deferred(Option<RequestId>),
    /// The peer has sent `initialize` again, as bridges do for each of their own clients; it has been answered. What belongs
    /// to the session before should be dropped: its calls in flight, without answers, and the messages that are held.
    Restarted,
}

impl Connection {
    pub(crate) fn new(server: Server) -> Self {
        let (outbox, outgoing) = outbox(server.limits());
        let (handshake, modern) = (Handshake::NotBegun, KnownPeer::default());
        Self {
            offer: server.shared.offers.current(),
            subscriber: Subscriber::default(),
            server,
            handshake,
            modern,
            extensions: Extensions::new(),
            outbox,
            outgoing,
            room: usize::MAX,
            busy: false,
            places: None,
            wanted: 0,
            calls_first: true,
            restarts: true,
            session: 0,
        }
    }

    /// The same, for a peer whose next session has a connection of its own.
    pub(crate) fn for_one_session(mut self) -> Self {
        self.restarts = false;
        self
    }

    /// The server at this end.
    pub fn server(&self) -> &Server {
        &self.server
    }

    /// What comes with the calls of this connection from outside of the protocol, such as the
    /// [`Principal`](crate::Principal) that a transport has authenticated.
    ///
    /// A call has what is here when its message is received.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.extensions
    }

    /// Takes one message, without its line end, and appends its answer to `out` if it is ready at once.
    ///
    /// A message that cannot be understood is answered with an error; it never ends the connection. Afterwards there may
    /// be something [outgoing](Connection::poll_outgoing).
    pub fn handle_message(&mut self, message: &[u8], out: &mut Vec<u8>) -> Handled {
        let modern = self.modern.clone();
        let body = parse_again(message, self.server.limits(), modern.meta());
        self.handle_body(body, out)
    }

    /// As [`Connection::handle_message`], for what has been read already.
    pub(crate) fn handle_body(&mut self, body: Body<'_>, out: &mut Vec<u8>) -> Handled {
        let received = match body {
            Body::One(message) => self.one(message, out),
            Body::Batch(messages) => self.batch(&messages, out, Self::one),
        };
        if !matches!(received, Handled::Deferred(_)) {
            self.places = None;
        }
        received
    }

    /// The next message to the peer that is not the answer to a call: what a call in flight sends, which belongs before all
    /// answers that come out later, and what the peer has subscribed to.
    ///
    /// A request for a subscription is answered here too, when the server closes: first its result, then a notification
    /// that it is cancelled, which belongs on transports where many requests share a stream only.
    pub fn poll_outgoing(&mut self, context: &mut task::Context<'_>) -> Poll<Vec<u8>> {
        let (server, subscriber) = (&self.server, &mut self.subscriber);
        if !self.calls_first {
            if let Poll::Ready(message) = subscriber.poll_next(server, context) {
                self.calls_first = true;
                return Poll::Ready(message);
            }
        }
        if let Poll::Ready(message) = self.outgoing.poll_next(context) {
            self.calls_first = false;
            return Poll::Ready(message);
        }
        if self.calls_first {
            return subscriber.poll_next(server, context);
        }
        Poll::Pending
    }

    /// The next message that a call in flight sends to the peer, without waiting.
    pub fn next_outgoing(&mut self) -> Option<Vec<u8>> {
        self.outgoing.next()
    }

    /// Whether calls wait for answers of the peer, which come as messages.
    pub fn has_pending_requests(&self) -> bool {
        self.outbox.requests().are_open()
    }

    /// Sets how many calls may begin with the next message; without that, as many as the server has room for. A message that
    /// begins more is [held](Handled::Deferred).
    pub fn set_call_capacity(&mut self, calls: usize) {
        self.room = calls;
    }

    /// Whether a `subscriptions/listen` of the peer has neither been cancelled nor had its result.
    pub fn is_listening(&self) -> bool {
        self.subscriber.is_listening()
    }

    /// Answers a message that was too long to be read.
    pub fn reject_oversized(&self, out: &mut Vec<u8>) {
        let limit = self.server.limits().message_bytes;
        let error = RpcError::new(
            treenail_schema::error_code::PARSE_ERROR,
            format!("the message is longer than {limit} bytes"),
        );
        write_error(out, None, &error);
    }

    /// Answers a message for which there is no room, now or later.
    pub fn reject_over_capacity(&self, message: &[u8], out: &mut Vec<u8>) {
        let limits = self.server.limits();
        let limit = if self.has_places(1) {
            limits.calls_in_flight
        } else {
            limits.server_calls_in_flight
        };
        let error = RpcError::internal(format!(
            "{limit} calls are in flight already, and as many wait as may"
        ));
        match parse(message, self.server.limits()) {
            Body::One(Ok(Message::Request(id, _))) => write_error(out, Some(id), &error),
            _ => write_error(out, None, &error),
        }
    }

    /// Answers one message.
    pub(crate) fn one(
        &mut self,
        message: Result<Message<'_>, Invalid<'_>>,
        out: &mut Vec<u8>,
    ) -> Handled {
        match message {
            Ok(Message::Request(id, envelope)) if !self.has_room() && begins_call(&envelope) => {
                self.wanted = 1;
                Handled::Deferred(serde_json::from_str(id).ok())
            }
            Ok(Message::Request(id, envelope)) => {
                let session = self.session;
                match self.request(id, &envelope, out) {
                    Some(request) => {
                        let request = request.with_place(self.take_place());
                        Handled::Pending(PendingResponse::one(request))
                    }
                    None if self.session != session => Handled::Restarted,
                    None => Handled::Complete,
                }
            }
            Ok(Message::Notification(envelope)) => self.notification(&envelope),
            Ok(Message::Response(id, answer)) => {
                self.outbox.requests().answered(id, answer);
                Handled::Complete
            }
            Err(invalid) => {
                write_error(out, invalid.id, &invalid.error);
                Handled::Complete
            }
        }
    }

    fn notification(&mut self, envelope: &Envelope<'_>) -> Handled {
        match (&*envelope.method, &self.handshake) {
            ("notifications/initialized", Handshake::Answered(peer)) => {
                self.handshake = Handshake::Finished(Arc::clone(peer));
                self.subscriber.begin_legacy(&self.server);
            }
            ("notifications/cancelled", _) => {
                let Some(id) = envelope.params.request_id else {
                    return Handled::Complete;
                };
                if self.subscriber.cancel(&self.server, id) {
                    return Handled::Complete;
                }
                return serde_json::from_str(id).map_or(Handled::Complete, Handled::Cancelled);
            }
            (other, _) => tracing::debug!(method = quoted(other), "a notification was ignored"),
        }
        Handled::Complete
    }
}

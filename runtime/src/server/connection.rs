//! One connection: which revision its peer speaks, and the answer to each of its messages.

use std::sync::Arc;
use std::task::{self, Poll, Waker};

use treenail_schema::method::{self, Direction};
use treenail_schema::{InitializeRequestParams, RequestId, Revision};

use crate::ask::Origin;
use crate::call::Call;
use crate::extensions::{Extensions, Principal};
use crate::outbox::{Outbox, Outgoing, outbox};
use crate::respond::Handler;
use crate::revision::{KnownPeer, Peer, negotiate, read_log_level};
use crate::server::Server;
use crate::server::answer::{
    PendingAnswer, PendingRequest, answer, close_batch, write_error, write_result,
};
use crate::server::offer::{Asked, Offer};
use crate::server::subscriptions::Subscriber;
use crate::wire::{
    Body, Envelope, Invalid, Message, Params, RpcError, object, parse, parse_element,
};

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
    /// Subscriptions and calls take turns in sending.
    calls_first: bool,
}

/// How far the handshake of the legacy era is.
#[derive(Clone, Debug)]
enum Handshake {
    NotBegun,
    Answered(Arc<Peer>),
    Finished(Arc<Peer>),
}

/// What became of a message.
#[derive(Debug)]
pub enum Received {
    /// It is dealt with; if it had to be answered, the answer has been written.
    Done,
    /// The answer takes longer.
    Pending(PendingAnswer),
    /// The peer takes back a request, which should be dropped without an answer.
    Cancelled(RequestId),
    /// Nothing has been done: the message begins more calls than there is [room](Connection::set_room) for. It may be
    /// received again later. The id is that of its request, if it is a single one.
    Held(Option<RequestId>),
}

/// What became of a request: its answer has been written, or it goes on.
type Answered = Option<PendingRequest>;

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
            calls_first: true,
        }
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
    pub fn receive(&mut self, message: &[u8], out: &mut Vec<u8>) -> Received {
        self.receive_body(parse(message, self.server.limits().message_depth), out)
    }

    /// As [`Connection::receive`], for what has been read already.
    pub(crate) fn receive_body(&mut self, body: Body<'_>, out: &mut Vec<u8>) -> Received {
        match body {
            Body::One(message) => self.one(message, out),
            Body::Batch(messages) => self.batch(&messages, out),
        }
    }

    /// The peer of the modern era that a request's `_meta` tells of, if it tells of one.
    #[cfg(feature = "http")]
    pub(crate) fn identify(&mut self, meta: &str) -> Result<Option<Arc<Peer>>, RpcError> {
        self.modern.identify(meta)
    }

    /// A connection to the same peer for one message, so that what comes of it is told apart. What is answered on one
    /// counts on the other; subscriptions stay here.
    #[cfg(feature = "http")]
    pub(crate) fn branch(&self) -> Self {
        let (outbox, outgoing) = self.outbox.sibling(self.server.limits());
        Self {
            server: self.server.clone(),
            handshake: self.handshake.clone(),
            modern: KnownPeer::default(),
            offer: Arc::clone(&self.offer),
            subscriber: Subscriber::default(),
            extensions: Extensions::new(),
            outbox,
            outgoing,
            room: usize::MAX,
            calls_first: true,
        }
    }

    /// Exchanges the subscriptions of two connections to one peer.
    #[cfg(feature = "http")]
    pub(crate) fn swap_subscriptions(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.subscriber, &mut other.subscriber);
    }

    /// The revision that the handshake has settled.
    #[cfg(feature = "http")]
    pub(crate) fn legacy_revision(&self) -> Option<Revision> {
        self.legacy_peer().map(|peer| peer.revision())
    }

    /// The arguments of a tool that clients repeat in headers.
    #[cfg(feature = "http")]
    pub(crate) fn mirrors(&mut self, tool: &str) -> &[crate::tool::mirror::Mirror] {
        self.server.shared.offers.refresh(&mut self.offer);
        self.offer.mirrors(tool)
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
    pub fn awaits_answers(&self) -> bool {
        self.outbox.requests().are_open()
    }

    /// Sets how many calls may begin with the next message; without that, any number. A message that begins more is
    /// [held](Received::Held).
    pub fn set_room(&mut self, calls: usize) {
        self.room = calls;
    }

    /// Whether a `subscriptions/listen` of the peer has neither been cancelled nor had its result.
    pub fn is_listening(&self) -> bool {
        self.subscriber.is_listening()
    }

    /// Answers a message that was too long to be read.
    pub fn refuse_too_long(&self, out: &mut Vec<u8>) {
        let limit = self.server.limits().message_bytes;
        let error = RpcError::new(
            treenail_schema::error_code::PARSE_ERROR,
            format!("the message is longer than {limit} bytes"),
        );
        write_error(out, None, &error);
    }

    /// Answers a message for which there is no room, now or later.
    pub fn refuse_held(&self, message: &[u8], out: &mut Vec<u8>) {
        let limit = self.server.limits().calls_in_flight;
        let error = RpcError::internal(format!(
            "{limit} calls are in flight already, and as many wait as may"
        ));
        match parse(message, self.server.limits().message_depth) {
            Body::One(Ok(Message::Request(id, _))) => write_error(out, Some(id), &error),
            _ => write_error(out, None, &error),
        }
    }

    fn one(&mut self, message: Result<Message<'_>, Invalid<'_>>, out: &mut Vec<u8>) -> Received {
        match message {
            Ok(Message::Request(id, envelope)) if self.room == 0 && begins_call(&envelope) => {
                Received::Held(serde_json::from_str(id).ok())
            }
            Ok(Message::Request(id, envelope)) => match self.request(id, &envelope, out) {
                Some(request) => Received::Pending(PendingAnswer::one(id, request)),
                None => Received::Done,
            },
            Ok(Message::Notification(envelope)) => self.notification(&envelope),
            Ok(Message::Response(id, answer)) => {
                self.outbox.requests().answered(id, answer);
                Received::Done
            }
            Err(invalid) => {
                write_error(out, invalid.id, &invalid.error);
                Received::Done
            }
        }
    }

    /// Answers a batch with one array, as revision 2025-03-26 has it.
    fn batch(&mut self, messages: &[&str], out: &mut Vec<u8>) -> Received {
        let messages = match self.accept_batch(messages) {
            Ok(messages) => messages,
            Err(error) => {
                write_error(out, None, &error);
                return Received::Done;
            }
        };
        if calls(&messages) > self.room {
            return Received::Held(None);
        }
        let mut answers = Vec::new();
        let mut requests = Vec::new();
        for message in messages {
            let length = answers.len();
            let message = match message {
                Ok(Message::Request(id, envelope)) if envelope.method == "initialize" => {
                    let error = RpcError::invalid_request("`initialize` cannot be part of a batch");
                    Err(Invalid {
                        id: Some(id),
                        error,
                    })
                }
                other => other,
            };
            if let Received::Pending(answer) = self.one(message, &mut answers) {
                requests.append(&mut answer.into_requests());
            }
            if answers.len() > length {
                answers.push(b',');
            }
        }
        if !requests.is_empty() {
            return Received::Pending(PendingAnswer::batch(requests, answers));
        }
        if !answers.is_empty() {
            close_batch(&mut answers);
            out.append(&mut answers);
        }
        Received::Done
    }

    /// The messages of a batch, if this peer may send it.
    fn accept_batch<'a>(
        &self,
        messages: &[&'a str],
    ) -> Result<Vec<Result<Message<'a>, Invalid<'a>>>, RpcError> {
        let limits = self.server.limits();
        match self.legacy_peer() {
            Some(peer) if peer.revision() == Revision::V2025_03_26 => {}
            _ => {
                return Err(RpcError::invalid_request(
                    "batches belong to revision 2025-03-26 only",
                ));
            }
        }
        let most = limits.batch_messages;
        if messages.is_empty() {
            return Err(RpcError::invalid_request(
                "a batch has at least one message",
            ));
        }
        if messages.len() > most {
            return Err(RpcError::invalid_request(format!(
                "a batch has at most {most} messages"
            )));
        }
        let messages: Vec<_> = messages
            .iter()
            .map(|message| parse_element(message))
            .collect();
        let most = limits.calls_in_flight.max(1);
        if calls(&messages) > most {
            return Err(RpcError::invalid_request(format!(
                "a batch has at most {most} calls"
            )));
        }
        Ok(messages)
    }

    fn request(&mut self, id: &str, envelope: &Envelope<'_>, out: &mut Vec<u8>) -> Answered {
        match self.answer(id, envelope, out) {
            Ok(answered) => answered,
            Err(error) => {
                write_error(out, Some(id), &error);
                None
            }
        }
    }

    fn answer(
        &mut self,
        id: &str,
        envelope: &Envelope<'_>,
        out: &mut Vec<u8>,
    ) -> Result<Answered, RpcError> {
        let params = &envelope.params;
        params.check()?;
        let meta = object("_meta", params.meta)?;
        let peer = meta.map_or(Ok(None), |meta| self.modern.identify(meta))?;
        let peer = match peer {
            Some(peer) => peer,
            None if envelope.method == "initialize" => {
                self.initialize(id, params, out)?;
                return Ok(None);
            }
            None => self.legacy_caller(&envelope.method)?,
        };
        let revision = peer.revision();
        if !method::exists(&envelope.method, Direction::ClientToServer, revision) {
            return Err(RpcError::method_not_found(&envelope.method, revision));
        }
        let Self {
            server,
            offer,
            subscriber,
            ..
        } = self;
        server.shared.offers.refresh(offer);
        match &*envelope.method {
            "ping" => {}
            "logging/setLevel" if offer.logs() => {
                let level = params
                    .member("level")?
                    .ok_or_else(|| RpcError::invalid_params("`params.level` is missing"))?;
                peer.set_log_level(read_log_level(level)?);
            }
            "resources/subscribe" if offer.resources.can_be_subscribed() => {
                subscriber.subscribe(server, offer, params, revision)?;
            }
            // Also if what was subscribed to is not offered any more.
            "resources/unsubscribe" if offer.dynamic || offer.resources.can_be_subscribed() => {
                subscriber.unsubscribe(server, params)?;
            }
            "subscriptions/listen" => {
                subscriber.listen(server, offer, id, params)?;
                return Ok(None);
            }
            "server/discover" => {
                write_result(out, id, |out| {
                    out.extend_from_slice(offer.greeting(revision));
                });
                return Ok(None);
            }
            _ => return self.ask(id, envelope, &peer, out),
        }
        write_result(out, id, |out| out.extend_from_slice(b"{}"));
        Ok(None)
    }

    /// Who is asking, if the request does not say: the peer of the handshake.
    fn legacy_caller(&self, method: &str) -> Result<Arc<Peer>, RpcError> {
        match &self.handshake {
            Handshake::Finished(peer) => Ok(Arc::clone(peer)),
            Handshake::Answered(peer) if method == "ping" => Ok(Arc::clone(peer)),
            Handshake::Answered(_) => Err(RpcError::invalid_request(
                "the handshake is not finished: send `notifications/initialized` first",
            )),
            // A peer that has not said anything yet may ask whether anyone is there.
            Handshake::NotBegun if method == "ping" => Ok(Arc::new(Peer::legacy(
                Revision::LATEST_LEGACY,
                treenail_schema::ClientCapabilities::default(),
                None,
            ))),
            Handshake::NotBegun => Err(RpcError::invalid_params(
                "`params._meta` has no `io.modelcontextprotocol/protocolVersion`, and there was no `initialize` handshake",
            )),
        }
    }

    fn initialize(
        &mut self,
        id: &str,
        params: &Params<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), RpcError> {
        if self.legacy_peer().is_some() {
            return Err(RpcError::invalid_request(
                "`initialize` was answered already on this connection",
            ));
        }
        let text = params
            .text
            .ok_or_else(|| RpcError::invalid_params("`params` is missing"))?;
        let params: InitializeRequestParams = serde_json::from_str(text).map_err(|error| {
            RpcError::invalid_params(format!("`params` is not what `initialize` takes: {error}"))
        })?;
        let revision = negotiate(&params.protocol_version);
        let peer = Peer::legacy(revision, params.capabilities, Some(params.client_info));
        self.handshake = Handshake::Answered(Arc::new(peer));
        self.server.shared.offers.refresh(&mut self.offer);
        let greeting = self.offer.greeting(revision);
        write_result(out, id, |out| out.extend_from_slice(greeting));
        Ok(())
    }

    fn legacy_peer(&self) -> Option<&Arc<Peer>> {
        match &self.handshake {
            Handshake::NotBegun => None,
            Handshake::Answered(peer) | Handshake::Finished(peer) => Some(peer),
        }
    }

    fn notification(&mut self, envelope: &Envelope<'_>) -> Received {
        match (&*envelope.method, &self.handshake) {
            ("notifications/initialized", Handshake::Answered(peer)) => {
                self.handshake = Handshake::Finished(Arc::clone(peer));
                self.subscriber.begin_legacy(&self.server);
            }
            ("notifications/cancelled", _) => {
                let Some(id) = envelope.params.request_id else {
                    return Received::Done;
                };
                if self.subscriber.cancel(&self.server, id) {
                    return Received::Done;
                }
                return serde_json::from_str(id).map_or(Received::Done, Received::Cancelled);
            }
            (other, _) => tracing::debug!(method = other, "a notification was ignored"),
        }
        Received::Done
    }

    /// Answers a request for something that the server offers.
    fn ask(
        &self,
        id: &str,
        envelope: &Envelope<'_>,
        peer: &Arc<Peer>,
        out: &mut Vec<u8>,
    ) -> Result<Answered, RpcError> {
        let (method, params) = (&*envelope.method, &envelope.params);
        let shared = &self.server.shared;
        let revision = peer.revision();
        match self.offer.find(method, params, revision, &shared.setup)? {
            Some(Asked::Page(page)) => {
                write_result(out, id, |out| out.extend_from_slice(&page));
                Ok(None)
            }
            Some(Asked::Function {
                handler,
                target,
                arguments,
            }) => {
                let origin = Origin {
                    principal: self.extensions.get::<Principal>().map(Principal::as_str),
                    method,
                    target: &target,
                    arguments: arguments.as_deref(),
                };
                let resumed = if peer.revision().is_modern() {
                    shared.asker.resume(&origin, params)?
                } else {
                    None
                };
                let call = Call {
                    peer,
                    id,
                    origin,
                    meta: params.meta,
                    server: &self.server,
                    outbox: &self.outbox,
                    resumed: resumed.as_ref(),
                    extensions: &self.extensions,
                    context: None,
                    turn: None,
                };
                Ok(self.handle(handler, &call, out))
            }
            None => Err(RpcError::method_not_found(method, revision)),
        }
    }

    /// Runs what answers a request, and goes on with it once.
    ///
    /// Most requests are ready then. One that is not is polled again by whoever takes it over, so no waker is lost.
    fn handle(&self, handler: &Handler, call: &Call<'_>, out: &mut Vec<u8>) -> Answered {
        let revision = call.peer.revision();
        let style = self.server.style(revision);
        let responding = answer(out, call.id, style, |result| handler(call, result))?;
        let mut request = PendingRequest::new(&self.server, revision, call.id, responding);
        let mut context = task::Context::from_waker(Waker::noop());
        request
            .poll_answer(&mut context, out)
            .is_pending()
            .then_some(request)
    }
}

/// Whether a request runs a function.
pub(crate) fn begins_call(envelope: &Envelope<'_>) -> bool {
    matches!(
        &*envelope.method,
        "tools/call" | "prompts/get" | "resources/read" | "completion/complete"
    )
}

/// How many of the messages run a function.
fn calls(messages: &[Result<Message<'_>, Invalid<'_>>]) -> usize {
    let begins = |message: &&Result<Message<'_>, Invalid<'_>>| matches!(message, Ok(Message::Request(_, envelope)) if begins_call(envelope));
    messages.iter().filter(begins).count()
}

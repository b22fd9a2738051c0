//! A message of the modern era: checked against its headers, and run on a connection of its own.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use treenail_schema::Revision;
use treenail_schema::error_code::INVALID_PARAMS;

use crate::revision::{KnownPeer, stated_version};
use crate::server::{Connection, Handled, Server, begins_call, error_code};
use crate::transport::http::exchange::Exchange;
use crate::transport::http::headers::{PROTOCOL_VERSION, Standard, check_notification};
use crate::transport::http::legacy::Sessions;
use crate::transport::http::places::{find_places, no_place};
use crate::transport::http::reply::{HttpBody, Refusal, json};
use crate::transport::http::slots::StreamSlots;
use crate::transport::http::{introduce, mirror, status};
use crate::wire::{Body, Envelope, Message, RpcError, as_string, object};

/// Whether a message belongs to the modern era: it says so itself, or its headers do.
pub(super) fn is_modern(headers: &HeaderMap, message: &Message<'_>) -> bool {
    let (Message::Request(_, envelope) | Message::Notification(envelope)) = message else {
        return is_modern_version(headers);
    };
    let meta = envelope.params.meta.filter(|meta| meta.starts_with('{'));
    is_modern_version(headers) || meta.is_some_and(|meta| stated_version(meta).is_some())
}

/// Whether the headers name a revision that has no handshake.
pub(super) fn is_modern_version(headers: &HeaderMap) -> bool {
    let version = headers.get(PROTOCOL_VERSION);
    let revision = version.and_then(|version| version.to_str().ok()?.trim().parse().ok());
    revision.is_some_and(Revision::is_modern)
}

/// The peer of the last request, whose words are not read again if the next request has the same; most have.
#[derive(Debug, Default)]
pub(super) struct LastPeer(Mutex<KnownPeer>);

impl LastPeer {
    /// Takes it over to a connection, does something that may find out about another peer, and remembers that one.
    fn lend<T>(&self, connection: &mut Connection, find: impl FnOnce(&mut Connection) -> T) -> T {
        let last = self.lock().clone();
        connection.known_peer().clone_from(&last);
        let found = find(connection);
        if !connection.known_peer().is(&last) {
            self.lock().clone_from(connection.known_peer());
        }
        found
    }

    fn lock(&self) -> MutexGuard<'_, KnownPeer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the service has for messages of the modern era.
pub(super) struct Modern<'a> {
    pub(super) server: &'a Server,
    pub(super) last: &'a LastPeer,
    pub(super) sessions: &'a Sessions,
    pub(super) slots: &'a StreamSlots,
}

impl Modern<'_> {
    /// Answers one message.
    pub(super) async fn answer(
        self,
        parts: Parts,
        message: Message<'_>,
    ) -> Result<Response<HttpBody>, Refusal> {
        match message {
            Message::Request(id, envelope) => self.request(parts, id, envelope).await,
            Message::Notification(envelope) => {
                match check_notification(&parts.headers, &envelope) {
                    Ok(()) => Ok(json(StatusCode::ACCEPTED, Vec::new())),
                    Err(error) => Err(Refusal::of(StatusCode::BAD_REQUEST, None, error)),
                }
            }
            Message::Response(..) => {
                let why = "a client has nothing to answer in the modern era";
                Err(Refusal::new(StatusCode::BAD_REQUEST, why))
            }
        }
    }

    /// Checks a request and runs it; its response is JSON unless something has to be sent before the answer.
    async fn request(
        self,
        parts: Parts,
        id: &str,
        envelope: Envelope<'_>,
    ) -> Result<Response<HttpBody>, Refusal> {
        let mut connection = self.server.connect();
        let headers = &parts.headers;
        let checked = self.last.lend(&mut connection, |connection| {
            check(connection, headers, &envelope)
        });
        checked.map_err(|error| Refusal::of(StatusCode::BAD_REQUEST, Some(id), error))?;
        introduce(&mut connection, parts);
        let mut slot = None;
        if begins_call(&envelope) {
            find_places(&connection, self.sessions, 1);
        } else if envelope.method == "subscriptions/listen" {
            let taken = self.slots.take();
            slot = Some(taken.map_err(|refusal| refusal.to(id))?);
        }
        let mut out = Vec::new();
        let message = Body::One(Ok(Message::Request(id, envelope)));
        let call = match connection.handle_body(message, &mut out) {
            Handled::Pending(call) => Some(call),
            Handled::Deferred(_) => return Err(no_place(Some(id))),
            Handled::Complete | Handled::Cancelled(_) | Handled::Restarted => None,
        };
        let answer = (!out.is_empty()).then_some(out);
        let exchange = Exchange::new(connection, call, answer).with_slot(slot);
        let response = exchange.respond(|answer| status(error_code(answer, id)));
        Ok(response.await)
    }
}

/// Checks all that decides about the status of the response before the message is looked into: the order is that of the
/// specification's table of outcomes.
fn check(
    connection: &mut Connection,
    headers: &HeaderMap,
    envelope: &Envelope<'_>,
) -> Result<(), RpcError> {
    let standard = Standard::read(headers, &envelope.method)?;
    envelope.params.check()?;
    let meta = object("_meta", envelope.params.meta)?
        .ok_or_else(|| RpcError::invalid_params("`params._meta` is missing"))?;
    let known = connection.identify(meta);
    let version = match &known {
        Ok(None) => {
            let missing = "`params._meta` has no `io.modelcontextprotocol/protocolVersion`";
            return Err(RpcError::invalid_params(missing));
        }
        Err(error) if error.code == INVALID_PARAMS => return Err(error.clone()),
        Ok(Some(peer)) => Cow::Borrowed(peer.revision().as_str()),
        Err(_) => stated_version(meta).unwrap_or(Cow::Borrowed("")),
    };
    standard.check(&version, envelope)?;
    known?;
    if envelope.method != "tools/call" {
        return Ok(());
    }
    let Some(tool) = envelope.params.name.and_then(as_string) else {
        return Ok(());
    };
    mirror::check(
        headers,
        connection.mirrors(&tool),
        envelope.params.arguments,
    )
}

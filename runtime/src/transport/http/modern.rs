//! A message of the modern era: checked against its headers, and run on a connection of its own.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use http::request::Parts;
use http::{HeaderMap, Response, StatusCode};
use treenail_schema::Revision;
use treenail_schema::error_code::INVALID_PARAMS;

use crate::revision::{KnownPeer, stated_version};
use crate::server::{Connection, Received, Server, error_code};
use crate::transport::http::exchange::Exchange;
use crate::transport::http::headers::{PROTOCOL_VERSION, Standard, check_notification};
use crate::transport::http::reply::{HttpBody, Refusal, json};
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

/// Answers one message.
pub(super) async fn answer(
    server: &Server,
    last: &LastPeer,
    parts: Parts,
    message: Message<'_>,
) -> Response<HttpBody> {
    let headers = &parts.headers;
    match message {
        Message::Request(id, envelope) => {
            let mut connection = server.connect();
            let checked = last.lend(&mut connection, |connection| {
                check(connection, headers, &envelope)
            });
            match checked {
                Ok(()) => {
                    introduce(&mut connection, parts);
                    run(connection, id, envelope).await
                }
                Err(error) => Refusal::of(StatusCode::BAD_REQUEST, Some(id), error).into_response(),
            }
        }
        Message::Notification(envelope) => match check_notification(headers, &envelope) {
            Ok(()) => json(StatusCode::ACCEPTED, Vec::new()),
            Err(error) => Refusal::of(StatusCode::BAD_REQUEST, None, error).into_response(),
        },
        Message::Response(..) => {
            let why = "a client has nothing to answer in the modern era";
            Refusal::new(StatusCode::BAD_REQUEST, why).into_response()
        }
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

/// Runs a request that has been checked; its response is JSON unless something has to be sent before the answer.
async fn run(mut connection: Connection, id: &str, envelope: Envelope<'_>) -> Response<HttpBody> {
    let mut out = Vec::new();
    let message = Body::One(Ok(Message::Request(id, envelope)));
    let received = connection.receive_body(message, &mut out);
    let call = match received {
        Received::Pending(call) => Some(call),
        Received::Done | Received::Cancelled(_) | Received::Held(_) | Received::Restarted => None,
    };
    let answer = (!out.is_empty()).then_some(out);
    Exchange::new(connection, call, answer)
        .respond(|answer| status(error_code(answer, id)))
        .await
}

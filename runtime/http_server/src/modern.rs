//! Messages of the modern era. Each is checked against its headers and handled on a new connection.

use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use treenail_runtime::internal::{Body, CachedPeer, Envelope, Message, object, stated_version};
use treenail_runtime::{Connection, Handled, RpcError, Server};
use treenail_schema::Method;
use treenail_schema::error_code::INVALID_PARAMS;

use crate::attach_extensions;
use crate::authorize::expiry;
use crate::call_permits::{over_capacity, reclaim_call_permits};
use crate::exchange::{Exchange, modern_status};
use crate::header_params::check_header_params;
use crate::headers::{StandardHeaders, check_notification, name_member};
use crate::legacy::Sessions;
use crate::response::{RESPONSE_CAPACITY, Rejection, Reply, json_response};
use crate::stream_permits::StreamPermits;

/// Returns true if a message belongs to the modern era according to its `_meta`.
pub(super) fn states_version(message: &Message<'_>) -> bool {
    let (Message::Request(_, envelope) | Message::Notification(envelope)) = message else {
        return false;
    };
    let meta = envelope.params.meta;
    meta.is_some_and(|meta| stated_version(meta).is_some())
}

/// Cache of the peer of the last request. Most requests have the same peer, which then is not parsed again.
#[derive(Debug, Default)]
pub(super) struct PeerCache(Mutex<CachedPeer>);

impl PeerCache {
    /// Returns the cached peer.
    pub(super) fn get(&self) -> CachedPeer {
        self.lock().clone()
    }

    /// Runs `action` on a connection that has the peer `cached`, and caches another peer that it has identified.
    fn with_cached_peer<T>(
        &self,
        cached: &CachedPeer,
        connection: &mut Connection,
        action: impl FnOnce(&mut Connection) -> T,
    ) -> T {
        connection.cached_peer().clone_from(cached);
        let output = action(connection);
        if !connection.cached_peer().is_same_entry(cached) {
            self.lock().clone_from(connection.cached_peer());
        }
        output
    }

    fn lock(&self) -> MutexGuard<'_, CachedPeer> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Handler for messages of the modern era.
pub(super) struct Modern<'a> {
    pub(super) server: &'a Server,
    pub(super) peer_cache: &'a PeerCache,
    /// Peer that was cached before the message was parsed.
    pub(super) cached: &'a CachedPeer,
    pub(super) sessions: &'a Sessions,
    pub(super) stream_permits: &'a StreamPermits,
}

impl Modern<'_> {
    /// Handles one message.
    pub(super) fn handle_message(
        self,
        parts: Parts,
        message: Message<'_>,
    ) -> Result<Reply, Rejection> {
        match message {
            Message::Request(id, envelope) => self.handle_request(parts, id, envelope),
            Message::Notification(envelope) => {
                match check_notification(&parts.headers, &envelope) {
                    Ok(()) => Ok(json_response(StatusCode::ACCEPTED, Bytes::new()).into()),
                    Err(error) => Err(Rejection::with_error(StatusCode::BAD_REQUEST, None, error)),
                }
            }
            Message::Response(..) => {
                let message = "responses from a client do not exist in the modern era";
                Err(Rejection::new(StatusCode::BAD_REQUEST, message))
            }
        }
    }

    /// Checks a request and runs it. The response is JSON, or an event stream if messages precede the result.
    fn handle_request(
        self,
        parts: Parts,
        id: &str,
        envelope: Envelope<'_>,
    ) -> Result<Reply, Rejection> {
        let mut connection = self.server.connect();
        if self.server.has_private_items() {
            // The check of headers depends on the caller.
            attach_extensions(&mut connection, parts.clone());
        }
        let headers = &parts.headers;
        let checked =
            self.peer_cache
                .with_cached_peer(self.cached, &mut connection, |connection| {
                    check_request(connection, headers, &envelope)
                });
        checked.map_err(|error| Rejection::with_error(StatusCode::BAD_REQUEST, Some(id), error))?;
        let expires = expiry(&parts);
        attach_extensions(&mut connection, parts);
        let mut permit = None;
        if self.server.begins_call(&envelope) {
            reclaim_call_permits(&connection, self.sessions, 1);
        } else if envelope.known == Some(Method::SubscriptionsListen) {
            let acquired = self.stream_permits.try_acquire();
            permit = Some(acquired.map_err(|rejection| rejection.with_id(id))?);
        }
        let mut out = Vec::with_capacity(RESPONSE_CAPACITY);
        let message = Body::One(Ok(Message::Request(id, envelope)));
        let call = match connection.handle_body(message, &mut out) {
            Handled::Pending(call) => Some(call.with_buffer(std::mem::take(&mut out))),
            Handled::Deferred(_) => return Err(over_capacity(Some(id))),
            _ => None,
        };
        if out.is_empty() {
            let exchange = Exchange::new(connection, call, None);
            let exchange = exchange.with_stream_permit(permit, expires, id);
            let id = Box::<str>::from(id);
            return Ok(exchange.respond(move |response| modern_status(response, &id)));
        }
        let status = modern_status(&out, id);
        // Messages that the call sent before it finished precede its response, unless its status excludes a stream.
        let first = connection.next_outgoing();
        Ok(Reply::Ready(
            match first.filter(|_| status == StatusCode::OK) {
                None => json_response(status, out),
                Some(first) => Exchange::new(connection, None, Some(out)).stream(first),
            },
        ))
    }
}

/// Performs the checks that determine the HTTP status, before the message is handled. Their order is that of the table of
/// outcomes in the specification.
fn check_request(
    connection: &mut Connection,
    headers: &HeaderMap,
    envelope: &Envelope<'_>,
) -> Result<(), RpcError> {
    let member = name_member(connection.server(), &envelope.method);
    let member = member.as_deref();
    let standard_headers = StandardHeaders::read(headers, member)?;
    envelope.params.check()?;
    let meta = object("_meta", envelope.params.meta)?
        .ok_or_else(|| RpcError::invalid_params("`params._meta` is missing"))?;
    let peer = connection.identify(meta);
    let version = match &peer {
        Ok(None) => {
            let missing = "`params._meta` has no `io.modelcontextprotocol/protocolVersion`";
            return Err(RpcError::invalid_params(missing));
        }
        Err(error) if error.code == INVALID_PARAMS => return Err(error.clone()),
        Ok(Some(peer)) => Cow::Borrowed(peer.revision().as_str()),
        Err(_) => stated_version(meta).unwrap_or(Cow::Borrowed("")),
    };
    standard_headers.check(&version, envelope, member)?;
    let Some(peer) = peer?.filter(|_| envelope.known == Some(Method::CallTool)) else {
        return Ok(());
    };
    let mirrors = connection.mirrors(envelope, &peer);
    check_header_params(headers, mirrors, envelope.params.arguments)
}

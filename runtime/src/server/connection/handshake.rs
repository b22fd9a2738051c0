//! The handshake of the legacy era.

use std::sync::Arc;

use treenail_schema::{ClientCapabilities, InitializeRequestParams, Method, Revision};

use super::Connection;
use crate::revision::{CachedPeer, Peer, negotiate};
use crate::server::registry::Snapshot;
use crate::server::subscriptions::Subscriber;
use crate::visibility::Caller;
use crate::wire::{Params, RpcError, shortened, write_result};

/// State of the handshake of the legacy era.
#[derive(Clone, Debug)]
pub(super) enum Handshake {
    NotBegun,
    Answered(Arc<Peer>),
    Finished(Arc<Peer>),
    /// The transport has no sessions, and each request is served without a handshake.
    #[cfg_attr(
        not(feature = "http-server"),
        expect(dead_code, reason = "other transports have sessions")
    )]
    Absent(Arc<Peer>),
}

impl Connection {
    /// Returns the peer of the handshake, for requests that do not identify their peer.
    pub(super) fn legacy_caller(&self, method: Option<Method>) -> Result<Arc<Peer>, RpcError> {
        match &self.handshake {
            Handshake::Finished(peer) | Handshake::Absent(peer) => Ok(Arc::clone(peer)),
            Handshake::Answered(peer) if method == Some(Method::Ping) => Ok(Arc::clone(peer)),
            Handshake::Answered(_) => Err(RpcError::invalid_request(
                "the handshake is not finished: send `notifications/initialized` first",
            )),
            // A peer may check that the server is alive before the handshake.
            Handshake::NotBegun if method == Some(Method::Ping) => Ok(Arc::new(Peer::legacy(
                Revision::LATEST_LEGACY,
                ClientCapabilities::default(),
                None,
            ))),
            Handshake::NotBegun => Err(RpcError::invalid_params(
                "`params._meta` has no `io.modelcontextprotocol/protocolVersion`, and there was no `initialize` handshake",
            )),
        }
    }

    pub(super) fn initialize(
        &mut self,
        base: &Arc<Snapshot>,
        id: &str,
        params: &Params<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), RpcError> {
        let has_session = !matches!(self.handshake, Handshake::Absent(_));
        let again = has_session && self.legacy_peer().is_some();
        if again && !self.restarts {
            return Err(RpcError::invalid_request(
                "`initialize` was answered already on this connection",
            ));
        }
        let text = params
            .text
            .ok_or_else(|| RpcError::invalid_params("`params` is missing"))?;
        let most = self.server.limits().handshake_bytes;
        // The weight of a text is at most so many times its length.
        if text.len() > most / (1 + VALUE) && weight(text) > most {
            return Err(RpcError::invalid_params(format!(
                "`params` takes more than {most} bytes"
            )));
        }
        let params: InitializeRequestParams = serde_json::from_str(text).map_err(|error| {
            let reason = shortened(&error.to_string());
            RpcError::invalid_params(format!("invalid `params` for `initialize`: {reason}"))
        })?;
        let revision = negotiate(&params.protocol_version);
        let peer = Peer::legacy(revision, params.capabilities, Some(params.client_info));
        let peer = Arc::new(peer);
        if again {
            self.restart();
        }
        if has_session {
            self.handshake = Handshake::Answered(Arc::clone(&peer));
            self.observe_session(revision);
        }
        let caller = Caller::new(&self.extensions, &peer);
        let view = base.view(&caller, None, &self.server.state.config);
        let snapshot = view.as_ref().unwrap_or(base);
        let result = snapshot.handshake_result(revision);
        write_result(out, id, |out| out.extend_from_slice(result));
        Ok(())
    }

    /// Drops the state of the session so far: subscriptions, pending requests, and queued messages of its calls. Later messages of
    /// these calls are dropped too.
    fn restart(&mut self) {
        self.session += 1;
        self.subscriber = Subscriber::default();
        self.modern = CachedPeer::default();
        (self.outbox, self.outgoing) = self.outbox.successor(self.server.limits());
    }

    pub(super) fn legacy_peer(&self) -> Option<&Arc<Peer>> {
        match &self.handshake {
            Handshake::NotBegun => None,
            Handshake::Answered(peer) | Handshake::Finished(peer) | Handshake::Absent(peer) => {
                Some(peer)
            }
        }
    }
}

/// Upper bound of the memory for a parsed JSON value without those in it, in bytes.
const VALUE: usize = 256;

/// Returns an upper bound of the memory for a parsed JSON text, in bytes. Small values take far more than their texts.
fn weight(text: &str) -> usize {
    let starts_value = |byte: &u8| matches!(byte, b'{' | b'[' | b',');
    let values = text.bytes().filter(|byte| starts_value(byte)).count();
    text.len().saturating_add(values.saturating_mul(VALUE))
}

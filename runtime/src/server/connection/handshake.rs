//! The handshake of the legacy era.

use std::sync::Arc;

use treenail_schema::{ClientCapabilities, InitializeRequestParams, Revision};

use super::Connection;
use crate::revision::{CachedPeer, Peer, negotiate};
use crate::server::answer::write_result;
use crate::server::subscriptions::Subscriber;
use crate::wire::{Params, RpcError, shortened};

/// How far the handshake of the legacy era is.
#[derive(Clone, Debug)]
pub(super) enum Handshake {
    NotBegun,
    Answered(Arc<Peer>),
    Finished(Arc<Peer>),
}

impl Connection {
    /// Who is asking, if the request does not say: the peer of the handshake.
    pub(super) fn legacy_caller(&self, method: &str) -> Result<Arc<Peer>, RpcError> {
        match &self.handshake {
            Handshake::Finished(peer) => Ok(Arc::clone(peer)),
            Handshake::Answered(peer) if method == "ping" => Ok(Arc::clone(peer)),
            Handshake::Answered(_) => Err(RpcError::invalid_request(
                "the handshake is not finished: send `notifications/initialized` first",
            )),
            // A peer that has not said anything yet may ask whether anyone is there.
            Handshake::NotBegun if method == "ping" => Ok(Arc::new(Peer::legacy(
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
        id: &str,
        params: &Params<'_>,
        out: &mut Vec<u8>,
    ) -> Result<(), RpcError> {
        let again = self.legacy_peer().is_some();
        if again && !self.restarts {
            return Err(RpcError::invalid_request(
                "`initialize` was answered already on this connection",
            ));
        }
        let text = params
            .text
            .ok_or_else(|| RpcError::invalid_params("`params` is missing"))?;
        let most = self.server.limits().handshake_bytes;
        if weight(text) > most {
            return Err(RpcError::invalid_params(format!(
                "`params` takes more than the {most} bytes that a client may say of itself"
            )));
        }
        let params: InitializeRequestParams = serde_json::from_str(text).map_err(|error| {
            let reason = shortened(&error.to_string());
            RpcError::invalid_params(format!("`params` is not what `initialize` takes: {reason}"))
        })?;
        let revision = negotiate(&params.protocol_version);
        let peer = Peer::legacy(revision, params.capabilities, Some(params.client_info));
        if again {
            self.restart();
        }
        self.handshake = Handshake::Answered(Arc::new(peer));
        self.server.shared.offers.refresh(&mut self.offer);
        let greeting = self.offer.greeting(revision);
        write_result(out, id, |out| out.extend_from_slice(greeting));
        Ok(())
    }

    /// Forgets what belongs to the session so far: subscriptions, questions, and messages of calls that wait to be sent.
    /// What its calls send from now on goes nowhere.
    fn restart(&mut self) {
        self.session += 1;
        self.subscriber = Subscriber::default();
        self.modern = CachedPeer::default();
        (self.outbox, self.outgoing) = self.outbox.successor(self.server.limits());
    }

    pub(super) fn legacy_peer(&self) -> Option<&Arc<Peer>> {
        match &self.handshake {
            Handshake::NotBegun => None,
            Handshake::Answered(peer) | Handshake::Finished(peer) => Some(peer),
        }
    }
}

/// How many bytes a JSON text may take once it has been read: small values take far more than their texts.
fn weight(text: &str) -> usize {
    const VALUE: usize = 256;
    let begins = |byte: &u8| matches!(byte, b'{' | b'[' | b',');
    let values = text.bytes().filter(|byte| begins(byte)).count();
    text.len().saturating_add(values.saturating_mul(VALUE))
}

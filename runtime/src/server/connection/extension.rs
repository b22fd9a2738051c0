//! Requests of extensions: their methods, and their topics in requests for subscriptions.

use std::sync::Arc;

use treenail_schema::Method;

use super::Connection;
use super::request::{Outcome, check_progress_token, check_scopes};
use crate::call::{CallTarget, CallValue};
use crate::context::Context;
use crate::extension::{require, wanted_topics};
use crate::extensions::Principal;
use crate::request_id::{CallId, ReceivedId};
use crate::revision::Peer;
use crate::server::registry::Snapshot;
use crate::server::subscriptions::Audience;
use crate::wire::{Envelope, Params, RpcError};

impl Connection {
    /// Handles a request whose method is not one of the protocol itself.
    #[cold]
    pub(super) fn dispatch_extension(
        &self,
        id: &str,
        envelope: &Envelope<'_>,
        peer: &Arc<Peer>,
        out: &mut Vec<u8>,
    ) -> Result<Outcome, RpcError> {
        let (params, revision) = (&envelope.params, peer.revision());
        let (extension, method) = self
            .registry
            .extensions()
            .find(&envelope.method, revision)
            .ok_or_else(|| RpcError::method_not_found(&envelope.method, revision))?;
        if method.is_gated() {
            require(peer.capabilities(), extension)?;
        }
        check_progress_token(params.meta, self.server.limits().progress_token_bytes)?;
        let received = ReceivedId::new(id);
        let target = self.extension_target(&envelope.method, params);
        let call = self.call(peer, CallId::Received(&received), target, params.meta);
        Ok(self.poll_once(method.handler(), &call, out))
    }

    /// Checks the scopes that every request needs, for a method of an extension.
    pub(super) fn check_extension_scopes(
        &mut self,
        snapshot: &Snapshot,
        envelope: &Envelope<'_>,
    ) -> Result<(), RpcError> {
        if snapshot.requires_scopes && self.server.begins_call(envelope) {
            check_scopes(&mut self.extensions, snapshot, envelope)?;
        }
        Ok(())
    }

    /// Handles `subscriptions/listen`.
    pub(super) fn listen(
        &mut self,
        id: &str,
        params: &Params<'_>,
        peer: &Arc<Peer>,
        snapshot: &Snapshot,
    ) -> Result<Outcome, RpcError> {
        let registry = Arc::clone(&self.registry);
        let limits = self.server.limits();
        let members = registry.extensions().members();
        let wanted = wanted_topics(members, params, peer.capabilities(), limits)?;
        let topics = (!wanted.is_empty()).then(|| {
            let received = ReceivedId::new(id);
            let target = self.extension_target(Method::SubscriptionsListen.as_str(), params);
            let call = self.call(peer, CallId::Received(&received), target, params.meta);
            wanted.into_topics(&Context::from_call(&call))
        });
        self.subscriber
            .listen(&self.server, snapshot, (id, params), topics)?;
        let audience = Audience::new(&self.extensions, peer);
        self.subscriber.attend(&self.server, audience);
        Ok(None)
    }

    fn extension_target<'a>(&'a self, method: &'a str, params: &Params<'a>) -> CallTarget<'a> {
        CallTarget {
            principal: self.extensions.get::<Principal>().map(Principal::as_str),
            method: None,
            name: method,
            arguments: params.text,
        }
    }
}

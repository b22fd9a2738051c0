//! Parts of a connection for transports with a stream for each request.

use std::sync::Arc;
use std::task::Waker;

use treenail_schema::{ClientCapabilities, Revision};

use super::Connection;
use super::handshake::Handshake;
use crate::revision::{CachedPeer, Peer};
use crate::scope::Access;
use crate::server::observe::Outcome;
use crate::server::subscriptions::SubscriptionMessage;
use crate::tool::header_params::HeaderParam;
use crate::wire::{Envelope, Message, RpcError, as_string, parse_element};

#[doc(hidden)]
impl Connection {
    /// Returns the peer of the modern era that the `_meta` of a request describes, if it describes one.
    pub fn identify(&mut self, meta: &str) -> Result<Option<Arc<Peer>>, RpcError> {
        self.modern.identify(meta)
    }

    /// Returns the last modern peer, of this connection or of one that it was copied from.
    pub fn cached_peer(&mut self) -> &mut CachedPeer {
        &mut self.modern
    }

    /// Makes the connection serve requests of a legacy revision without a handshake, for transports without sessions. `initialize`
    /// does not change it. No log message is sent to the peer, because it can set no level.
    #[must_use]
    pub fn without_session(mut self, revision: Revision) -> Self {
        let peer = Peer::without_logs(revision, ClientCapabilities::default(), None);
        self.handshake = Handshake::Absent(Arc::new(peer));
        self
    }

    /// Returns `true` if the extension `id` of the server has a method that only clients with the extension can call.
    pub fn has_gated_methods(&self, id: &str) -> bool {
        self.registry.extensions().has_gated_methods(id)
    }

    /// Makes a connection to the same peer for one message, with an outgoing queue of its own. Both share the pending requests to the
    /// peer; subscriptions stay on this connection.
    ///
    /// The branch has the current snapshot of the registry, for owners that make it under a lock.
    #[must_use]
    pub fn branch(&mut self) -> Self {
        let queue = self.outbox.sibling(self.server.limits());
        let registry = Arc::clone(&self.registry);
        Self {
            snapshot: self.snapshot.branch(&registry),
            handshake: self.handshake.clone(),
            restarts: false,
            session: self.session,
            transport: self.transport,
            session_id: self.session_id.clone(),
            ..Self::with_registry(registry, self.server.clone(), queue)
        }
    }

    /// Returns the entries that the last messages have used, which an edit may have removed since. Dropping them may run the user's
    /// code. Owners do that when the connection becomes idle, and before messages that they handle under a lock.
    pub fn release(&mut self) -> impl Sized + use<> {
        (self.prepared.take(), self.snapshot.release())
    }

    /// Lets functions send requests on the stream of the session, whose connection is `session` and which the peer reads.
    pub fn join_session(&mut self, session: &Self) {
        self.outbox.join_session(&session.outbox);
    }

    /// Exchanges the subscriptions of two connections to one peer.
    pub fn swap_subscriptions(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.subscriber, &mut other.subscriber);
    }

    /// Marks all that the peer has subscribed to as changed, because notifications to it were lost. Returns the waker of the owner
    /// if there is something new to send.
    pub fn resync_subscriptions(&mut self) -> Option<Waker> {
        self.subscriber.resync()
    }

    /// Ends the subscription that the request `id` started, without its pending notifications. Returns its result, or `None` if
    /// there is no such subscription.
    pub fn end_subscription(&mut self, id: &str) -> Option<Vec<u8>> {
        let is_ended = self
            .subscriber
            .end(&self.server, id, Some(&Outcome::Success));
        let info = &self.server.state.config.info;
        is_ended.then(|| SubscriptionMessage::Ended.write(Some(id), info))
    }

    /// Takes over the state of the handshake from the connection of the session.
    pub fn renew_handshake(&mut self, session: &Self) {
        self.handshake = session.handshake.clone();
    }

    /// Returns the revision that the handshake has negotiated.
    pub fn legacy_revision(&self) -> Option<Revision> {
        self.legacy_peer().map(|peer| peer.revision())
    }

    /// Returns the arguments of a tool that clients repeat in HTTP headers, unless it is hidden from the caller. The extensions
    /// of the request have been attached.
    pub fn mirrors(&mut self, envelope: &Envelope<'_>, peer: &Peer) -> &[HeaderParam] {
        let Some(tool) = envelope.params.name.and_then(as_string) else {
            return &[];
        };
        let snapshot = self.snapshot.take(&self.registry);
        self.prepared = self.view(&snapshot, peer, envelope);
        let snapshot = self.snapshot.retain(snapshot);
        self.prepared.as_ref().unwrap_or(snapshot).mirrors(&tool)
    }

    /// Makes the view of the caller of a request, for owners that handle the request under a lock.
    pub fn prepare(&mut self, envelope: &Envelope<'_>) {
        let peer = match self.legacy_peer() {
            Some(peer) => Arc::clone(peer),
            None => return,
        };
        let snapshot = self.snapshot.take(&self.registry);
        self.prepared = self.view(&snapshot, &peer, envelope);
        self.snapshot.retain(snapshot);
    }

    /// Replaces the caller of the subscriptions by that of a branch.
    pub fn renew_caller(&mut self, branch: &Self) {
        self.subscriber.renew_caller(&branch.extensions);
    }

    /// Takes over the caller and the prepared view of a branch.
    pub fn adopt_caller(&mut self, branch: &mut Self) {
        self.extensions = branch.extensions.clone();
        self.prepared = branch.prepared.take();
    }

    /// Checks the scopes of all messages of a batch, before any of its functions runs. Items that the caller does not see have
    /// none.
    pub fn check_batch_scopes(&mut self, messages: &[&str]) -> Result<(), RpcError> {
        let Some(access) = self.extensions.get::<Access>().cloned() else {
            return Ok(());
        };
        let limits = self.server.limits().clone();
        let mut required = Vec::new();
        for message in messages.iter().take(limits.batch_messages) {
            let Ok(Message::Request(_, envelope)) = parse_element(message, &limits) else {
                continue;
            };
            self.prepare(&envelope);
            let view = self.prepared.take();
            let base = self.snapshot.take(&self.registry);
            let base = self.snapshot.retain(base);
            let snapshot = view.as_ref().unwrap_or(base);
            let scopes = snapshot.required_scopes(&envelope).into_iter();
            required.extend(scopes.cloned());
        }
        access.check_request(required.iter().collect()).map(drop)
    }
}

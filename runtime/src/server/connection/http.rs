//! Parts of a connection for transports with a stream for each request.

use std::sync::Arc;

use treenail_schema::Revision;

use super::Connection;
use crate::extensions::Extensions;
use crate::revision::{CachedPeer, Peer};
use crate::server::observe::SessionObservation;
use crate::server::subscriptions::Subscriber;
use crate::tool::header_params::HeaderParam;
use crate::wire::RpcError;

impl Connection {
    /// Returns the peer of the modern era that the `_meta` of a request describes, if it describes one.
    pub(crate) fn identify(&mut self, meta: &str) -> Result<Option<Arc<Peer>>, RpcError> {
        self.modern.identify(meta)
    }

    /// Returns the last modern peer, of this connection or of one that it was copied from.
    pub(crate) fn cached_peer(&mut self) -> &mut CachedPeer {
        &mut self.modern
    }

    /// Makes a connection to the same peer for one message, with an outgoing queue of its own. Both share the pending requests to the
    /// peer; subscriptions stay on this connection.
    pub(crate) fn branch(&self) -> Self {
        let (outbox, outgoing) = self.outbox.sibling(self.server.limits());
        Self {
            server: self.server.clone(),
            handshake: self.handshake.clone(),
            modern: CachedPeer::default(),
            registry: Arc::clone(&self.registry),
            snapshot: Arc::clone(&self.snapshot),
            subscriber: Subscriber::default(),
            extensions: Extensions::new(),
            outbox,
            outgoing,
            room: usize::MAX,
            busy: false,
            places: None,
            wanted: 0,
            calls_first: true,
            restarts: false,
            session: self.session,
            is_stdio: false,
            observation: SessionObservation::default(),
        }
    }

    /// Exchanges the subscriptions of two connections to one peer.
    pub(crate) fn swap_subscriptions(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.subscriber, &mut other.subscriber);
    }

    /// Returns the revision that the handshake has negotiated.
    pub(crate) fn legacy_revision(&self) -> Option<Revision> {
        self.legacy_peer().map(|peer| peer.revision())
    }

    /// Returns the arguments of a tool that clients repeat in HTTP headers.
    pub(crate) fn mirrors(&mut self, tool: &str) -> &[HeaderParam] {
        self.registry.refresh(&mut self.snapshot);
        self.snapshot.mirrors(tool)
    }
}

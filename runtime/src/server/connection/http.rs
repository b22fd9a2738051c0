//! What a transport with a stream for each request needs of a connection.

use std::sync::Arc;

use treenail_schema::Revision;

use super::Connection;
use crate::extensions::Extensions;
use crate::revision::{KnownPeer, Peer};
use crate::server::subscriptions::Subscriber;
use crate::tool::header_params::HeaderParam;
use crate::wire::RpcError;

impl Connection {
    /// The peer of the modern era that a request's `_meta` tells of, if it tells of one.
    pub(crate) fn identify(&mut self, meta: &str) -> Result<Option<Arc<Peer>>, RpcError> {
        self.modern.identify(meta)
    }

    /// The modern peer that was seen last, here or on a connection from which it has been taken over.
    pub(crate) fn known_peer(&mut self) -> &mut KnownPeer {
        &mut self.modern
    }

    /// A connection to the same peer for one message, so that what comes of it is told apart. What is answered on one
    /// counts on the other; subscriptions stay here.
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
            busy: false,
            places: None,
            wanted: 0,
            calls_first: true,
            restarts: false,
            session: self.session,
        }
    }

    /// Exchanges the subscriptions of two connections to one peer.
    pub(crate) fn swap_subscriptions(&mut self, other: &mut Self) {
        std::mem::swap(&mut self.subscriber, &mut other.subscriber);
    }

    /// The revision that the handshake has settled.
    pub(crate) fn legacy_revision(&self) -> Option<Revision> {
        self.legacy_peer().map(|peer| peer.revision())
    }

    /// The arguments of a tool that clients repeat in headers.
    pub(crate) fn mirrors(&mut self, tool: &str) -> &[HeaderParam] {
        self.server.shared.offers.refresh(&mut self.offer);
        self.offer.mirrors(tool)
    }
}

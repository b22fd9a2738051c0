//! Review of changes for the caller of a subscription, on a server whose callers see different items.

use std::sync::Arc;

use crate::extensions::Extensions;
use crate::revision::Peer;
use crate::server::Server;
use crate::server::registry::{Registry, Snapshot};
use crate::server::subscriptions::Kinds;
use crate::visibility::Caller;

/// Caller of subscriptions, and the snapshot that it was last notified of.
#[derive(Clone, Debug)]
pub(crate) struct Audience {
    extensions: Extensions,
    peer: Arc<Peer>,
    seen: Arc<Snapshot>,
}

/// Update of a resource: its URI, and the notification.
type Update = (Arc<str>, Vec<u8>);

/// Outgoing message, or a change that may be one.
#[derive(Debug)]
pub enum Unreviewed {
    /// A message.
    Message(Vec<u8>),
    /// A change that the rules of the server judge.
    Change(Review),
}

/// Change whose visibility is not known yet.
#[derive(Debug)]
pub struct Review {
    audience: Option<Audience>,
    server: Server,
    kinds: Kinds,
    update: Option<Update>,
}

/// Visible part of a change.
#[derive(Debug)]
pub struct Decision {
    /// The lists that have changed for the caller.
    pub(super) changed: Kinds,
    /// The snapshot that they were compared with.
    pub(super) seen: Option<Arc<Snapshot>>,
    /// The notification, if its resource is visible.
    pub(super) message: Option<Vec<u8>>,
}

impl Audience {
    pub(crate) fn new(extensions: &Extensions, peer: &Arc<Peer>, seen: &Arc<Snapshot>) -> Self {
        Self {
            extensions: extensions.clone(),
            peer: Arc::clone(peer),
            seen: Arc::clone(seen),
        }
    }

    /// Returns the caller with the state of notifications of an `old` one.
    pub(super) fn after(self, old: Self) -> Self {
        Self {
            seen: old.seen,
            ..self
        }
    }

    /// Replaces the values that identify the caller, such as its token.
    #[cfg(feature = "http-server")]
    pub(super) fn renew(&mut self, extensions: &Extensions) {
        self.extensions = extensions.clone();
    }

    pub(super) fn has_seen(&mut self, snapshot: Arc<Snapshot>) {
        self.seen = snapshot;
    }

    fn view(&self, snapshot: &Arc<Snapshot>, server: &Server) -> Arc<Snapshot> {
        let caller = Caller::new(&self.extensions, &self.peer);
        let view = snapshot.view(&caller, None, &server.state.config);
        view.unwrap_or_else(|| Arc::clone(snapshot))
    }
}

impl Review {
    pub(super) fn new(
        audience: Option<&Audience>,
        server: &Server,
        kinds: Kinds,
        update: Option<Update>,
    ) -> Self {
        Self {
            audience: audience.cloned(),
            server: server.clone(),
            kinds,
            update,
        }
    }

    /// Evaluates the rules, which are the user's code.
    pub fn decide(self) -> Decision {
        let Some(audience) = &self.audience else {
            return Decision {
                changed: self.kinds,
                seen: None,
                message: self.update.map(|(_, message)| message),
            };
        };
        let current = Registry::of(&self.server).snapshot();
        let view = audience.view(&current, &self.server);
        let changed = if self.kinds == Kinds::default() {
            Vec::new()
        } else {
            view.changes_since(&audience.view(&audience.seen, &self.server))
        };
        let is_visible = |uri: &str| view.resources.is_subscribable(uri).is_some();
        let update = self.update.filter(|(uri, _)| is_visible(uri));
        Decision {
            changed: changed.into_iter().fold(Kinds::default(), Kinds::with),
            // Other lists may have unreported changes.
            seen: (self.kinds != Kinds::default()).then_some(current),
            message: update.map(|(_, message)| message),
        }
    }
}

//! Review of changes for the caller of a subscription, on a server whose callers see different items.

use std::sync::Arc;

use crate::extensions::Extensions;
use crate::revision::Peer;
use crate::server::Server;
use crate::server::registry::{Registry, Snapshot};
use crate::server::subscriptions::Kinds;
use crate::server::subscriptions::history::{Decision, OpaqueSnapshot};
use crate::visibility::Caller;

/// Caller of subscriptions.
#[derive(Clone, Debug)]
pub(crate) struct Audience {
    extensions: Extensions,
    peer: Arc<Peer>,
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
    /// Snapshots that may differ from the current one for the caller.
    snapshots: Vec<OpaqueSnapshot>,
    update: Option<Update>,
}

impl Audience {
    pub(crate) fn new(extensions: &Extensions, peer: &Arc<Peer>) -> Self {
        Self {
            extensions: extensions.clone(),
            peer: Arc::clone(peer),
        }
    }

    /// Replaces the values that identify the caller, such as its token.
    #[cfg(feature = "http-server")]
    pub(super) fn renew(&mut self, extensions: &Extensions) {
        self.extensions = extensions.clone();
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
        snapshots: Vec<OpaqueSnapshot>,
        update: Option<Update>,
    ) -> Self {
        Self {
            audience: audience.cloned(),
            server: server.clone(),
            snapshots,
            update,
        }
    }

    /// Evaluates the rules, which are the user's code.
    pub fn decide(self) -> Decision {
        let current = Registry::of(&self.server).snapshot();
        let Some(audience) = &self.audience else {
            let changes = self.snapshots.into_iter().map(|one| (one, Kinds::all()));
            return Decision {
                changes: changes.collect(),
                current,
                message: self.update.map(|(_, message)| message),
            };
        };
        let view = audience.view(&current, &self.server);
        let changes = self.snapshots.into_iter().map(|old| {
            let changed = match Arc::clone(&old).downcast() {
                Ok(old) => view.changes_since(&audience.view(&old, &self.server)),
                Err(_) => Kinds::all(),
            };
            (old, changed)
        });
        let is_visible = |uri: &str| view.resources.is_subscribable(uri).is_some();
        let update = self.update.filter(|(uri, _)| is_visible(uri));
        Decision {
            changes: changes.collect(),
            current,
            message: update.map(|(_, message)| message),
        }
    }
}

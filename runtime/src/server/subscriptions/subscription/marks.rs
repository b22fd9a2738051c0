//! Marks of a subscription: the changes that its peer has not received yet.

use std::sync::Arc;

use super::Subscription;
use crate::extension::Publication;
use crate::server::subscriptions::history::{Decision, OpaqueSnapshot, TooLong};
use crate::server::subscriptions::{Event, Kind};

impl Subscription {
    /// Marks the change of `event`, if the subscription includes it. Returns `true` if that is a new mark.
    pub(crate) fn mark(&mut self, event: &Event) -> bool {
        match event {
            Event::ListChanged(kind) => {
                let new = self.kinds.contains(*kind) && !self.pending_kinds.contains(*kind);
                if new {
                    self.pending_kinds = self.pending_kinds.with(*kind);
                }
                new
            }
            Event::ResourceUpdated(uri) => {
                let Ok(index) = self.position(uri) else {
                    return false;
                };
                let (uri, pending) = &mut self.uris[index];
                let new = !std::mem::replace(pending, true);
                if new {
                    self.pending_uris.push_back(Arc::clone(uri));
                }
                new
            }
            Event::Resync => self.mark_all(),
        }
    }

    /// Marks a message, if the subscription includes its topic. Returns `true` if that is a new mark.
    pub(crate) fn publish(&mut self, publication: &Arc<Publication>) -> bool {
        let Some((topic, _)) = self.topics.get_key_value(&*publication.key) else {
            return false;
        };
        let topic = Arc::clone(topic);
        let newest = Some(Arc::clone(publication));
        let is_new = matches!(self.topics.insert(Arc::clone(&topic), newest), Some(None));
        if is_new {
            self.pending_topics.push_back(topic);
        }
        is_new && !self.is_accepting()
    }

    /// Sets the snapshot from which on edits are marked.
    pub(in crate::server::subscriptions) fn since(&mut self, snapshot: &OpaqueSnapshot) {
        self.history.restart(snapshot, &mut Vec::new());
    }

    /// Marks an edited list, which may look the same as before to the caller of a `is_filtered` server. Returns `true` if that is
    /// a new mark. Snapshots that are not needed any more go to `removed`.
    pub(in crate::server::subscriptions) fn edited(
        &mut self,
        kind: Kind,
        snapshot: &OpaqueSnapshot,
        is_filtered: bool,
        removed: &mut Vec<OpaqueSnapshot>,
    ) -> bool {
        if !self.kinds.contains(kind) {
            return false;
        }
        let noted = if is_filtered {
            self.history.suspect(snapshot, removed)
        } else {
            let noted = self.history.note(snapshot, removed);
            noted.map(|()| self.mark(&kind.into()))
        };
        noted.unwrap_or_else(|TooLong| {
            let new = self.pending_kinds != self.kinds;
            self.pending_kinds = self.kinds;
            new
        })
    }

    /// Adds the snapshots to compare to `all`, for [`Subscription::settle`].
    pub(in crate::server::subscriptions) fn start_review(&mut self, all: &mut Vec<OpaqueSnapshot>) {
        self.history.start_review(all);
    }

    /// Marks the lists that have changed for the caller.
    pub(in crate::server::subscriptions) fn settle(&mut self, decision: &Decision) {
        let changed = self.history.settle(decision).intersection(self.kinds);
        self.pending_kinds = self.pending_kinds.union(changed);
    }

    /// Marks all its lists and URIs.
    fn mark_all(&mut self) -> bool {
        let mut new = self.pending_kinds != self.kinds;
        self.pending_kinds = self.kinds;
        for (uri, pending) in &mut self.uris {
            if !std::mem::replace(pending, true) {
                self.pending_uris.push_back(Arc::clone(uri));
                new = true;
            }
        }
        new
    }
}

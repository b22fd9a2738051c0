//! Marks of a subscription: the changes that its peer has not received yet.

use std::sync::Arc;

use super::Subscription;
use crate::extension::Publication;
use crate::server::subscriptions::history::{Decision, EditedLists, OpaqueSnapshot, TooLong};
use crate::server::subscriptions::{Event, Kinds};

impl Subscription {
    /// Marks the change of `event`, if the subscription includes it. Returns `true` if that is a new mark.
    pub(crate) fn mark(&mut self, event: &Event) -> bool {
        match event {
            Event::ListChanged(kind) => self.mark_lists(Kinds::from_iter([*kind])),
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

    /// Sets the snapshot from which on edits are marked, if it includes lists.
    pub(in crate::server::subscriptions) fn since(&mut self, snapshot: &OpaqueSnapshot) {
        if !self.kinds.is_empty() {
            self.history.restart(snapshot, &mut Vec::new());
        }
    }

    /// Marks the lists of an edit that the subscription includes. Returns `true` if that is a new mark. Snapshots that are not
    /// needed any more go to `removed`.
    pub(in crate::server::subscriptions) fn edited(
        &mut self,
        edit: &EditedLists<'_>,
        removed: &mut Vec<OpaqueSnapshot>,
    ) -> bool {
        let noted = if self.kinds.intersection(edit.kinds).is_empty() {
            let followed = self.history.follow(edit, self.kinds, removed);
            followed.map(|()| false)
        } else if edit.is_filtered {
            self.history.suspect(edit.snapshot, removed)
        } else {
            let noted = self.history.note(edit.snapshot, removed);
            noted.map(|()| self.mark_lists(edit.kinds))
        };
        noted.unwrap_or_else(|TooLong| self.mark_lists(self.kinds))
    }

    /// Marks the changed lists that the subscription includes. Returns `true` if one of them is a new mark.
    fn mark_lists(&mut self, changed: Kinds) -> bool {
        let old = self.pending_kinds;
        self.pending_kinds = old.union(changed.intersection(self.kinds));
        self.pending_kinds != old
    }

    /// Adds the snapshots to compare to `all`, for [`Subscription::settle`].
    pub(in crate::server::subscriptions) fn start_review(&mut self, all: &mut Vec<OpaqueSnapshot>) {
        self.history.start_review(all);
    }

    /// Marks the lists that have changed for the caller.
    pub(in crate::server::subscriptions) fn settle(&mut self, decision: &Decision) {
        let changed = self.history.settle(decision);
        self.mark_lists(changed);
    }

    /// Marks all its lists and URIs.
    fn mark_all(&mut self) -> bool {
        let mut new = self.mark_lists(self.kinds);
        for (uri, pending) in &mut self.uris {
            if !std::mem::replace(pending, true) {
                self.pending_uris.push_back(Arc::clone(uri));
                new = true;
            }
        }
        new
    }
}

//! Snapshots that the caller of a subscription may have listed, which a review compares with the current one.

use std::any::Any;
use std::sync::Arc;

use crate::server::subscriptions::Kinds;

/// Maximum number of snapshots: beyond it, all lists count as changed.
const MAX_SNAPSHOTS: usize = 8;

/// Snapshot of the registry. Its type is hidden here: it owns the handlers, and the hub must not depend on them.
pub(crate) type OpaqueSnapshot = Arc<dyn Any + Send + Sync>;

/// Lists after an edit.
pub(crate) struct EditedLists<'a> {
    /// The lists that the edit has changed. There may be none: templates, for example, can be in no list.
    pub(crate) kinds: Kinds,
    pub(crate) snapshot: &'a OpaqueSnapshot,
    /// Set if callers see different items, so that a list may look the same as before.
    pub(crate) is_filtered: bool,
    /// Returns the lists that differ from those of an older snapshot; `None` if that one is newer.
    pub(crate) changes_since: &'a dyn Fn(&OpaqueSnapshot) -> Option<Kinds>,
}

/// Visible part of a change.
#[derive(Debug)]
pub struct Decision {
    /// The snapshots, each with the lists that have changed since for the caller.
    pub(super) changes: Vec<(OpaqueSnapshot, Kinds)>,
    /// The snapshot that they were compared with.
    pub(super) current: OpaqueSnapshot,
    /// The notification, if its resource is visible.
    pub(super) message: Option<Vec<u8>>,
}

impl Decision {
    /// Returns the lists that have changed since `snapshot`; `None` if it was not compared.
    fn changed_since(&self, snapshot: &OpaqueSnapshot) -> Option<Kinds> {
        let mut changes = self.changes.iter();
        let found = changes.find(|(one, _)| is_same(one, snapshot));
        found.map(|(_, kinds)| *kinds)
    }
}

fn is_same(one: &OpaqueSnapshot, other: &OpaqueSnapshot) -> bool {
    std::ptr::addr_eq(Arc::as_ptr(one), Arc::as_ptr(other))
}

/// Snapshots that the caller of a subscription may have listed since its last notification, oldest first.
///
/// An edit and its reverse between two reviews leave the first snapshot, but the caller may have listed the one between.
#[derive(Debug, Default)]
pub(super) struct History {
    snapshots: Vec<OpaqueSnapshot>,
    /// Set if a list may have changed for the caller.
    suspected: bool,
    /// The number of snapshots that are being compared; 0 without a review.
    reviewed: usize,
}

/// Error of a history with too many snapshots. It has started again with the newest one.
#[derive(Debug)]
pub(super) struct TooLong;

impl History {
    /// Starts with the snapshot that the caller lists after its notification. The others go to `removed`: dropping them may run
    /// the user's code, which must not happen under a lock.
    pub(super) fn restart(&mut self, snapshot: &OpaqueSnapshot, removed: &mut Vec<OpaqueSnapshot>) {
        removed.append(&mut self.snapshots);
        *self = Self {
            snapshots: vec![Arc::clone(snapshot)],
            ..Self::default()
        };
    }

    /// Adds the snapshot of an edit of which the caller is notified in any case.
    pub(super) fn note(
        &mut self,
        snapshot: &OpaqueSnapshot,
        removed: &mut Vec<OpaqueSnapshot>,
    ) -> Result<(), TooLong> {
        if !self.suspected && self.reviewed == 0 {
            self.restart(snapshot, removed);
            return Ok(());
        }
        // Another list may have changed in the snapshots before.
        self.push(snapshot, removed)
    }

    /// Adds the snapshot of an edit that the caller may see. Returns `true` if a review becomes necessary.
    pub(super) fn suspect(
        &mut self,
        snapshot: &OpaqueSnapshot,
        removed: &mut Vec<OpaqueSnapshot>,
    ) -> Result<bool, TooLong> {
        self.push(snapshot, removed)?;
        Ok(!std::mem::replace(&mut self.suspected, true))
    }

    /// Starts again with the snapshot of an edit that has not changed the lists `kinds`: features that the edit has removed must not
    /// be retained. Concurrent edits may arrive in another order than they were made in, so the lists themselves are compared.
    ///
    /// If a list may have changed before, the snapshot is added, so that the number of older ones stays bounded.
    pub(super) fn follow(
        &mut self,
        edit: &EditedLists<'_>,
        kinds: Kinds,
        removed: &mut Vec<OpaqueSnapshot>,
    ) -> Result<(), TooLong> {
        if self.suspected || self.reviewed > 0 {
            return self.push(edit.snapshot, removed);
        }
        let is_same = |old: &OpaqueSnapshot| {
            let changed = (edit.changes_since)(old);
            changed.is_some_and(|changed| changed.intersection(kinds).is_empty())
        };
        if !self.snapshots.is_empty() && self.snapshots.iter().all(is_same) {
            self.restart(edit.snapshot, removed);
        }
        Ok(())
    }

    fn push(
        &mut self,
        snapshot: &OpaqueSnapshot,
        removed: &mut Vec<OpaqueSnapshot>,
    ) -> Result<(), TooLong> {
        let last = self.snapshots.last();
        if last.is_some_and(|last| is_same(last, snapshot)) {
            return Ok(());
        }
        if self.snapshots.len() >= MAX_SNAPSHOTS {
            self.restart(snapshot, removed);
            return Err(TooLong);
        }
        self.snapshots.push(Arc::clone(snapshot));
        Ok(())
    }

    /// Starts a review, if one is necessary: adds the snapshots to compare to `all`, each of them once.
    pub(super) fn start_review(&mut self, all: &mut Vec<OpaqueSnapshot>) {
        if std::mem::take(&mut self.suspected) {
            self.reviewed = self.snapshots.len();
        }
        for snapshot in &self.snapshots[..self.reviewed] {
            if !all.iter().any(|one| is_same(one, snapshot)) {
                all.push(Arc::clone(snapshot));
            }
        }
    }

    /// Ends a review. Returns the lists that have changed for the caller. The decision about an earlier review has no effect.
    pub(super) fn settle(&mut self, decision: &Decision) -> Kinds {
        let reviewed = &self.snapshots[..self.reviewed];
        let changed = reviewed.iter().map(|one| decision.changed_since(one));
        let changed = changed.reduce(|one, other| Some(one?.union(other?)));
        let Some(Some(changed)) = changed else {
            return Kinds::default();
        };
        let reviewed = std::mem::take(&mut self.reviewed);
        let current = Arc::clone(&decision.current);
        // The decision has references to those that are removed.
        self.snapshots.splice(..reviewed, [current]).for_each(drop);
        changed
    }
}

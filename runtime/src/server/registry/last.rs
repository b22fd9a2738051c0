//! Snapshot that a connection has used last.

use std::sync::{Arc, Weak};

use crate::server::registry::Registry;
use crate::server::registry::snapshot::Snapshot;

/// Last snapshot of a connection. One that waits for its next message retains no entries: an edit may have removed them.
#[derive(Debug, Default)]
pub(crate) struct LastSnapshot {
    /// The snapshot of the last request, until it is released.
    used: Option<Arc<Snapshot>>,
    /// The snapshot that was released last, and its version.
    released: (u64, Weak<Snapshot>),
}

impl LastSnapshot {
    /// Returns the current snapshot of `registry` for one request. It takes no lock, unless there is a new one.
    ///
    /// An old snapshot is dropped here only if it was not released.
    #[inline]
    pub(crate) fn take(&mut self, registry: &Registry) -> Arc<Snapshot> {
        if let Some(used) = self.used.take() {
            if registry.is_current(used.version) {
                return used;
            }
        }
        let (version, released) = &self.released;
        let known = registry.is_current(*version).then(|| released.upgrade());
        known.flatten().unwrap_or_else(|| registry.snapshot())
    }

    /// Retains the snapshot of a request until [`LastSnapshot::release`].
    pub(crate) fn retain(&mut self, snapshot: Arc<Snapshot>) -> &Arc<Snapshot> {
        self.used.insert(snapshot)
    }

    /// Returns one for another connection, with the current snapshot, and retains none.
    #[cfg(feature = "http-server")]
    pub(crate) fn branch(&mut self, registry: &Registry) -> Self {
        self.used = Some(self.take(registry));
        Self {
            used: self.release(),
            ..Self::default()
        }
    }

    /// Returns the snapshot of the last request, of which the connection keeps no more than a weak reference. Dropping it may run
    /// the user's code, which must not happen under a lock.
    #[inline]
    pub(crate) fn release(&mut self) -> Option<Arc<Snapshot>> {
        let used = self.used.take()?;
        let (version, released) = &mut self.released;
        // Only few requests follow an edit.
        if !std::ptr::eq(released.as_ptr(), Arc::as_ptr(&used)) {
            (*version, *released) = (used.version, Arc::downgrade(&used));
        }
        Some(used)
    }
}

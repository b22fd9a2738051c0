//! Sources of the features of a mounted server, and their removal.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use treenail_runtime::dynamic::FeatureSource;
use treenail_runtime::{Edit, Server};

use crate::lists::ListKind;
use crate::upstream::Upstream;

/// Sources of the features of a mounted server: one for each kind, so that a change of one list leaves the others as they are.
#[derive(Clone, Debug)]
pub(crate) struct Sources {
    kinds: [FeatureSource; 3],
    /// Set once the features are removed for good. It is locked during each edit, so that none follows.
    removed: Arc<Mutex<bool>>,
}

impl Sources {
    pub(crate) fn new(namespace: &str, upstream: &Arc<Upstream>) -> Self {
        // The server of the proxy must not hold a server that was unmounted.
        let upstream = Arc::downgrade(upstream);
        let source = |_| {
            let upstream = Weak::clone(&upstream);
            FeatureSource::new(namespace).absence(move || upstream.upgrade()?.absence())
        };
        Self {
            kinds: std::array::from_fn(source),
            removed: Arc::default(),
        }
    }

    pub(super) fn get(&self, kind: ListKind) -> &FeatureSource {
        &self.kinds[kind as usize]
    }

    /// Removes all features by one edit.
    pub(crate) fn clear(&self, server: &Server) -> treenail_runtime::Result<()> {
        let provide = |edit: Edit, source| edit.provide(source, []);
        server.edit(|edit| self.kinds.iter().fold(edit, provide))
    }

    /// Removes all features by one edit. Later edits have no effect.
    pub(crate) fn remove(&self, server: &Server) -> treenail_runtime::Result<()> {
        let mut removed = self.lock_removed();
        *removed = true;
        self.clear(server)
    }

    pub(super) fn lock_removed(&self) -> MutexGuard<'_, bool> {
        self.removed.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

//! Identity of a source of features.

use std::cmp::Ordering;
#[cfg(feature = "dynamic")]
use std::sync::Arc;
use std::sync::Weak;

/// Identity of a [`FeatureSource`](crate::FeatureSource): equal for all of its clones, and ordered by their creation.
#[derive(Clone, Debug)]
pub(crate) struct Provider {
    id: u64,
    source: Weak<u64>,
}

impl Provider {
    /// Creates the identity of the source that owns `id`.
    #[cfg(feature = "dynamic")]
    pub(crate) fn new(id: &Arc<u64>) -> Self {
        Self {
            id: **id,
            source: Arc::downgrade(id),
        }
    }

    /// Returns true if the source and its clones have been dropped, so it provides nothing more.
    pub(crate) fn is_dropped(&self) -> bool {
        self.source.strong_count() == 0
    }
}

impl PartialEq for Provider {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl PartialOrd for Provider {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.id.partial_cmp(&other.id)
    }
}

//! Identity of a source of features.

use std::cmp::Ordering;
use std::sync::Weak;
#[cfg(feature = "resource-sources")]
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering as Memory},
};

/// Owner of the identity of a source. All clones are the same source.
#[cfg(feature = "resource-sources")]
#[derive(Clone, Debug)]
pub(crate) struct SourceId(Arc<u64>);

#[cfg(feature = "resource-sources")]
impl SourceId {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(Arc::new(NEXT.fetch_add(1, Memory::Relaxed)))
    }

    /// Returns the identity, without the ownership.
    pub(crate) fn provider(&self) -> Provider {
        Provider {
            id: *self.0,
            source: Arc::downgrade(&self.0),
        }
    }
}

/// Identity of a [`FeatureSource`](crate::FeatureSource): equal for all of its clones, and ordered by their creation.
#[derive(Clone, Debug)]
pub(crate) struct Provider {
    id: u64,
    source: Weak<u64>,
}

impl Provider {
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

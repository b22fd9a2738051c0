//! Resources of a session that streams have subscribed to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Resources that streams have subscribed to in the legacy era. The server has one subscription for all streams of a session, so
/// all clients over the session count together.
#[derive(Debug, Default)]
pub(in crate::client) struct SubscribedUris {
    /// Number of streams for each URI.
    streams: Mutex<HashMap<Arc<str>, usize>>,
    /// Locked while a request is in flight, so that a late `resources/unsubscribe` does not end the subscription of a new stream.
    pub(in crate::client) requests: tokio::sync::Mutex<()>,
}

impl SubscribedUris {
    fn streams(&self) -> MutexGuard<'_, HashMap<Arc<str>, usize>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one stream of each URI.
    pub(in crate::client) fn add(&self, uris: &[Arc<str>]) {
        let mut streams = self.streams();
        for uri in uris {
            *streams.entry(Arc::clone(uri)).or_default() += 1;
        }
    }

    /// Removes one stream of each URI. Returns the URIs without any other one.
    pub(in crate::client) fn remove(&self, uris: &[Arc<str>]) -> Vec<Arc<str>> {
        let mut streams = self.streams();
        let mut last = Vec::new();
        for uri in uris {
            if let Some(count) = streams.get_mut(uri) {
                *count -= 1;
                if *count == 0 {
                    streams.remove(uri);
                    last.push(Arc::clone(uri));
                }
            }
        }
        last
    }

    /// Returns true if a stream has subscribed to this resource.
    pub(in crate::client) fn contains(&self, uri: &str) -> bool {
        self.streams().contains_key(uri)
    }
}

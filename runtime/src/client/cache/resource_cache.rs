//! Cache of resources that have been read.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use treenail_schema::ReadResourceResult;

use crate::client::ClientLimits;

/// Fresh results of `resources/read`, by URI. The cache belongs to one client, so it may hold private results.
#[derive(Debug, Default)]
pub(super) struct ResourceCache {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    by_uri: HashMap<Box<str>, CachedResource>,
    /// Insertion order, oldest first. A replaced entry is still listed under its old number.
    order: VecDeque<(u64, Box<str>)>,
    last_number: u64,
    bytes: usize,
}

#[derive(Debug)]
struct CachedResource {
    number: u64,
    result: Arc<ReadResourceResult>,
    bytes: usize,
    fresh_until: Instant,
    changes: u64,
}

impl ResourceCache {
    /// Returns the cached result for `uri` if it is fresh. `changes` is the number of change notifications so far.
    pub(super) fn get(&self, uri: &str, changes: u64) -> Option<Arc<ReadResourceResult>> {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.by_uri.get(uri)?;
        if entry.changes == changes && Instant::now() < entry.fresh_until {
            return Some(Arc::clone(&entry.result));
        }
        entries.remove(uri);
        None
    }

    /// Caches a result for its `ttlMs`, within the limits. `bytes` is the memory that it takes.
    pub(super) fn insert(
        &self,
        uri: &str,
        (result, bytes): (&Arc<ReadResourceResult>, usize),
        changes: u64,
        limits: &ClientLimits,
    ) {
        const MAX_TTL: Duration = Duration::from_secs(24 * 60 * 60);

        let ttl = Duration::from_millis(result.ttl_ms.unwrap_or(0)).min(MAX_TTL);
        let bytes = bytes.saturating_add(2 * uri.len());
        if ttl.is_zero() || bytes > limits.cache.bytes {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.remove(uri);
        entries.last_number += 1;
        let number = entries.last_number;
        entries.order.push_back((number, uri.into()));
        entries.bytes += bytes;
        let entry = CachedResource {
            number,
            result: Arc::clone(result),
            bytes,
            fresh_until: Instant::now() + ttl,
            changes,
        };
        entries.by_uri.insert(uri.into(), entry);
        entries.evict(limits);
    }
}

impl Entries {
    fn remove(&mut self, uri: &str) {
        if let Some(entry) = self.by_uri.remove(uri) {
            self.bytes -= entry.bytes;
        }
    }

    /// Evicts the oldest entries until the limits hold, and forgets the numbers of replaced entries once they prevail.
    fn evict(&mut self, limits: &ClientLimits) {
        let max_results = limits.cache.results;
        while self.bytes > limits.cache.bytes || self.by_uri.len() > max_results {
            let Some((number, uri)) = self.order.pop_front() else {
                break;
            };
            if is_live(&self.by_uri, number, &uri) {
                self.remove(&uri);
            }
        }
        if self.order.len() > 2 * self.by_uri.len() + 16 {
            let by_uri = &self.by_uri;
            self.order
                .retain(|(number, uri)| is_live(by_uri, *number, uri));
        }
    }
}

/// Returns true if the entry for `uri` has not been removed or replaced.
fn is_live(by_uri: &HashMap<Box<str>, CachedResource>, number: u64, uri: &str) -> bool {
    by_uri.get(uri).is_some_and(|entry| entry.number == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn replaced_entries_neither_evict_others_nor_accumulate() {
        let mut limits = ClientLimits::default();
        limits.cache.results = 4;
        let cache = ResourceCache::default();
        let result = Arc::new(ReadResourceResult::new([]).with_ttl_ms(60_000));
        let insert = |uri: &str| cache.insert(uri, (&result, 1), 0, &limits);
        insert("a:kept");
        for _ in 0..1_000 {
            insert("a:replaced");
        }
        assert!(cache.get("a:kept", 0).is_some());
        assert!(cache.entries.lock().unwrap().order.len() <= 20);
        for uri in ["a:1", "a:2", "a:3"] {
            insert(uri);
        }
        assert!(cache.get("a:kept", 0).is_none(), "the oldest is evicted");
        for uri in ["a:replaced", "a:1", "a:2", "a:3"] {
            assert!(cache.get(uri, 0).is_some(), "{uri}");
        }
    }
}

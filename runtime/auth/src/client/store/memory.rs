//! Store in memory.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::locks::KeyLocks;
use super::{Generation, StoreFuture, StoreKey, StoreLock, StoredEntry, TokenStore};

/// Store in the memory of the process, the default. Its entries end with it.
///
/// ```
/// use treenail::auth::MemoryStore;
///
/// let store = MemoryStore::new();
/// # let _ = store;
/// ```
#[cfg(feature = "oauth")]
#[derive(Debug, Default)]
pub struct MemoryStore {
    entries: Mutex<HashMap<StoreKey, StoredEntry>>,
    locks: KeyLocks,
}

impl MemoryStore {
    /// Returns an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<StoreKey, StoredEntry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TokenStore for MemoryStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredEntry>> {
        Box::pin(async move { Ok(self.entries().get(key).cloned()) })
    }

    fn store<'a>(&'a self, key: &'a StoreKey, entry: StoredEntry) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.entries().insert(key.clone(), entry);
            Ok(())
        })
    }

    fn delete<'a>(&'a self, key: &'a StoreKey, generation: Generation) -> StoreFuture<'a, bool> {
        Box::pin(async move {
            let mut entries = self.entries();
            let is_current = entries
                .get(key)
                .is_some_and(|entry| entry.generation == generation);
            if is_current {
                entries.remove(key);
            }
            Ok(is_current)
        })
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        Box::pin(async move { Ok(StoreLock::new(self.locks.lock(key).await)) })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::record::Stored;
    use super::super::{ServerRecord, load, save};
    use super::*;

    fn record(issuer: &str) -> ServerRecord {
        ServerRecord {
            resource: None,
            issuer: issuer.to_owned(),
            client_id: "client".to_owned(),
        }
    }

    // AUTH-C-117
    #[tokio::test]
    async fn only_the_generation_that_was_tried_is_deleted() {
        let (store, key) = (MemoryStore::new(), StoreKey::server("https://example.com"));
        let old = save(&store, &key, record("old")).await.expect("stored");
        let new = save(&store, &key, record("new")).await.expect("stored");
        assert!(!store.delete(&key, old.generation).await.expect("no error"));
        let loaded: Option<Stored<ServerRecord>> = load(&store, &key).await.expect("loaded");
        assert_eq!(loaded.expect("an entry").record.issuer, "new");
        assert!(store.delete(&key, new.generation).await.expect("no error"));
        let again = save(&store, &key, record("new")).await.expect("stored");
        assert_ne!(again.generation, new.generation);
    }

    // AUTH-C-116
    #[tokio::test]
    async fn a_lock_excludes_its_key_only_and_is_released_on_drop() {
        let store = Arc::new(MemoryStore::new());
        let (first, second) = (StoreKey::server("1"), StoreKey::server("2"));
        let held = store.lock(&first).await.expect("a lock");
        drop(store.lock(&second).await.expect("another key is free"));
        let waiter = tokio::spawn({
            let (store, key) = (Arc::clone(&store), first.clone());
            async move { store.lock(&key).await.map(drop) }
        });
        tokio::task::yield_now().await;
        assert!(!waiter.is_finished());
        drop(held);
        waiter.await.expect("no panic").expect("a lock");
    }

    #[test]
    fn keys_with_other_parts_have_other_texts() {
        let one = StoreKey::tokens("a", "b\",\"c", "d");
        let other = StoreKey::tokens("a", "b", "c\",\"d");
        assert_ne!(one.to_string(), other.to_string());
    }
}

//! Locks between the tasks of one process, one for each key.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use super::StoreKey;

/// Locks of keys. A lock that has neither holder nor waiter takes no memory.
#[derive(Debug, Default)]
pub(super) struct KeyLocks {
    locks: Mutex<HashMap<StoreKey, Weak<AsyncMutex<()>>>>,
}

impl KeyLocks {
    /// Waits for the lock of a key. Waiters are served in order.
    pub(super) async fn lock(&self, key: &StoreKey) -> OwnedMutexGuard<()> {
        self.of(key).lock_owned().await
    }

    fn of(&self, key: &StoreKey) -> Arc<AsyncMutex<()>> {
        let mut locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(lock) = locks.get(key).and_then(Weak::upgrade) {
            return lock;
        }
        locks.retain(|_, lock| lock.strong_count() > 0);
        let lock = Arc::default();
        locks.insert(key.clone(), Arc::downgrade(&lock));
        lock
    }
}

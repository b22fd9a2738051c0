//! Store with points before and after each change.

use std::sync::{Arc, LazyLock};
use std::time::Duration;

use tokio::sync::watch;
use treenail::tasks::{StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore};

use crate::point::{self, Changing};

/// Longest lease. A longer wake time is that of a finished task.
const LEASE: Duration = Duration::from_secs(60);

/// Whether this process has stored a task.
static STORED: LazyLock<watch::Sender<bool>> = LazyLock::new(watch::Sender::default);

/// Waits until this process has stored a task, which is that of the caller.
pub(crate) async fn stored() {
    // The sender is static.
    let _ = STORED.subscribe().wait_for(|stored| *stored).await;
}

/// Store that passes a point before and after each change.
#[derive(Debug)]
pub(crate) struct KillStore {
    store: Arc<dyn TaskStore>,
    has_leases: bool,
}

impl KillStore {
    /// Wraps a store. Without leases, each has ended from its start, so that a restarted process takes over the tasks of the killed
    /// one at once.
    pub(crate) fn new(store: Arc<dyn TaskStore>, has_leases: bool) -> Self {
        Self { store, has_leases }
    }

    fn wake(&self, wake: Duration) -> Duration {
        if self.has_leases || wake > LEASE {
            wake
        } else {
            Duration::ZERO
        }
    }
}

fn between_points<'a, T: Send + 'a>(change: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
    Box::pin(async move {
        point::pass();
        let changing = Changing::begin();
        let changed = change.await;
        drop(changing);
        point::pass();
        STORED.send_replace(true);
        changed
    })
}

impl TaskStore for KillStore {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        between_points(Box::pin(async move {
            self.store.insert(task, self.wake(wake)).await
        }))
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        self.store.get(id)
    }

    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        self.store.state(id)
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        between_points(Box::pin(async move {
            self.store.replace(task, self.wake(wake)).await
        }))
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        between_points(Box::pin(self.store.remove(id, version)))
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        self.store.due(limit)
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        self.store.list(owner, after, limit)
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage> {
        self.store.usage(owner)
    }
}

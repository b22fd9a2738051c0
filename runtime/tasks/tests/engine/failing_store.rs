//! Store that fails, or waits, on request.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use treenail::tasks::{
    MemoryStore, StoreError, StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore,
};

#[derive(Clone, Debug)]
pub(crate) struct FailingStore {
    inner: Arc<MemoryStore>,
    fails: Arc<AtomicBool>,
    /// Number of operations that have failed for that reason.
    failures: Arc<AtomicUsize>,
    /// Set while operations panic.
    panics: Arc<AtomicBool>,
    /// Task whose record cannot be read.
    damaged: Arc<Mutex<Option<TaskId>>>,
    /// Set while bodies cannot be read.
    hides_bodies: Arc<AtomicBool>,
    /// Set while the confirmations of insertions are lost.
    loses: Arc<AtomicBool>,
    /// Set while replacements are made and reported as failed, two seconds later.
    loses_changes: Arc<AtomicBool>,
    /// Set while replacements are refused.
    refuses: Arc<AtomicBool>,
    /// Time that a replacement takes, in milliseconds.
    delay: Arc<AtomicU64>,
    /// Number of due tasks beyond which a search does not end.
    searches: Arc<AtomicUsize>,
    /// Largest number of due tasks that a search has requested.
    largest_search: Arc<AtomicUsize>,
    /// Set while another process removes the due tasks that a search returns.
    loses_races: Arc<AtomicBool>,
    /// Permits of insertions.
    gate: Arc<Semaphore>,
    /// Number of insertions that were requested.
    requested: Arc<AtomicUsize>,
    /// Insertions and removals that have succeeded.
    log: Arc<Mutex<Vec<&'static str>>>,
}

impl FailingStore {
    pub(crate) fn new(inner: Arc<MemoryStore>) -> Self {
        Self {
            inner,
            fails: Arc::default(),
            failures: Arc::default(),
            panics: Arc::default(),
            damaged: Arc::default(),
            hides_bodies: Arc::default(),
            loses: Arc::default(),
            loses_changes: Arc::default(),
            refuses: Arc::default(),
            delay: Arc::default(),
            searches: Arc::new(AtomicUsize::new(usize::MAX)),
            largest_search: Arc::default(),
            loses_races: Arc::default(),
            gate: Arc::new(Semaphore::new(Semaphore::MAX_PERMITS)),
            requested: Arc::default(),
            log: Arc::default(),
        }
    }

    pub(crate) fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }

    pub(crate) fn failures(&self) -> usize {
        self.failures.load(Ordering::SeqCst)
    }

    pub(crate) fn panic(&self, panics: bool) {
        self.panics.store(panics, Ordering::SeqCst);
    }

    /// Makes the record of a task unreadable.
    pub(crate) fn damage(&self, id: &str) {
        *self.damaged.lock().unwrap() = Some(id.parse().unwrap());
    }

    pub(crate) fn hide_bodies(&self) {
        self.hides_bodies.store(true, Ordering::SeqCst);
    }

    /// Stores insertions, and reports them as failed.
    pub(crate) fn lose_confirmations(&self, loses: bool) {
        self.loses.store(loses, Ordering::SeqCst);
    }

    /// Makes the next replacement, and reports it as failed two seconds later.
    pub(crate) fn lose_change(&self) {
        self.loses_changes.store(true, Ordering::SeqCst);
    }

    /// Refuses replacements, as a full store does.
    pub(crate) fn refuse(&self, refuses: bool) {
        self.refuses.store(refuses, Ordering::SeqCst);
    }

    /// Delays replacements.
    pub(crate) fn delay(&self, delay: Duration) {
        let delay = delay.as_millis().try_into().unwrap();
        self.delay.store(delay, Ordering::SeqCst);
    }

    /// Makes searches for more tasks than `most` not end.
    pub(crate) fn limit_searches(&self, most: usize) {
        self.searches.store(most, Ordering::SeqCst);
    }

    pub(crate) fn largest_search(&self) -> usize {
        self.largest_search.load(Ordering::SeqCst)
    }

    /// Removes the due tasks that a search returns, as another process does that is faster.
    pub(crate) fn lose_races(&self) {
        self.loses_races.store(true, Ordering::SeqCst);
    }

    /// Makes the next insertions wait. Returns their permits.
    pub(crate) fn hold(&self) -> Arc<Semaphore> {
        self.gate.forget_permits(Semaphore::MAX_PERMITS);
        Arc::clone(&self.gate)
    }

    /// Waits for the request of an insertion. Time does not advance.
    pub(crate) async fn until_requested(&self) {
        while self.requested.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
    }

    /// Waits until an insertion has been followed by a removal.
    pub(crate) async fn until_removed(&self) {
        while *self.log.lock().unwrap() != ["insert", "remove"] {
            tokio::task::yield_now().await;
        }
    }

    /// Starts an operation. Some stores have done it when they return its future.
    fn run<'a, T: Send + 'a>(
        &self,
        operation: impl FnOnce() -> StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        assert!(!self.panics.load(Ordering::SeqCst), "a bug of the store");
        if self.fails.load(Ordering::SeqCst) {
            self.failures.fetch_add(1, Ordering::SeqCst);
            return Box::pin(async { Err(StoreError::Unavailable("no route to host".to_owned())) });
        }
        operation()
    }

    fn read<'a, T: Send + 'a>(
        &self,
        id: &TaskId,
        operation: impl FnOnce() -> StoreFuture<'a, T>,
    ) -> StoreFuture<'a, T> {
        if self.damaged.lock().unwrap().as_ref() == Some(id) {
            return Box::pin(async { Err(StoreError::Other("a damaged record".to_owned())) });
        }
        self.run(operation)
    }
}

impl TaskStore for FailingStore {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        self.requested.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            drop(self.gate.acquire().await);
            self.run(|| self.inner.insert(task, wake)).await?;
            if self.loses.load(Ordering::SeqCst) {
                return Err(StoreError::Unavailable("connection reset".to_owned()));
            }
            self.log.lock().unwrap().push("insert");
            Ok(())
        })
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        if self.hides_bodies.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Unavailable("no body".to_owned())) });
        }
        self.read(id, || self.inner.get(id))
    }

    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        self.read(id, || self.inner.state(id))
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        if self.refuses.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Full("no space".to_owned())) });
        }
        let replacement = self.run(|| self.inner.replace(task, wake));
        let delay = Duration::from_millis(self.delay.load(Ordering::SeqCst));
        Box::pin(async move {
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            let replaced = replacement.await?;
            if self.loses_changes.swap(false, Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_secs(2)).await;
                return Err(StoreError::Unavailable("connection reset".to_owned()));
            }
            Ok(replaced)
        })
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        let removal = self.run(|| self.inner.remove(id, version));
        Box::pin(async move {
            let removed = removal.await?;
            if removed {
                self.log.lock().unwrap().push("remove");
            }
            Ok(removed)
        })
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        if limit > self.searches.load(Ordering::SeqCst) {
            return Box::pin(std::future::pending());
        }
        self.largest_search.fetch_max(limit, Ordering::SeqCst);
        let search = self.run(|| self.inner.due(limit));
        Box::pin(async move {
            let due = search.await?;
            if self.loses_races.load(Ordering::SeqCst) {
                for task in &due {
                    self.inner.remove(&task.id, task.version).await?;
                }
            }
            Ok(due)
        })
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        self.run(|| self.inner.list(owner, after, limit))
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage> {
        self.run(|| self.inner.usage(owner))
    }
}

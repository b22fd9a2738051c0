//! Store that fails on request.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use treenail::tasks::{MemoryStore, StoreError, StoreFuture, StoredTask, TaskId, TaskStore, Usage};

#[derive(Clone, Debug)]
pub(crate) struct FailingStore {
    inner: Arc<MemoryStore>,
    fails: Arc<AtomicBool>,
}

impl FailingStore {
    pub(crate) fn new(inner: Arc<MemoryStore>) -> Self {
        Self {
            inner,
            fails: Arc::default(),
        }
    }

    pub(crate) fn fail(&self, fails: bool) {
        self.fails.store(fails, Ordering::SeqCst);
    }

    fn run<'a, T: Send + 'a>(&self, future: StoreFuture<'a, T>) -> StoreFuture<'a, T> {
        if self.fails.load(Ordering::SeqCst) {
            return Box::pin(async { Err(StoreError::Unavailable("no route to host".to_owned())) });
        }
        future
    }
}

impl TaskStore for FailingStore {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        self.run(self.inner.insert(task, wake))
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        self.run(self.inner.get(id))
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        self.run(self.inner.replace(task, wake))
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        self.run(self.inner.remove(id, version))
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        self.run(self.inner.due(limit))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        self.run(self.inner.list(owner, after, limit))
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, Usage> {
        self.run(self.inner.usage(owner))
    }
}

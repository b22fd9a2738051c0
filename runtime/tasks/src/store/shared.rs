//! Stores that several servers of one process share.

use std::sync::Arc;
use std::time::Duration;

use super::{StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore};

impl<S: TaskStore + ?Sized> TaskStore for Arc<S> {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        (**self).insert(task, wake)
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        (**self).get(id)
    }

    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        (**self).state(id)
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        (**self).replace(task, wake)
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        (**self).remove(id, version)
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        (**self).due(limit)
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        (**self).list(owner, after, limit)
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage> {
        (**self).usage(owner)
    }

    fn is_durable(&self) -> bool {
        (**self).is_durable()
    }
}

//! Table of tasks with its two orders.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use tokio::time::Instant;

use crate::store::{StoreUsage, StoredTask, TaskId};

/// Approximate size of a task in the table beside its contents and owner, in bytes.
const OVERHEAD: usize = 500;

#[derive(Default)]
pub(super) struct Table {
    tasks: HashMap<TaskId, Entry>,
    /// Tasks by wake time.
    wake: BTreeSet<(Instant, TaskId)>,
    owners: HashMap<String, Owned>,
    bytes: usize,
}

struct Entry {
    /// Shared, so that bodies are copied without the lock.
    task: Arc<StoredTask>,
    wake: Instant,
}

/// Tasks of one owner.
#[derive(Default)]
struct Owned {
    order: BTreeSet<(u64, TaskId)>,
    bytes: u64,
}

impl Table {
    pub(super) fn len(&self) -> usize {
        self.tasks.len()
    }

    pub(super) fn contains(&self, id: &TaskId) -> bool {
        self.tasks.contains_key(id)
    }

    pub(super) fn version(&self, id: &TaskId) -> Option<u64> {
        self.tasks.get(id).map(|entry| entry.task.version)
    }

    pub(super) fn get(&self, id: &TaskId) -> Option<Arc<StoredTask>> {
        self.tasks.get(id).map(|entry| Arc::clone(&entry.task))
    }

    /// Returns the size of the table after `task` has been inserted or replaced.
    pub(super) fn bytes_with(&self, task: &StoredTask) -> usize {
        let former = self
            .tasks
            .get(&task.id)
            .map_or(0, |entry| size(&entry.task));
        self.bytes - former + size(task)
    }

    /// Adds a task whose id is new.
    pub(super) fn insert(&mut self, task: StoredTask, wake: Instant) {
        self.bytes += size(&task);
        self.wake.insert((wake, task.id.clone()));
        let owned = self.owners.entry(task.owner.clone()).or_default();
        owned.order.insert((task.created_ms, task.id.clone()));
        owned.bytes += task.bytes() as u64;
        let (id, task) = (task.id.clone(), Arc::new(task));
        self.tasks.insert(id, Entry { task, wake });
    }

    /// Replaces the task with the same id. Owner and time of creation remain.
    pub(super) fn replace(&mut self, task: StoredTask, wake: Instant) {
        if let Some(former) = self.remove(&task.id) {
            let (owner, created_ms) = (former.owner.clone(), former.created_ms);
            let task = StoredTask {
                owner,
                created_ms,
                ..task
            };
            self.insert(task, wake);
        }
    }

    pub(super) fn remove(&mut self, id: &TaskId) -> Option<Arc<StoredTask>> {
        let Entry { task, wake } = self.tasks.remove(id)?;
        self.bytes -= size(&task);
        self.wake.remove(&(wake, id.clone()));
        if let Some(owned) = self.owners.get_mut(&task.owner) {
            owned.order.remove(&(task.created_ms, id.clone()));
            owned.bytes -= task.bytes() as u64;
            if owned.order.is_empty() {
                self.owners.remove(&task.owner);
            }
        }
        Some(task)
    }

    pub(super) fn due(&self, now: Instant, limit: usize) -> Vec<Arc<StoredTask>> {
        let due = self.wake.iter().take_while(|(wake, _)| *wake <= now);
        due.take(limit).filter_map(|(_, id)| self.get(id)).collect()
    }

    /// Returns a page of the tasks of `owner`, or `None` if it has no task `after`.
    pub(super) fn list(
        &self,
        owner: &str,
        after: Option<&TaskId>,
        limit: usize,
    ) -> Option<Vec<Arc<StoredTask>>> {
        let start = match after {
            None => Bound::Unbounded,
            Some(after) => {
                let after = self.get(after).filter(|task| task.owner == owner)?;
                Bound::Excluded((after.created_ms, after.id.clone()))
            }
        };
        let Some(its) = self.owners.get(owner) else {
            return Some(Vec::new());
        };
        let order = its.order.range((start, Bound::Unbounded));
        let page = order.take(limit).filter_map(|(_, id)| self.get(id));
        Some(page.collect())
    }

    pub(super) fn usage(&self, owner: &str) -> StoreUsage {
        let its = self.owners.get(owner);
        its.map_or_else(StoreUsage::default, |its| {
            StoreUsage::new(its.order.len() as u64, its.bytes)
        })
    }
}

fn size(task: &StoredTask) -> usize {
    task.bytes() + task.owner.len() + OVERHEAD
}

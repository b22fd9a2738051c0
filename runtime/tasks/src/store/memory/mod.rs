//! Store in the memory of the process.

mod table;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use self::table::Table;
use super::{StoreError, StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore};

/// [`TaskStore`] in the memory of the process, and the default. Its tasks end with the process.
///
/// Its size is bounded: a task beyond the bounds is refused with [`StoreError::Full`].
///
/// ```
/// use treenail::tasks::MemoryStore;
///
/// let store = MemoryStore::new().max_tasks(1_000).max_bytes(16 << 20);
/// # let _ = store;
/// ```
pub struct MemoryStore {
    table: Mutex<Table>,
    max_tasks: usize,
    max_bytes: usize,
}

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self {
            table: Mutex::default(),
            max_tasks: 10_000,
            max_bytes: 256 << 20,
        }
    }

    /// Sets the maximum number of tasks. Default 10,000.
    #[must_use]
    pub fn max_tasks(mut self, max_tasks: usize) -> Self {
        self.max_tasks = max_tasks;
        self
    }

    /// Sets the maximum size of all tasks in bytes: states, bodies, owners, and about 500 bytes for each. Default 256 MiB.
    #[must_use]
    pub fn max_bytes(mut self, max_bytes: usize) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        // No operation of a table panics halfway.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check_space(&self, tasks: usize, bytes: usize) -> Result<(), StoreError> {
        if tasks > self.max_tasks {
            let max = self.max_tasks;
            return Err(StoreError::Full(format!("it has {max} tasks")));
        }
        if bytes > self.max_bytes {
            let max = self.max_bytes;
            return Err(StoreError::Full(format!("its tasks have {max} bytes")));
        }
        Ok(())
    }
}

impl Default for MemoryStore {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MemoryStore")
            .field("tasks", &self.table().len())
            .field("max_tasks", &self.max_tasks)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

/// Returns the time in `wake`. A time that the clock cannot represent is decades away.
fn wake_time(wake: Duration) -> Instant {
    const DECADES: Duration = Duration::from_secs(30 * 365 * 86_400);
    let now = Instant::now();
    now.checked_add(wake).unwrap_or_else(|| now + DECADES)
}

fn ready<'a, T: Send + 'a>(result: Result<T, StoreError>) -> StoreFuture<'a, T> {
    Box::pin(std::future::ready(result))
}

impl TaskStore for MemoryStore {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        let mut table = self.table();
        ready(if table.contains(&task.id) {
            Err(StoreError::Duplicate)
        } else {
            self.check_space(table.len() + 1, table.bytes_with(&task))
                .map(|()| table.insert(task, wake_time(wake)))
        })
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        let found = self.table().get(id);
        ready(Ok(found.map(|task| (*task).clone())))
    }

    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        let found = self.table().get(id);
        ready(Ok(found.map(|task| StoredTask {
            id: task.id.clone(),
            owner: task.owner.clone(),
            created_ms: task.created_ms,
            version: task.version,
            state: task.state.clone(),
            body: Vec::new(),
        })))
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        let mut table = self.table();
        let expected = task.version.checked_sub(1);
        ready(
            if expected.is_none() || table.version(&task.id) != expected {
                Ok(false)
            } else {
                self.check_space(table.len(), table.bytes_with(&task))
                    .map(|()| {
                        table.replace(task, wake_time(wake));
                        true
                    })
            },
        )
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        let mut table = self.table();
        let found = table.version(id) == Some(version);
        if found {
            table.remove(id);
        }
        ready(Ok(found))
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        let due = self.table().due(Instant::now(), limit);
        ready(Ok(due.iter().map(|task| (**task).clone()).collect()))
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        let page = self.table().list(owner, after, limit);
        let page = page.ok_or(StoreError::UnknownTask);
        ready(page.map(|page| page.iter().map(|task| (**task).clone()).collect()))
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage> {
        ready(Ok(self.table().usage(owner)))
    }

    fn is_durable(&self) -> bool {
        false
    }
}

//! Stores that the test kit has to reject: each has one fault that shows only between processes or with a limit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use treenail::tasks::{
    MemoryStore, StoreFuture, StoreUsage, StoredTask, TaskId, TaskStore, test_kit,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// The index of due tasks has those that this process has inserted.
    OwnIndex,
    /// States are cached until this process changes the task.
    CachedStates,
    /// A search with a limit returns any of the due tasks, in their order.
    AnyDue,
}

/// Handle to the tasks of a [`MemoryStore`], with a fault.
#[derive(Debug)]
struct Faulty {
    inner: Arc<MemoryStore>,
    fault: Fault,
    inserted: Mutex<Vec<TaskId>>,
    cached: Mutex<HashMap<TaskId, StoredTask>>,
}

fn handles(fault: Fault) -> [Arc<dyn TaskStore>; 2] {
    let inner = Arc::new(MemoryStore::new());
    [(); 2].map(|()| {
        Arc::new(Faulty {
            inner: Arc::clone(&inner),
            fault,
            inserted: Mutex::default(),
            cached: Mutex::default(),
        }) as Arc<dyn TaskStore>
    })
}

impl TaskStore for Faulty {
    fn insert(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, ()> {
        self.inserted.lock().unwrap().push(task.id.clone());
        self.inner.insert(task, wake)
    }

    fn get<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        self.inner.get(id)
    }

    fn state<'a>(&'a self, id: &'a TaskId) -> StoreFuture<'a, Option<StoredTask>> {
        Box::pin(async move {
            let known = self.cached.lock().unwrap().get(id).cloned();
            if known.is_some() && self.fault == Fault::CachedStates {
                return Ok(known);
            }
            let found = self.inner.state(id).await?;
            let entry = found.clone().map(|task| (id.clone(), task));
            self.cached.lock().unwrap().extend(entry);
            Ok(found)
        })
    }

    fn replace(&self, task: StoredTask, wake: Duration) -> StoreFuture<'_, bool> {
        self.cached.lock().unwrap().remove(&task.id);
        self.inner.replace(task, wake)
    }

    fn remove<'a>(&'a self, id: &'a TaskId, version: u64) -> StoreFuture<'a, bool> {
        self.cached.lock().unwrap().remove(id);
        self.inner.remove(id, version)
    }

    fn due(&self, limit: usize) -> StoreFuture<'_, Vec<StoredTask>> {
        Box::pin(async move {
            let mut due = self.inner.due(usize::MAX).await?;
            match self.fault {
                Fault::OwnIndex => {
                    let inserted = self.inserted.lock().unwrap();
                    due.retain(|task| inserted.contains(&task.id));
                }
                Fault::AnyDue => drop(due.drain(..due.len().saturating_sub(limit))),
                Fault::CachedStates => {}
            }
            due.truncate(limit);
            Ok(due)
        })
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a TaskId>,
        limit: usize,
    ) -> StoreFuture<'a, Vec<StoredTask>> {
        self.inner.list(owner, after, limit)
    }

    fn usage<'a>(&'a self, owner: &'a str) -> StoreFuture<'a, StoreUsage> {
        self.inner.usage(owner)
    }
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "become due once their wake time has passed")]
async fn an_index_of_due_tasks_in_the_process_is_rejected() {
    test_kit::check_shared_store(async || handles(Fault::OwnIndex)).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "the state of another process is visible")]
async fn a_cache_of_states_in_the_process_is_rejected() {
    test_kit::check_shared_store(async || handles(Fault::CachedStates)).await;
}

#[tokio::test(start_paused = true)]
#[should_panic(expected = "a limit leaves out the tasks with the latest wake times")]
async fn a_limit_that_leaves_out_any_task_is_rejected() {
    test_kit::check_store(async || {
        let [store, _] = handles(Fault::AnyDue);
        store
    })
    .await;
}

//! The store in memory.

use std::sync::Arc;
use std::time::Duration;

use treenail::tasks::{MemoryStore, StoreError, StoredTask, TaskId, TaskStore, test_kit};

const HOUR: Duration = Duration::from_secs(3_600);

fn task(body: usize) -> StoredTask {
    StoredTask::new(TaskId::random().unwrap(), "owner", 1, vec![b'1'; body])
}

#[tokio::test(start_paused = true)]
async fn every_rule_of_stores_holds() {
    test_kit::check_store(async || Arc::new(MemoryStore::new()) as Arc<dyn TaskStore>).await;
}

#[tokio::test]
async fn the_number_of_tasks_is_bounded() {
    let store = MemoryStore::new().max_tasks(2);
    let tasks = [task(1), task(1), task(1)];
    store.insert(tasks[0].clone(), HOUR).await.unwrap();
    store.insert(tasks[1].clone(), HOUR).await.unwrap();
    let full = store.insert(tasks[2].clone(), HOUR).await;
    assert_eq!(full, Err(StoreError::Full("it has 2 tasks".to_owned())));
    let duplicate = store.insert(tasks[0].clone(), HOUR).await;
    assert_eq!(duplicate, Err(StoreError::Duplicate));
    let mut replacement = tasks[0].clone();
    replacement.version = 2;
    assert_eq!(store.replace(replacement, HOUR).await, Ok(true));
    assert_eq!(store.remove(&tasks[1].id, 1).await, Ok(true));
    store.insert(tasks[2].clone(), HOUR).await.unwrap();
}

#[tokio::test]
async fn the_size_of_tasks_is_bounded() {
    let store = MemoryStore::new().max_bytes(10_000);
    let first = task(6_000);
    store.insert(first.clone(), HOUR).await.unwrap();
    let full = Err(StoreError::Full("its tasks have 10000 bytes".to_owned()));
    assert_eq!(store.insert(task(4_000), HOUR).await, full);
    let mut longer = first.clone();
    longer.version = 2;
    longer.body.resize(10_000, 0);
    let refused = store.replace(longer.clone(), HOUR).await;
    assert_eq!(refused, full.map(|()| true));
    assert_eq!(store.get(&first.id).await, Ok(Some(first.clone())));
    longer.body.truncate(100);
    assert_eq!(store.replace(longer, HOUR).await, Ok(true));
    store.insert(task(4_000), HOUR).await.unwrap();
}

#[tokio::test]
async fn debug_shows_no_contents() {
    let store = MemoryStore::new();
    let task = StoredTask::new(TaskId::random().unwrap(), "alice", 1, *b"password");
    store.insert(task.clone(), HOUR).await.unwrap();
    let shown = format!("{store:?} {task:?}");
    assert!(
        !shown.contains("alice") && !shown.contains("password"),
        "{shown}"
    );
    assert!(!shown.contains(task.id.as_str()), "{shown}");
}

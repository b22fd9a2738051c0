//! Tasks of the tests of stores, and rules of all stores that several servers share.

use std::time::Duration;

use treenail::tasks::{StoredTask, TaskId, TaskStore};

pub(crate) const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) fn task(owner: &str, created_ms: u64, body: &[u8]) -> StoredTask {
    StoredTask::new(TaskId::random().unwrap(), owner, created_ms, body)
}

/// Checks that the tasks of one server are unknown to another one.
pub(crate) async fn check_separate(here: &dyn TaskStore, there: &dyn TaskStore) {
    let task = task("owner", 1, b"1");
    here.insert(task.clone(), Duration::ZERO).await.unwrap();
    assert_eq!(there.get(&task.id).await, Ok(None));
    assert_eq!(there.due(10).await, Ok(Vec::new()));
    assert_eq!(there.list("owner", None, 10).await, Ok(Vec::new()));
    assert_eq!(there.insert(task, HOUR).await, Ok(()));
}

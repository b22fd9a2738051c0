//! Lists and usage of owners.

use std::sync::Arc;
use std::time::Duration;

use super::{next, task};
use crate::store::{StoreError, StoreUsage, StoredTask, TaskStore};

const HOUR: Duration = Duration::from_secs(3_600);

pub(super) async fn check_list(store: &Arc<dyn TaskStore>) {
    assert_eq!(
        store.list("owner", None, 10).await,
        Ok(Vec::new()),
        "an unknown owner has no tasks"
    );
    let mut tasks: Vec<StoredTask> = [5, 3, 9, 3, 3, 7, 1, 5, 10, 100]
        .map(|created_ms| task("owner", created_ms, *b"1"))
        .into();
    let other = task("other", 4, *b"1");
    for task in tasks.iter().chain([&other]) {
        store
            .insert(task.clone(), HOUR)
            .await
            .expect("a task is inserted");
    }
    tasks.sort_by(|one, other| (one.created_ms, &one.id).cmp(&(other.created_ms, &other.id)));
    let all = store.list("owner", None, 100).await;
    assert_eq!(
        all.as_ref(),
        Ok(&tasks),
        "a list is ordered by time of creation, then by id"
    );
    assert_eq!(
        store.list("owner", None, 0).await,
        Ok(Vec::new()),
        "a page of no tasks is empty"
    );
    check_pages(store, &tasks).await;
    check_positions(store, &tasks, &other).await;
}

/// Checks that the pages of a list are the list.
async fn check_pages(store: &Arc<dyn TaskStore>, tasks: &[StoredTask]) {
    let mut after = None;
    let mut pages = Vec::new();
    loop {
        let page = store
            .list("owner", after.as_ref(), 3)
            .await
            .expect("a page is returned");
        assert!(
            page.len() <= 3,
            "a page has at most the requested number of tasks"
        );
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        pages.extend(page);
    }
    assert_eq!(pages, tasks, "the pages together are the list");
}

/// Checks where lists start, after a removal and a replacement as well.
async fn check_positions(store: &Arc<dyn TaskStore>, tasks: &[StoredTask], other: &StoredTask) {
    let unknown = Err(StoreError::UnknownTask);
    let page = store.list("owner", Some(&other.id), 3).await;
    assert_eq!(
        page, unknown,
        "a list does not start behind a task of another owner"
    );
    assert_eq!(
        store.remove(&tasks[4].id, 1).await,
        Ok(true),
        "a task is removed"
    );
    let page = store.list("owner", Some(&tasks[4].id), 3).await;
    assert_eq!(page, unknown, "a list does not start behind a removed task");
    let page = store.list("owner", Some(&tasks[3].id), 1).await;
    assert_eq!(
        page,
        Ok(vec![tasks[5].clone()]),
        "a list contains no removed task"
    );
    let replaced = next(&tasks[5], *b"2");
    assert_eq!(
        store.replace(replaced.clone(), HOUR).await,
        Ok(true),
        "a task is replaced"
    );
    let page = store.list("owner", Some(&tasks[3].id), 1).await;
    assert_eq!(
        page,
        Ok(vec![replaced]),
        "a replaced task has the same place in the list"
    );
}

pub(super) async fn check_usage(store: &Arc<dyn TaskStore>) {
    assert_eq!(
        store.usage("owner").await,
        Ok(StoreUsage::default()),
        "an unknown owner uses nothing"
    );
    let first = task("owner", 1, *b"12345");
    let second = task("owner", 2, *b"1234567");
    let other = task("other", 3, *b"1");
    for task in [&first, &second, &other] {
        store
            .insert(task.clone(), HOUR)
            .await
            .expect("a task is inserted");
    }
    assert_eq!(
        store.usage("owner").await,
        Ok(StoreUsage::new(2, 14)),
        "usage counts tasks and bytes"
    );
    let duplicate = store.insert(first.clone(), HOUR).await;
    assert_eq!(
        duplicate,
        Err(StoreError::Duplicate),
        "a second task with the same id is refused"
    );
    let lost = store.replace(first.clone(), HOUR).await;
    assert_eq!(lost, Ok(false), "version 1 is not replaced by 1");
    assert_eq!(
        store.usage("owner").await,
        Ok(StoreUsage::new(2, 14)),
        "failed changes are not counted"
    );
    check_changed_usage(store, &first, &second).await;
    assert_eq!(
        store.usage("other").await,
        Ok(StoreUsage::new(1, 2)),
        "usage is counted per owner"
    );
}

/// Checks the usage after replacements and removals.
async fn check_changed_usage(store: &Arc<dyn TaskStore>, first: &StoredTask, second: &StoredTask) {
    for (task, body, bytes) in [(first, "12345678", 17), (second, "", 10)] {
        assert_eq!(
            store.replace(next(task, body), HOUR).await,
            Ok(true),
            "a task is replaced"
        );
        let usage = store.usage("owner").await;
        assert_eq!(
            usage,
            Ok(StoreUsage::new(2, bytes)),
            "usage follows the size of states and bodies"
        );
    }
    assert_eq!(
        store.remove(&first.id, 2).await,
        Ok(true),
        "a task is removed"
    );
    assert_eq!(
        store.usage("owner").await,
        Ok(StoreUsage::new(1, 1)),
        "a removed task is not counted"
    );
    assert_eq!(
        store.remove(&second.id, 2).await,
        Ok(true),
        "a task is removed"
    );
    assert_eq!(
        store.usage("owner").await,
        Ok(StoreUsage::default()),
        "an owner without tasks uses nothing"
    );
}

//! Wake times.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::{next, task};
use crate::store::{StoredTask, TaskStore};

const HOUR: Duration = Duration::from_secs(3_600);
/// Interval at which due tasks are read.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Returns the tasks that are due, once there are `count`.
pub(super) async fn due(
    store: &Arc<dyn TaskStore>,
    count: usize,
    limit: Duration,
) -> Vec<StoredTask> {
    let polling = async {
        loop {
            let due = store.due(100).await.expect("due tasks are returned");
            if due.len() >= count {
                return due;
            }
            sleep(POLL_INTERVAL).await;
        }
    };
    timeout(limit, polling)
        .await
        .unwrap_or_else(|_| panic!("{count} tasks become due once their wake time has passed"))
}

pub(super) async fn check_due(store: &Arc<dyn TaskStore>) {
    let limit = Duration::from_secs(30);
    let (now, later) = (task("owner", 1, *b"now"), task("", 2, *b"later"));
    store
        .insert(now.clone(), Duration::ZERO)
        .await
        .expect("a task is inserted");
    store
        .insert(later.clone(), HOUR)
        .await
        .expect("a task is inserted");
    assert_eq!(
        due(store, 1, limit).await,
        std::slice::from_ref(&now),
        "a task is due after its wake time"
    );
    assert_eq!(
        store.due(100).await,
        Ok(vec![now.clone()]),
        "a due task remains due"
    );
    assert_eq!(
        store.due(0).await,
        Ok(Vec::new()),
        "no more tasks are returned than requested"
    );

    let (now, later) = (next(&now, *b"renewed"), next(&later, *b"ended"));
    assert_eq!(
        store.replace(now.clone(), HOUR).await,
        Ok(true),
        "a task is replaced"
    );
    assert_eq!(
        store.due(100).await,
        Ok(Vec::new()),
        "a replacement makes a task due later"
    );
    let replaced = store.replace(later.clone(), Duration::ZERO).await;
    assert_eq!(replaced, Ok(true), "a task is replaced");
    assert_eq!(
        due(store, 1, limit).await,
        std::slice::from_ref(&later),
        "a replacement makes a task due earlier"
    );
    check_both_due(store, &now, &later).await;
}

/// Checks two tasks that are due, and their removal.
async fn check_both_due(store: &Arc<dyn TaskStore>, now: &StoredTask, later: &StoredTask) {
    let limit = Duration::from_secs(30);
    let replaced = store.replace(next(now, *b"2"), Duration::ZERO).await;
    assert_eq!(replaced, Ok(true), "a task is replaced");
    due(store, 2, limit).await;
    assert_eq!(
        store.due(1).await.map(|due| due.len()),
        Ok(1),
        "no more tasks are returned than requested"
    );
    assert_eq!(
        store.replace(now.clone(), HOUR).await,
        Ok(false),
        "version 3 is not replaced by 2"
    );
    assert_eq!(
        due(store, 2, limit).await.len(),
        2,
        "a failed replacement changes no wake time"
    );
    for (id, version) in [(&now.id, 3), (&later.id, 2)] {
        assert_eq!(
            store.remove(id, version).await,
            Ok(true),
            "a due task is removed"
        );
    }
    assert_eq!(
        store.due(100).await,
        Ok(Vec::new()),
        "a removed task is not due"
    );
}

pub(super) async fn check_order(store: &Arc<dyn TaskStore>) {
    let mut gap = Duration::from_millis(100);
    let tasks = loop {
        let tasks: Vec<StoredTask> = (0..4).map(|n| task("owner", n, [])).collect();
        let start = Instant::now();
        for (factor, task) in (0..4).rev().zip(&tasks) {
            let inserted = store.insert(task.clone(), gap * factor).await;
            inserted.expect("a task is inserted");
        }
        // A slow computer shifts the wake times against each other.
        if start.elapsed() < gap {
            break tasks;
        }
        for task in tasks {
            store.remove(&task.id, 1).await.expect("a task is removed");
        }
        gap *= 2;
    };
    let limit = gap * 4 + Duration::from_secs(30);
    let due = due(store, tasks.len(), limit).await;
    let mut expected: Vec<StoredTask> = tasks.into_iter().rev().collect();
    assert_eq!(
        due, expected,
        "the task with the earliest wake time is the first"
    );
    check_start(store, &expected).await;

    // Two changes at the same time of the clock have no order.
    sleep(POLL_INTERVAL).await;
    let moved = next(&expected.remove(0), []);
    let replaced = store.replace(moved.clone(), Duration::ZERO).await;
    assert_eq!(replaced, Ok(true), "a task is replaced");
    expected.push(moved);
    self::due(store, expected.len(), limit).await;
    check_start(store, &expected).await;
}

/// Checks that a search with a limit returns the first of the due tasks.
async fn check_start(store: &Arc<dyn TaskStore>, due: &[StoredTask]) {
    for limit in 1..=due.len() {
        let found = store.due(limit).await;
        assert_eq!(
            found.as_deref(),
            Ok(&due[..limit]),
            "a limit leaves out the tasks with the latest wake times"
        );
    }
}

//! Bodies, owners and numbers at the edges.

use std::sync::Arc;
use std::time::Duration;

use super::{next, task};
use crate::store::{StoreUsage, StoredTask, TaskStore};

const HOUR: Duration = Duration::from_secs(3_600);
/// Largest number that all stores represent exactly.
const MAX_NUMBER: u64 = (1 << 53) - 1;

pub(super) async fn check_bodies(store: &Arc<dyn TaskStore>) {
    let bytes: Vec<u8> = (0..=255).collect();
    for body in [Vec::new(), vec![0], bytes.clone(), bytes.repeat(16 << 10)] {
        let size = body.len();
        let first = task("bodies", 1, *b"first");
        let second = next(&first, body.clone());
        store
            .insert(first.clone(), HOUR)
            .await
            .expect("a task is inserted");
        let replaced = store.replace(second.clone(), HOUR).await;
        assert_eq!(
            replaced,
            Ok(true),
            "a body of {size} bytes replaces another"
        );
        let stored = store.get(&first.id).await;
        assert!(
            stored == Ok(Some(second.clone())),
            "a body of {size} bytes is returned as it is"
        );
        let listed = store.list("bodies", None, 10).await;
        assert!(
            listed == Ok(vec![second]),
            "a body of {size} bytes is listed as it is"
        );
        assert_eq!(
            store.remove(&first.id, 2).await,
            Ok(true),
            "a task is removed"
        );
    }
}

/// Checks that a state is stored and returned with its body and without it.
pub(super) async fn check_states(store: &Arc<dyn TaskStore>) {
    let unknown = task("states", 1, *b"1");
    let found = store.state(&unknown.id).await;
    assert_eq!(found, Ok(None), "an unknown task has no state");
    let bytes: Vec<u8> = (0..=255).collect();
    let states = [Vec::new(), vec![0], bytes.clone(), bytes.repeat(16 << 10)];
    for (state, body) in states
        .iter()
        .flat_map(|state| [(state, &b"1"[..]), (state, &bytes)])
    {
        let first = task("states", 1, body);
        let mut second = next(&first, body);
        second.state.clone_from(state);
        store
            .insert(first.clone(), HOUR)
            .await
            .expect("a task is inserted");
        check_state(store, &first).await;
        assert_eq!(
            store.replace(second.clone(), HOUR).await,
            Ok(true),
            "a task is replaced"
        );
        check_state(store, &second).await;
        let expected = StoreUsage::new(1, (state.len() + body.len()) as u64);
        assert_eq!(
            store.usage("states").await,
            Ok(expected),
            "usage counts the bytes of states"
        );
        assert_eq!(
            store.remove(&first.id, 2).await,
            Ok(true),
            "a task is removed"
        );
        let found = store.state(&first.id).await;
        assert_eq!(found, Ok(None), "a removed task has no state");
    }
}

async fn check_state(store: &Arc<dyn TaskStore>, task: &StoredTask) {
    let size = task.state.len();
    assert!(
        store.get(&task.id).await == Ok(Some(task.clone())),
        "a state of {size} bytes is returned with its body"
    );
    let mut without_body = task.clone();
    without_body.body.clear();
    assert!(
        store.state(&task.id).await == Ok(Some(without_body)),
        "a state of {size} bytes is returned without its body"
    );
}

/// Owners with special characters and common starts.
const OWNERS: &[&str] = &[
    "",
    " ",
    "a",
    "ab",
    "a:",
    "A",
    "1:a",
    "a\0b",
    "a\0",
    "\0",
    "\u{10ffff}",
    "ä",
    "a\u{308}",
    "'; DROP TABLE task; --",
    "\"",
    "%",
    "_",
    "*",
    "?",
    "[a]",
    "{a}",
    "}",
    "\r\n",
    "\\",
    "://",
];

pub(super) async fn check_owners(store: &Arc<dyn TaskStore>) {
    let long = "o".repeat(4 << 10);
    let owners = OWNERS.iter().copied().chain([&*long]);
    let mut tasks = Vec::new();
    for owner in owners {
        let task = task(owner, 1, owner.as_bytes());
        store
            .insert(task.clone(), HOUR)
            .await
            .expect("a task is inserted");
        tasks.push(task);
    }
    for task in tasks {
        check_owner(store, &task).await;
    }
}

async fn check_owner(store: &Arc<dyn TaskStore>, task: &StoredTask) {
    let owner = &*task.owner;
    let stored = store.get(&task.id).await;
    assert_eq!(
        stored,
        Ok(Some(task.clone())),
        "the owner {owner:?} is stored as it is"
    );
    let listed = store.list(owner, None, 10).await;
    assert_eq!(
        listed,
        Ok(vec![task.clone()]),
        "the owner {owner:?} has a list of its own"
    );
    let expected = StoreUsage::new(1, owner.len() as u64 + 1);
    assert_eq!(
        store.usage(owner).await,
        Ok(expected),
        "the owner {owner:?} has a usage of its own"
    );
    assert_eq!(
        store.remove(&task.id, 1).await,
        Ok(true),
        "a task of the owner {owner:?} is removed"
    );
    assert_eq!(
        store.usage(owner).await,
        Ok(StoreUsage::default()),
        "the owner {owner:?} has no tasks"
    );
}

pub(super) async fn check_extremes(store: &Arc<dyn TaskStore>) {
    for created_ms in [MAX_NUMBER, 0, MAX_NUMBER - 1] {
        let mut first = task("extremes", created_ms, *b"1");
        first.version = MAX_NUMBER - 1;
        let second = next(&first, *b"2");
        let inserted = store.insert(first, Duration::MAX).await;
        assert_eq!(inserted, Ok(()), "the wake time may be the longest one");
        let replaced = store.replace(second.clone(), Duration::MAX).await;
        assert_eq!(replaced, Ok(true), "versions are exact up to {MAX_NUMBER}");
        assert_eq!(
            store.get(&second.id).await,
            Ok(Some(second)),
            "numbers are stored as they are"
        );
    }
    assert_eq!(
        store.due(10).await,
        Ok(Vec::new()),
        "the longest wake time has not passed"
    );
    let listed = store
        .list("extremes", None, 10)
        .await
        .expect("tasks are listed");
    let listed: Vec<u64> = listed.iter().map(|task| task.created_ms).collect();
    let expected = [0, MAX_NUMBER - 1, MAX_NUMBER];
    assert_eq!(
        listed, expected,
        "the order of creation is exact up to {MAX_NUMBER}"
    );
}

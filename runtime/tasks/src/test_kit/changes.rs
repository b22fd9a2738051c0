//! Insertion, replacement and removal.

use std::sync::Arc;
use std::time::Duration;

use super::{next, task};
use crate::store::{StoreError, TaskStore};

const HOUR: Duration = Duration::from_secs(3_600);

pub(super) async fn check(store: &Arc<dyn TaskStore>) {
    let first = task("owner", 1_000, *b"{\"a\":1}");
    assert_eq!(
        store.get(&first.id).await,
        Ok(None),
        "an unknown task is absent"
    );
    assert_eq!(
        store.insert(first.clone(), HOUR).await,
        Ok(()),
        "a task is inserted"
    );
    let stored = store.get(&first.id).await;
    assert_eq!(
        stored,
        Ok(Some(first.clone())),
        "a task is returned as it was inserted"
    );

    let mut duplicate = first.clone();
    duplicate.body.clear();
    let inserted = store.insert(duplicate, HOUR).await;
    assert_eq!(
        inserted,
        Err(StoreError::Duplicate),
        "a second task with the same id is refused"
    );
    let stored = store.get(&first.id).await;
    assert_eq!(
        stored,
        Ok(Some(first.clone())),
        "a refused insertion changes nothing"
    );

    check_replace(store).await;
    check_remove(store).await;
}

async fn check_replace(store: &Arc<dyn TaskStore>) {
    let first = task("owner", 1_000, *b"1");
    let unknown = store.replace(next(&first, *b"2"), HOUR).await;
    assert_eq!(unknown, Ok(false), "an unknown task is not replaced");
    assert_eq!(
        store.get(&first.id).await,
        Ok(None),
        "a failed replacement inserts nothing"
    );
    store
        .insert(first.clone(), HOUR)
        .await
        .expect("a task is inserted");

    let second = next(&first, *b"2");
    assert_eq!(
        store.replace(second.clone(), HOUR).await,
        Ok(true),
        "the next version replaces"
    );
    assert_eq!(
        store.get(&first.id).await,
        Ok(Some(second.clone())),
        "the replacement is stored"
    );
    let mut zero = first.clone();
    zero.version = 0;
    let ahead = next(&next(&second, *b"x"), *b"x");
    for wrong in [zero, first.clone(), next(&first, *b"x"), ahead] {
        let version = wrong.version;
        let replaced = store.replace(wrong, HOUR).await;
        assert_eq!(
            replaced,
            Ok(false),
            "version 2 is not replaced by {version}"
        );
    }
    assert_eq!(
        store.get(&first.id).await,
        Ok(Some(second.clone())),
        "a lost race changes nothing"
    );

    let mut third = next(&second, *b"3");
    "another".clone_into(&mut third.owner);
    third.created_ms = 2_000;
    assert_eq!(
        store.replace(third, HOUR).await,
        Ok(true),
        "the next version replaces"
    );
    let expected = next(&second, *b"3");
    let stored = store.get(&first.id).await;
    assert_eq!(
        stored,
        Ok(Some(expected)),
        "owner and time of creation do not change"
    );
}

async fn check_remove(store: &Arc<dyn TaskStore>) {
    let first = task("owner", 1_000, *b"1");
    store
        .insert(first.clone(), HOUR)
        .await
        .expect("a task is inserted");
    for version in [0, 2] {
        let removed = store.remove(&first.id, version).await;
        assert_eq!(
            removed,
            Ok(false),
            "version 1 is not removed as version {version}"
        );
    }
    assert_eq!(
        store.get(&first.id).await,
        Ok(Some(first.clone())),
        "a lost race removes nothing"
    );
    assert_eq!(
        store.remove(&first.id, 1).await,
        Ok(true),
        "a task is removed"
    );
    assert_eq!(
        store.get(&first.id).await,
        Ok(None),
        "a removed task is absent"
    );
    assert_eq!(
        store.remove(&first.id, 1).await,
        Ok(false),
        "a removed task is not removed again"
    );
    let replaced = store.replace(next(&first, *b"2"), HOUR).await;
    assert_eq!(replaced, Ok(false), "a removed task is not replaced");
    assert_eq!(
        store.insert(first, HOUR).await,
        Ok(()),
        "the id of a removed task is free"
    );
}

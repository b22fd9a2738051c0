//! Two handles to the same tasks.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;

use super::wake::due;
use super::{next, task};
use crate::store::{StoreError, StoredTask, TaskStore};

const HOUR: Duration = Duration::from_secs(3_600);
/// Repetitions of a race.
const ROUNDS: u64 = 16;

pub(super) async fn check_visibility([one, other]: &[Arc<dyn TaskStore>; 2]) {
    let first = task("owner", 1, *b"1");
    one.insert(first.clone(), HOUR)
        .await
        .expect("a task is inserted");
    assert_eq!(
        other.get(&first.id).await,
        Ok(Some(first.clone())),
        "a task of another process is visible"
    );
    let inserted = other.insert(first.clone(), HOUR).await;
    assert_eq!(
        inserted,
        Err(StoreError::Duplicate),
        "an id of another process is taken"
    );
    check_state(one, &first).await;
    let second = next(&first, *b"22");
    assert_eq!(
        other.replace(second.clone(), Duration::ZERO).await,
        Ok(true),
        "its task is replaced"
    );
    check_state(one, &second).await;
    let lost = one.replace(next(&first, *b"x"), HOUR).await;
    assert_eq!(
        lost,
        Ok(false),
        "a version that another process replaced is not replaced"
    );
    let listed = one.list("owner", None, 10).await;
    assert_eq!(
        listed,
        Ok(vec![second]),
        "a replacement of another process is visible"
    );
    assert_eq!(
        one.usage("owner").await.map(|usage| usage.bytes),
        Ok(3),
        "its size is counted"
    );
    assert_eq!(
        other.remove(&first.id, 2).await,
        Ok(true),
        "a task is removed"
    );
    for found in [one.get(&first.id).await, one.state(&first.id).await] {
        assert_eq!(
            found,
            Ok(None),
            "a task that another process removed is absent"
        );
    }
}

/// Checks that a state is that of a change by another process.
async fn check_state(store: &Arc<dyn TaskStore>, task: &StoredTask) {
    let mut expected = task.clone();
    expected.body.clear();
    assert_eq!(
        store.state(&task.id).await,
        Ok(Some(expected)),
        "the state of another process is visible"
    );
}

pub(super) async fn check_due([one, other]: &[Arc<dyn TaskStore>; 2]) {
    let limit = Duration::from_secs(30);
    let first = task("owner", 1, *b"1");
    one.insert(first.clone(), Duration::ZERO)
        .await
        .expect("a task is inserted");
    assert_eq!(
        due(other, 1, limit).await,
        std::slice::from_ref(&first),
        "a task of another process is due"
    );
    let second = next(&first, *b"2");
    assert_eq!(
        one.replace(second.clone(), HOUR).await,
        Ok(true),
        "a task is replaced"
    );
    assert_eq!(
        other.due(10).await,
        Ok(Vec::new()),
        "another process makes a task due later"
    );
    let third = next(&second, *b"3");
    assert_eq!(
        other.replace(third.clone(), Duration::ZERO).await,
        Ok(true),
        "its task is replaced"
    );
    assert_eq!(
        due(one, 1, limit).await,
        std::slice::from_ref(&third),
        "another process makes a task due earlier"
    );
    assert_eq!(
        other.remove(&first.id, 3).await,
        Ok(true),
        "a task is removed"
    );
    assert_eq!(
        one.due(10).await,
        Ok(Vec::new()),
        "a task that another process removed is not due"
    );
}

/// Both processes increment a counter in one task, as often as they can.
pub(super) async fn check_replacements(handles: &[Arc<dyn TaskStore>; 2]) {
    let first = task("owner", 1, 0_u64.to_be_bytes());
    handles[0]
        .insert(first.clone(), HOUR)
        .await
        .expect("a task is inserted");
    let mut racing = JoinSet::new();
    for store in handles.iter().chain(handles) {
        let (store, id) = (Arc::clone(store), first.id.clone());
        racing.spawn(async move {
            let mut made = 0;
            while made < ROUNDS {
                let stored = store.get(&id).await.expect("a task is returned");
                let stored = stored.expect("the task is stored");
                let number = stored.body.clone().try_into().map(u64::from_be_bytes);
                let number = number.expect("a body is stored as a whole") + 1;
                let replacing = store.replace(next(&stored, number.to_be_bytes()), HOUR);
                made += u64::from(replacing.await.expect("a change is made or lost"));
            }
        });
    }
    racing.join_all().await;
    let stored = handles[1].get(&first.id).await.expect("a task is returned");
    let stored = stored.expect("the task is stored");
    let total = 4 * ROUNDS;
    assert_eq!(
        stored.version,
        1 + total,
        "each change that was made has a version"
    );
    assert_eq!(
        stored.body,
        total.to_be_bytes(),
        "no change of another process is overwritten"
    );
}

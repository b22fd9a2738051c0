//! Concurrent changes.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::Duration;

use tokio::task::JoinSet;

use super::{next, task};
use crate::store::{StoreError, TaskStore};

const HOUR: Duration = Duration::from_secs(3_600);
/// Number of concurrent changes.
const CHANGES: u8 = 32;
/// Repetitions of a race.
const ROUNDS: usize = 8;

pub(super) async fn check_inserts(store: &Arc<dyn TaskStore>) {
    let same = task("owner", 1, []);
    let mut same_id = JoinSet::new();
    let mut own_ids = JoinSet::new();
    for number in 0..CHANGES {
        let (store, mut task) = (Arc::clone(store), same.clone());
        task.body = vec![number];
        same_id.spawn(async move { (number, store.insert(task, HOUR).await) });
    }
    for number in 0..CHANGES {
        let (store, task) = (Arc::clone(store), task("owners", 2, [number]));
        own_ids.spawn(async move { store.insert(task, HOUR).await });
    }
    let mut winners = Vec::new();
    for (number, inserted) in same_id.join_all().await {
        match inserted {
            Ok(()) => winners.push(vec![number]),
            Err(error) => assert_eq!(
                error,
                StoreError::Duplicate,
                "a lost insertion is a duplicate"
            ),
        }
    }
    let stored = store.get(&same.id).await.expect("a task is returned");
    let stored: Vec<Vec<u8>> = stored.into_iter().map(|task| task.body).collect();
    assert_eq!(
        stored, winners,
        "one of several insertions of one id succeeds"
    );
    for inserted in own_ids.join_all().await {
        assert_eq!(inserted, Ok(()), "insertions of different ids succeed");
    }
    let usage = store.usage("owners").await.map(|usage| usage.tasks);
    assert_eq!(usage, Ok(u64::from(CHANGES)), "all of them are counted");
}

pub(super) async fn check_replacements(store: &Arc<dyn TaskStore>) {
    for _ in 0..ROUNDS {
        let first = task("owner", 1, []);
        store
            .insert(first.clone(), HOUR)
            .await
            .expect("a task is inserted");
        let mut racing = JoinSet::new();
        for number in 0..CHANGES {
            let (store, task) = (Arc::clone(store), next(&first, [number]));
            racing.spawn(async move {
                // Every fourth one removes.
                let made = match number % 4 {
                    0 => store.remove(&task.id, 1).await,
                    _ => store.replace(task, HOUR).await,
                };
                (number, made)
            });
        }
        let racing = racing.join_all().await;
        let winners: Vec<u8> = racing
            .into_iter()
            .filter(|(_, made)| made.clone().expect("a change is made or lost"))
            .map(|(number, _)| number)
            .collect();
        assert_eq!(
            winners.len(),
            1,
            "one of several changes of one version is made"
        );
        let stored = store.get(&first.id).await.expect("a task is returned");
        let expected = (winners[0] % 4 != 0).then(|| next(&first, [winners[0]]));
        assert_eq!(stored, expected, "the change that was made is stored");
    }
}

pub(super) async fn check_dropped_futures(store: &Arc<dyn TaskStore>) {
    let first = task("owner", 1, *b"1");
    drop(store.insert(first.clone(), HOUR));
    for _ in 0..ROUNDS {
        let mut insertion = pin!(store.insert(first.clone(), HOUR));
        // Polled once, then dropped: it may or may not have been made.
        let _ = insertion
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()));
    }
    match store.insert(first.clone(), HOUR).await {
        Ok(()) | Err(StoreError::Duplicate) => {}
        Err(error) => panic!("a dropped future does not prevent others: {error}"),
    }
    assert_eq!(
        store.get(&first.id).await,
        Ok(Some(first)),
        "a change is made as a whole"
    );
    assert_eq!(
        store.usage("owner").await.map(|usage| usage.tasks),
        Ok(1),
        "it is counted once"
    );
}

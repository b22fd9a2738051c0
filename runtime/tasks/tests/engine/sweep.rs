//! Search for interrupted and expired tasks.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use treenail::tasks::{ServerTasks, TaskStore as _, Tasks};

use crate::failing_store::FailingStore;
use crate::log::Log;
use crate::peer::Peer;
use crate::works::{Works, crash, limits, shared};

/// More than one search returns.
const MANY: usize = 1_030;

#[tokio::test(start_paused = true)]
async fn tasks_that_wait_for_room_hide_no_expired_one() {
    let (works, store) = (Works::default(), shared());
    let server = |running| {
        let limits = limits().running(running).tasks_per_owner(MANY + 1);
        works.with(Tasks::new().store(Arc::clone(&store)).limits(limits))
    };
    let first = server(MANY + 1);
    let mut peer = Peer::modern(&first);
    for _ in 0..MANY {
        peer.task("gated_again", json!({})).await;
    }
    let expiring = peer.task("short", json!({"seconds": 0})).await;
    peer.end(&expiring).await;
    ServerTasks::of(&first).unwrap().release().await;
    let second = server(1);
    sleep(Duration::from_secs(20)).await;
    let left = store.usage("").await.unwrap().tasks;
    assert_eq!(left, MANY as u64, "the expired task is deleted");
    assert_eq!(ServerTasks::of(&second).unwrap().running(), 1);
    // A process with room finds all of the others at once.
    let third = server(MANY);
    sleep(limits().sweep_interval * 2).await;
    assert_eq!(ServerTasks::of(&third).unwrap().running(), MANY - 1);
}

#[tokio::test(start_paused = true)]
async fn a_search_that_takes_too_long_is_repeated_with_fewer_tasks() {
    let (works, store) = (Works::default(), FailingStore::new(shared()));
    let server = works.with(Tasks::new().store(store.clone()).limits(limits()));
    let mut peer = Peer::modern(&server);
    for _ in 0..10 {
        let expiring = peer.task("short", json!({"seconds": 0})).await;
        peer.end(&expiring).await;
    }
    store.limit_searches(5);
    sleep(Duration::from_secs(20) + 3 * limits().store_timeout).await;
    assert_eq!(store.usage("").await.unwrap().tasks, 0);
}

/// Results may be large, so few of them are in memory at once.
#[tokio::test(start_paused = true)]
async fn a_process_that_loses_races_reads_no_more_tasks_at_once() {
    for loses in [false, true] {
        let (works, store) = (Works::default(), FailingStore::new(shared()));
        let server = works.with(Tasks::new().store(store.clone()).limits(limits()));
        if loses {
            store.lose_races();
        }
        let mut peer = Peer::modern(&server);
        for _ in 0..100 {
            let expiring = peer.task("short", json!({"seconds": 0})).await;
            peer.end(&expiring).await;
        }
        sleep(Duration::from_secs(20)).await;
        assert_eq!(store.usage("").await.unwrap().tasks, 0);
        assert_eq!(store.largest_search(), 16, "loses: {loses}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_failed_task_is_logged_once_it_is_stored() {
    let (works, store) = (Works::default(), FailingStore::new(shared()));
    let server = || works.with(Tasks::new().store(store.clone()).limits(limits()));
    let first = server();
    let mut peer = Peer::modern(&first);
    for _ in 0..3 {
        peer.task("gated", json!({})).await;
    }
    crash(first).await;
    Log::start();
    store.refuse(true);
    let _second = server();
    let sweeps = limits().lease + limits().sweep_interval * 10;
    sleep(sweeps).await;
    let count = |log: &[String], text| log.iter().filter(|line| line.contains(text)).count();
    let (failed, refused) = ("an interrupted task has failed", "could not be changed");
    let log = Log::take();
    assert_eq!(count(&log, failed), 0, "{log:#?}");
    assert_eq!(count(&log, refused), 1, "{log:#?}");
    store.refuse(false);
    sleep(sweeps).await;
    let log = Log::take();
    assert_eq!(count(&log, failed), 3, "{log:#?}");
}

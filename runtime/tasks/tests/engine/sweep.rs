//! Search for interrupted and expired tasks.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use treenail::tasks::{ServerTasks, TaskStore as _, Tasks};

use crate::peer::Peer;
use crate::works::{Works, limits, shared};

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

//! Outages of the store that are shorter than a lease.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use treenail::tasks::Tasks;

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, limits, shared};

const LEASE: Duration = Duration::from_secs(30);

/// Starts a task, and makes its store fail.
async fn interrupted(works: &Works) -> (Peer, String, FailingStore) {
    let store = FailingStore::new(shared());
    let limits = limits().lease(LEASE).sweep_interval(LEASE * 10);
    let tasks = Tasks::new().store(store.clone()).limits(limits);
    let mut peer = Peer::modern(&works.with(tasks));
    let task = peer.task("gated", json!({})).await;
    store.fail(true);
    (peer, task, store)
}

#[tokio::test(start_paused = true)]
async fn a_running_task_tries_less_often_while_an_outage_lasts() {
    let works = Works::default();
    let (mut peer, task, store) = interrupted(&works).await;
    sleep(LEASE * 9 / 10).await;
    let attempts = store.failures();
    assert!((5..=30).contains(&attempts), "{attempts}");
    store.fail(false);
    works.gate.add_permits(1);
    assert_eq!(peer.end(&task).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn an_outage_that_ends_before_the_lease_interrupts_no_task() {
    let works = Works::default();
    let (mut peer, task, store) = interrupted(&works).await;
    sleep(LEASE * 59 / 60).await;
    store.fail(false);
    sleep(LEASE / 2).await;
    works.gate.add_permits(1);
    assert_eq!(peer.end(&task).await["status"], "completed");
    assert_eq!(works.notes(), ["begin", "end"]);
}

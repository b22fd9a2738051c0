//! Stores that have lost the last changes, as after a failover to an asynchronous copy.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::{sleep, timeout};
use treenail::Server;
use treenail::tasks::{MemoryStore, StoredTask, TaskStore, Tasks};

use crate::peer::Peer;
use crate::push::listen;
use crate::works::{Works, limits, shared};

const HOUR: Duration = Duration::from_secs(3_600);

/// Replica whose runs look for changes three times before they renew their leases.
fn replica(works: &Works, store: &Arc<MemoryStore>) -> Server {
    let limits = limits().lease(limits().watch_interval * 9);
    works.with(Tasks::new().store(Arc::clone(store)).limits(limits))
}

async fn stored(store: &MemoryStore, task: &str) -> StoredTask {
    let id = task.parse().unwrap();
    store.get(&id).await.unwrap().unwrap()
}

/// Starts a task, and renews its lease this many times. Returns the version before.
async fn renewed(peer: &mut Peer, store: &MemoryStore, times: u64) -> (String, StoredTask) {
    let task = peer.task("gated", json!({})).await;
    let before = stored(store, &task).await;
    while stored(store, &task).await.version < before.version + times {
        sleep(limits().watch_interval / 10).await;
    }
    (task, before)
}

/// Subscribes to a task that runs.
async fn subscribe(peer: &mut Peer, task: &str) {
    assert_eq!(listen(peer, &[task]).await, json!([task]));
    assert_eq!(peer.next().await["params"]["status"], "working");
}

/// Makes the store go back to a version.
async fn go_back(store: &MemoryStore, to: StoredTask) {
    let now = stored(store, to.id.as_str()).await;
    assert!(store.remove(&now.id, now.version).await.unwrap());
    store.insert(to, HOUR).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_continues_after_the_store_has_lost_a_renewal() {
    let (works, store) = (Works::default(), shared());
    let mut peer = Peer::modern(&replica(&works, &store));
    let (task, before) = renewed(&mut peer, &store, 1).await;
    let lost = stored(&store, &task).await.version;
    go_back(&store, before).await;
    // The renewal is stored again before its time.
    sleep(limits().watch_interval * 2).await;
    assert_eq!(stored(&store, &task).await.version, lost);
    works.gate.add_permits(1);
    assert_eq!(peer.end(&task).await["status"], "completed");
    assert_eq!(works.notes(), ["begin", "end"]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_task_is_final_in_a_version_that_its_run_has_stored_before() {
    for same_process in [false, true] {
        let (works, store) = (Works::default(), shared());
        let (here, there) = (replica(&works, &store), replica(&works, &store));
        let third = replica(&works, &store);
        let mut watching = [&here, &there, &third].map(Peer::modern);
        let mut peer = Peer::modern(&here);
        let mut other = Peer::modern(if same_process { &here } else { &there });
        let (task, before) = renewed(&mut peer, &store, 1).await;
        let lost = stored(&store, &task).await.version;
        for peer in &mut watching {
            subscribe(peer, &task).await;
        }
        go_back(&store, before).await;
        other.result("tasks/cancel", json!({"taskId": task})).await;
        assert_eq!(stored(&store, &task).await.version, lost);
        sleep(limits().watch_interval * 2).await;
        works.gate.add_permits(1);
        sleep(limits().watch_interval * 20).await;
        assert_eq!(peer.get(&task).await["status"], "cancelled");
        assert_eq!(works.notes(), ["begin"], "{same_process}");
        for peer in &mut watching {
            assert_eq!(peer.next().await["params"]["status"], "cancelled");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn subscribers_hear_of_the_next_change_after_the_store_has_lost_several() {
    let (works, store) = (Works::default(), shared());
    let (here, there) = (replica(&works, &store), replica(&works, &store));
    let mut peer = Peer::modern(&here);
    let (task, before) = renewed(&mut peer, &store, 3).await;
    let mut watching = [Peer::modern(&here), Peer::modern(&there)];
    for peer in &mut watching {
        subscribe(peer, &task).await;
    }
    go_back(&store, before).await;
    // The run stores one version, and the next one after a third of its lease.
    for peer in &mut watching {
        let change = timeout(limits().watch_interval * 3, peer.next()).await;
        assert_eq!(change.unwrap()["params"]["status"], "working");
    }
}

//! Stores that have lost the last changes, as after a failover to an asynchronous copy.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
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

/// Starts a task, and renews its lease. Returns the version before.
async fn renewed(peer: &mut Peer, store: &MemoryStore) -> (String, StoredTask) {
    let task = peer.task("gated", json!({})).await;
    let before = stored(store, &task).await;
    while stored(store, &task).await.version == before.version {
        sleep(limits().watch_interval / 10).await;
    }
    (task, before)
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
    let (task, before) = renewed(&mut peer, &store).await;
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
        let (mut peer, mut watching) = (Peer::modern(&here), Peer::modern(&here));
        let mut other = Peer::modern(if same_process { &here } else { &there });
        let (task, before) = renewed(&mut peer, &store).await;
        let lost = stored(&store, &task).await.version;
        assert_eq!(listen(&mut watching, &[&task]).await, json!([task]));
        assert_eq!(watching.next().await["params"]["status"], "working");
        go_back(&store, before).await;
        other.result("tasks/cancel", json!({"taskId": task})).await;
        assert_eq!(stored(&store, &task).await.version, lost);
        sleep(limits().watch_interval * 2).await;
        works.gate.add_permits(1);
        sleep(limits().watch_interval * 20).await;
        assert_eq!(peer.get(&task).await["status"], "cancelled");
        assert_eq!(works.notes(), ["begin"], "{same_process}");
        assert_eq!(watching.next().await["params"]["status"], "cancelled");
    }
}

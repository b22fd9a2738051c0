//! Panics of the store.

use std::time::Duration;

use serde_json::json;
use tokio::time::{sleep, timeout};
use treenail::Server;
use treenail::tasks::{ServerTasks, TaskStore as _, Tasks};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, limits, shared};

fn server(works: &Works) -> (Server, FailingStore) {
    let store = FailingStore::new(shared());
    let tasks = Tasks::new().store(store.clone()).limits(limits());
    (works.with(tasks), store)
}

#[tokio::test(start_paused = true)]
async fn the_sweeper_survives_a_panic_of_the_store() {
    let (server, store) = server(&Works::default());
    let mut peer = Peer::modern(&server);
    let task = peer.task("short", json!({"seconds": 1})).await;
    peer.end(&task).await;
    store.panic(true);
    sleep(limits().sweep_interval * 3).await;
    store.panic(false);
    sleep(Duration::from_secs(15)).await;
    assert_eq!(store.usage("").await.unwrap().tasks, 0, "it has expired");
}

#[tokio::test(start_paused = true)]
async fn a_request_that_makes_the_store_panic_gets_an_error() {
    let works = Works::default();
    let (server, store) = server(&works);
    let mut peer = Peer::modern(&server);
    let task = peer.task("gated", json!({})).await;
    store.panic(true);
    let code = peer.code("tasks/get", json!({"taskId": task})).await;
    assert_eq!(code, -32_603);
    store.panic(false);
    works.gate.add_permits(1);
    assert_eq!(peer.end(&task).await["status"], "completed");
}

#[tokio::test(start_paused = true)]
async fn a_release_ends_although_the_store_panics() {
    let (server, store) = server(&Works::default());
    Peer::modern(&server).task("gated", json!({})).await;
    store.panic(true);
    let tasks = ServerTasks::of(&server).unwrap();
    let released = timeout(Duration::from_secs(3_600), tasks.release()).await;
    released.expect("the release ends");
    assert_eq!(tasks.running(), 0);
}

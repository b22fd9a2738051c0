//! Replicas of a server that share a store.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use treenail::tasks::{ServerTasks, Tasks};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, crash, limits, shared};

#[tokio::test(start_paused = true)]
async fn one_of_two_replicas_takes_an_interrupted_task_over() {
    let (works, store) = (Works::default(), shared());
    let tasks = || Tasks::new().store(store.clone()).limits(limits());
    let server = works.with(tasks());
    let mut ids = Vec::new();
    for _ in 0..20 {
        ids.push(Peer::modern(&server).task("gated_again", json!({})).await);
    }
    crash(server).await;
    let replicas = [works.with(tasks()), works.with(tasks())];
    sleep(limits().lease * 3).await;
    let running = replicas
        .iter()
        .map(|it| ServerTasks::of(it).unwrap().running());
    assert_eq!(running.sum::<usize>(), 20);
    assert_eq!(works.notes().len(), 40, "each has begun twice");
    works.gate.add_permits(20);
    for id in &ids {
        assert_eq!(
            Peer::modern(&replicas[0]).end(id).await["status"],
            "completed"
        );
    }
    assert_eq!(
        works.notes().iter().filter(|note| *note == "end").count(),
        20
    );
}

#[tokio::test(start_paused = true)]
async fn a_running_task_is_left_to_its_replica() {
    let (works, store) = (Works::default(), shared());
    let tasks = || Tasks::new().store(store.clone()).limits(limits());
    let (here, _there) = (works.with(tasks()), works.with(tasks()));
    let task = Peer::modern(&here).task("gated_again", json!({})).await;
    sleep(Duration::from_secs(60)).await;
    works.gate.add_permits(1);
    assert_eq!(Peer::modern(&here).end(&task).await["status"], "completed");
    assert_eq!(works.notes(), ["begin", "end"]);
}

/// The replica cannot reach the store for longer than its lease, as in a pause of its machine.
#[tokio::test(start_paused = true)]
async fn a_replica_that_has_lost_its_lease_stops_without_an_effect() {
    let (works, store) = (Works::default(), shared());
    let failing = FailingStore::new(store.clone());
    let here = works.with(Tasks::new().store(failing.clone()).limits(limits()));
    let task = Peer::modern(&here).task("gated_again", json!({})).await;
    failing.fail(true);
    let there = works.with(Tasks::new().store(store.clone()).limits(limits()));
    sleep(limits().lease * 3).await;
    assert_eq!(
        ServerTasks::of(&here).unwrap().running(),
        0,
        "it has stopped"
    );
    assert_eq!(ServerTasks::of(&there).unwrap().running(), 1);
    failing.fail(false);
    works.gate.add_permits(1);
    let done = Peer::modern(&here).end(&task).await;
    assert_eq!(done["status"], "completed");
    assert_eq!(works.notes(), ["begin", "begin", "end"]);
}

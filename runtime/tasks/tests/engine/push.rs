//! Notifications of tasks (2026-07-28).

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use treenail::tasks::{MemoryStore, TaskStore as _, Tasks};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, crash, limits, shared};

pub(crate) async fn listen(peer: &mut Peer, tasks: &[&str]) -> Value {
    peer.send(
        "subscriptions/listen",
        json!({"notifications": {"taskIds": tasks}}),
    )
    .await;
    let acknowledged = peer.next().await;
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    acknowledged["params"]["notifications"]["taskIds"].clone()
}

#[tokio::test(start_paused = true)]
async fn the_acknowledgement_has_the_callers_tasks_only() {
    let server = Works::default().server(MemoryStore::new());
    let mut alice = Peer::of(&server, "alice");
    let task = alice.task("gated", json!({})).await;
    let foreign = Peer::of(&server, "bob").task("gated", json!({})).await;
    let ids = [&*task, &*foreign, "AAAAAAAAAAAAAAAAAAAAAA", "x"];
    assert_eq!(
        listen(&mut alice, &ids).await,
        json!([task]),
        "TASK-S-24, XAMB-08"
    );
}

/// The server is built outside of the runtime, so its first request starts its work on tasks.
#[tokio::test(start_paused = true)]
async fn a_subscription_may_be_the_first_request() {
    let store = shared();
    let first = Works::default().server(Arc::clone(&store));
    let task = Peer::modern(&first).task("gated", json!({})).await;
    crash(first).await;
    let tasks = Tasks::new().store(store).limits(limits());
    let build = || Works::default().with(tasks);
    let second = std::thread::spawn(build).join().unwrap();
    let mut peer = Peer::modern(&second);
    assert_eq!(listen(&mut peer, &[&task]).await, json!([task]));
    let pushed = timeout(Duration::from_secs(60), peer.next()).await;
    assert_eq!(pushed.unwrap()["method"], "notifications/tasks");
}

#[tokio::test(start_paused = true)]
async fn a_task_without_subscribers_leaves_room_for_another() {
    let tasks = Tasks::new()
        .store(MemoryStore::new())
        .limits(limits().watched(1));
    let server = Works::default().with(tasks);
    let (mut one, mut two) = (Peer::modern(&server), Peer::modern(&server));
    let first = two.task("gated", json!({})).await;
    let second = two.task("gated", json!({})).await;
    assert_eq!(listen(&mut one, &[&first]).await, json!([first]));
    assert_eq!(listen(&mut two, &[&second]).await, json!([]));
    tokio::time::sleep(limits().watch_interval * 2).await;
    assert_eq!(listen(&mut two, &[&second]).await, json!([]));
    one.abort().await;
    tokio::time::sleep(limits().watch_interval * 2).await;
    assert_eq!(listen(&mut two, &[&second]).await, json!([second]));
}

#[tokio::test(start_paused = true)]
async fn each_change_is_pushed_whole() {
    let works = Works::default();
    let server = works.server(MemoryStore::new());
    let (mut peer, mut subscriber) = (Peer::modern(&server), Peer::modern(&server));
    let task = peer.task("confirm", json!({})).await;
    listen(&mut subscriber, &[&task]).await;
    let mut statuses = Vec::new();
    loop {
        let message = subscriber.next().await;
        assert_eq!(message["method"], "notifications/tasks", "TASK-S-25");
        let params = &message["params"];
        assert_eq!(params["taskId"], *task, "TASK-S-25");
        let subscription = &params["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*subscription, 1, "TASK-S-25");
        let mut read = peer.get(&task).await;
        let status = params["status"].clone();
        if read["status"] == status {
            for member in ["_meta", "resultType"] {
                read.as_object_mut().unwrap().remove(member);
            }
            let mut params = params.clone();
            params.as_object_mut().unwrap().remove("_meta");
            assert_eq!(params, read, "TASK-S-25: as `tasks/get` shows it");
        }
        if let Some(requests) = params["inputRequests"].as_object() {
            let key = requests.keys().next().unwrap();
            peer.update(&task, key, json!({"name": "Bo"})).await;
        }
        statuses.push(status);
        if statuses.last().unwrap() == "completed" {
            break;
        }
    }
    // A newer message replaces one that was not sent yet.
    statuses.dedup();
    for status in ["working", "input_required", "completed"] {
        assert!(statuses.contains(&json!(status)), "TASK-S-25: {statuses:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_task_of_another_process_is_pushed_too() {
    let (works, store) = (Works::default(), shared());
    let tasks = || Tasks::new().store(store.clone()).limits(limits());
    let (here, there) = (works.with(tasks()), works.with(tasks()));
    let task = Peer::modern(&here).task("gated", json!({})).await;
    let mut subscriber = Peer::modern(&there);
    assert_eq!(
        listen(&mut subscriber, &[&task]).await,
        json!([task]),
        "TASK-S-24"
    );
    assert_eq!(subscriber.next().await["params"]["status"], "working");
    works.gate.add_permits(1);
    let message = subscriber.next().await;
    assert_eq!(message["params"]["status"], "completed", "TASK-S-25");
}

#[tokio::test(start_paused = true)]
async fn a_damaged_task_hides_no_other() {
    let (works, store) = (Works::default(), FailingStore::new(shared()));
    let tasks = || Tasks::new().store(store.clone()).limits(limits());
    let (here, there) = (works.with(tasks()), works.with(tasks()));
    let mut peer = Peer::modern(&here);
    let mut ids = [
        peer.task("gated", json!({})).await,
        peer.task("gated", json!({})).await,
    ];
    ids.sort();
    let [damaged, other] = &ids;
    let mut subscriber = Peer::modern(&there);
    listen(&mut subscriber, &[damaged, other]).await;
    for _ in 0..2 {
        assert_eq!(subscriber.next().await["params"]["status"], "working");
    }
    store.damage(damaged);
    let mut late = Peer::modern(&there);
    assert_eq!(listen(&mut late, &[damaged, other]).await, json!([other]));
    works.gate.add_permits(2);
    let completed = async {
        loop {
            let mut pushed = subscriber.next().await["params"].take();
            if pushed["status"] == "completed" {
                return pushed["taskId"].take();
            }
        }
    };
    let completed = timeout(limits().watch_interval * 5, completed).await;
    assert_eq!(completed, Ok(json!(other)), "TASK-S-25");
}

#[tokio::test(start_paused = true)]
async fn without_the_extension_the_member_is_ignored() {
    let server = treenail::Server::builder("none", "1.0.0").build().unwrap();
    let mut peer = Peer::modern(&server);
    assert_eq!(listen(&mut peer, &["x"]).await, json!(null), "Annex C");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_state_is_pushed_after_the_final_one() {
    for _ in 0..20 {
        let store = shared();
        let server = Works::default().with(Tasks::new().store(store.clone()));
        let (mut peer, mut subscriber) = (Peer::modern(&server), Peer::modern(&server));
        let task = peer.task("ask_long", json!({})).await;
        listen(&mut subscriber, &[&task]).await;
        // The question is stored, and its notification is being written.
        let id = task.parse().unwrap();
        while store.state(&id).await.unwrap().unwrap().state.len() < 900_000 {
            tokio::task::yield_now().await;
        }
        peer.result("tasks/cancel", json!({"taskId": task})).await;
        crash(server).await;
        let is_final =
            async { while subscriber.next().await["params"]["status"] != "cancelled" {} };
        timeout(Duration::from_secs(60), is_final).await.unwrap();
        subscriber.result("server/discover", json!({})).await;
        assert!(subscriber.messages.is_empty(), "{:?}", subscriber.messages);
    }
}

//! Changes whose confirmation is lost, or that the store refuses while a call ends.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep, sleep_until};
use treenail::elicit::RequestStateKey;
use treenail::tasks::{TaskStore as _, Tasks};

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{Works, limits, shared};

#[tokio::test(start_paused = true)]
async fn a_plain_result_leaves_no_task_if_the_second_change_is_reported_as_failed() {
    let works = Works::default();
    let store = FailingStore::new(shared());
    let server = works.with(Tasks::new().store(store.clone()).limits(limits()));
    store.lose_change();
    let result = Peer::modern(&server).call("late", json!({})).await;
    assert_eq!(result["resultType"], "complete", "{result}");
    sleep(limits().lease * 20).await;
    assert_eq!(store.usage("").await.unwrap().tasks, 0);
    assert_eq!(works.notes(), ["late"]);
}

#[tokio::test(start_paused = true)]
async fn an_abandoned_question_of_an_external_task_is_withdrawn_after_a_failure_of_the_store() {
    let works = Works::default();
    let store = FailingStore::new(shared());
    let tasks = Tasks::new().store(store.clone()).limits(limits());
    let server = works.with(tasks.token_key(RequestStateKey::new([7; 32])));
    let mut peer = Peer::modern(&server);
    let start = Instant::now();
    let task = peer.task("outside_gated", json!({})).await;
    peer.until(&task, &["input_required"]).await;
    // Shortly before the end of the question, and between two renewals of the lease.
    sleep_until(start + Duration::from_millis(8_400)).await;
    assert_eq!(peer.get(&task).await["status"], "input_required");
    store.fail(true);
    while works.notes().is_empty() {
        sleep(limits().watch_interval / 100).await;
    }
    // The keeper waits to repeat the withdrawal.
    works.gate.add_permits(1);
    sleep(limits().watch_interval / 2).await;
    store.fail(false);
    peer.until(&task, &["working"]).await;
    assert_eq!(peer.get(&task).await["statusMessage"], "queued");
}

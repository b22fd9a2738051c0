//! Questions of tasks to clients of revision 2025-11-25 that poll, on the stream of their session.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use treenail::Limits;
use treenail::tasks::Tasks;

use crate::failing_store::FailingStore;
use crate::older_asking::{
    RELATED, able, asked, builder, create, is_not_asked, named, poll, server, text, until, with,
};
use crate::works::{limits, shared};

#[tokio::test(start_paused = true)]
async fn a_client_that_polls_is_asked_once_on_the_stream_of_its_session() {
    let answer =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Oslo"}});
    for (tool, method, answer, expected) in [
        ("elicit", "elicitation/create", named("Bo"), "Bo"),
        ("sample", "sampling/createMessage", answer, "Oslo"),
        (
            "roots",
            "roots/list",
            json!({"roots": [{"uri": "file:///a"}]}),
            "file:///a",
        ),
    ] {
        let server = server();
        let mut peer = able(&server).await;
        let task = create(&mut peer, tool).await;
        until(&mut peer, &task, "input_required").await;
        let request = asked(&mut peer, &task).await;
        assert_eq!(request["method"], method, "LTASK-S-04");
        let related = &request["params"]["_meta"][RELATED]["taskId"];
        assert_eq!(*related, task, "LTASK-B-07: {method}");
        is_not_asked(&mut peer, &task).await;
        peer.answer(&request, answer).await;
        until(&mut peer, &task, "completed").await;
        assert_eq!(text(&mut peer, &task).await, expected, "LTASK-S-04");
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_is_with_one_session_until_that_ends() {
    let server = server();
    let (mut one, mut other) = (able(&server).await, able(&server).await);
    let task = create(&mut one, "elicit").await;
    asked(&mut one, &task).await;
    is_not_asked(&mut other, &task).await;
    one.abort().await;
    let request = asked(&mut other, &task).await;
    other.answer(&request, named("Bo")).await;
    until(&mut other, &task, "completed").await;
    assert_eq!(text(&mut other, &task).await, "Bo");
}

#[tokio::test(start_paused = true)]
async fn a_request_for_the_result_takes_the_question_over() {
    let server = server();
    let (mut one, mut other) = (able(&server).await, able(&server).await);
    let task = create(&mut one, "elicit").await;
    let first = asked(&mut one, &task).await;
    let waiting = other.send("tasks/result", json!({"taskId": task})).await;
    let second = other.next().await;
    assert_eq!(second["method"], "elicitation/create", "LTASK-S-04");
    let withdrawn = one.next().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], first["id"]);
    // Its answer is late, and changes nothing.
    one.answer(&first, named("Al")).await;
    is_not_asked(&mut one, &task).await;
    other.answer(&second, named("Bo")).await;
    let result = other.response(waiting).await;
    assert_eq!(result["result"]["content"][0]["text"], "Bo");
    assert_eq!(text(&mut one, &task).await, "Bo");
}

#[tokio::test(start_paused = true)]
async fn a_question_returns_to_the_session_that_still_waits() {
    let server = server();
    let (mut one, mut other) = (able(&server).await, able(&server).await);
    let task = create(&mut one, "elicit").await;
    let waiting = one.send("tasks/result", json!({"taskId": task})).await;
    assert_eq!(one.next().await["method"], "elicitation/create");
    other.send("tasks/result", json!({"taskId": task})).await;
    assert_eq!(other.next().await["method"], "elicitation/create");
    assert_eq!(one.next().await["method"], "notifications/cancelled");
    // The session does not take it back.
    tokio::time::sleep(limits().watch_interval * 3).await;
    is_not_asked(&mut one, &task).await;
    other.abort().await;
    let again = one.next().await;
    assert_eq!(again["method"], "elicitation/create", "LTASK-S-04");
    one.answer(&again, named("Bo")).await;
    let result = one.response(waiting).await;
    assert_eq!(result["result"]["content"][0]["text"], "Bo");
}

#[tokio::test(start_paused = true)]
async fn a_request_for_the_result_asks_again_after_the_timeout() {
    let server = server();
    let (mut one, mut other) = (able(&server).await, able(&server).await);
    let task = create(&mut one, "elicit").await;
    let waiting = one.send("tasks/result", json!({"taskId": task})).await;
    let mut before = one.next().await;
    for _ in 0..2 {
        let withdrawn = one.next().await;
        assert_eq!(withdrawn["method"], "notifications/cancelled");
        assert_eq!(withdrawn["params"]["requestId"], before["id"]);
        let again = timeout(limits().watch_interval * 5, one.next()).await;
        let again = again.expect("the client is asked again");
        assert_eq!(again["method"], "elicitation/create", "LTASK-S-04");
        assert_ne!(again["id"], before["id"]);
        before = again;
    }
    is_not_asked(&mut other, &task).await;
    one.answer(&before, named("Bo")).await;
    let result = one.response(waiting).await;
    assert_eq!(result["result"]["content"][0]["text"], "Bo", "LTASK-S-04");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_free_for_other_sessions_after_the_timeout() {
    // The waiting request asks again half a watch interval later.
    let time = Duration::from_millis(60_500);
    let builder = builder(Tasks::new()).limits(Limits::default().elicitation_timeout(time));
    let server = builder.build().unwrap();
    let (mut one, mut other) = (able(&server).await, able(&server).await);
    let task = create(&mut one, "elicit").await;
    let waiting = one.send("tasks/result", json!({"taskId": task})).await;
    one.next().await;
    assert_eq!(one.next().await["method"], "notifications/cancelled");
    let request = asked(&mut other, &task).await;
    tokio::time::sleep(limits().watch_interval * 3).await;
    is_not_asked(&mut one, &task).await;
    other.answer(&request, named("Bo")).await;
    let result = one.response(waiting).await;
    assert_eq!(result["result"]["content"][0]["text"], "Bo", "LTASK-S-04");
}

#[tokio::test(start_paused = true)]
async fn an_answer_survives_an_outage_of_the_store() {
    for (outage, waits) in [(20, true), (1_500, true), (1_500, false)] {
        let store = FailingStore::new(shared());
        let server = with(Tasks::new().store(store.clone()));
        let mut peer = able(&server).await;
        let task = create(&mut peer, "elicit").await;
        let question = if waits {
            peer.send("tasks/result", json!({"taskId": task})).await;
            peer.next().await
        } else {
            asked(&mut peer, &task).await
        };
        store.fail(true);
        peer.answer(&question, named("Bo")).await;
        tokio::time::sleep(Duration::from_millis(outage)).await;
        store.fail(false);
        until(&mut peer, &task, "completed").await;
        assert_eq!(text(&mut peer, &task).await, "Bo", "LTASK-S-04");
        assert!(peer.messages.is_empty(), "{:?}", peer.messages);
    }
}

#[tokio::test(start_paused = true)]
async fn a_question_is_not_withdrawn_by_an_outage_of_the_store() {
    let store = FailingStore::new(shared());
    let server = with(Tasks::new().store(store.clone()));
    let mut peer = able(&server).await;
    let task = create(&mut peer, "elicit").await;
    let waiting = peer.send("tasks/result", json!({"taskId": task})).await;
    let question = peer.next().await;
    for _ in 0..2 {
        store.fail(true);
        tokio::time::sleep(limits().lease / 2).await;
        store.fail(false);
        tokio::time::sleep(limits().lease).await;
    }
    peer.answer(&question, named("Bo")).await;
    let result = peer.response(waiting).await;
    let text = &result["result"]["content"][0]["text"];
    assert_eq!(text, "Bo", "LTASK-B-06: {result}");
    assert!(peer.messages.is_empty(), "{:?}", peer.messages);
}

#[tokio::test(start_paused = true)]
async fn a_request_for_the_result_fails_with_a_store_that_stays_away() {
    let store = FailingStore::new(shared());
    let server = with(Tasks::new().store(store.clone()));
    let mut peer = able(&server).await;
    let task = create(&mut peer, "elicit").await;
    let waiting = peer.send("tasks/result", json!({"taskId": task})).await;
    peer.next().await;
    store.fail(true);
    let response = timeout(limits().lease * 3, peer.response(waiting)).await;
    assert_eq!(response.unwrap()["error"]["code"], -32_603, "LTASK-B-06");
    let code = peer.code("tasks/result", json!({"taskId": task})).await;
    assert_eq!(code, -32_603, "LTASK-B-06");
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_task_withdraws_its_question() {
    let server = server();
    let mut peer = able(&server).await;
    let task = create(&mut peer, "elicit").await;
    let request = asked(&mut peer, &task).await;
    peer.result("tasks/cancel", json!({"taskId": task})).await;
    let withdrawn = peer.next().await;
    assert_eq!(withdrawn["method"], "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
    peer.answer(&request, named("Bo")).await;
    assert_eq!(
        poll(&mut peer, &task).await["status"],
        "cancelled",
        "LTASK-B-10"
    );
}

#[tokio::test(start_paused = true)]
async fn a_refused_question_fails_the_task_with_the_reason() {
    let server = server();
    let mut peer = able(&server).await;
    let task = create(&mut peer, "elicit").await;
    let request = asked(&mut peer, &task).await;
    peer.refuse(&request, "no terminal").await;
    until(&mut peer, &task, "failed").await;
    let reason = text(&mut peer, &task).await;
    assert!(reason.contains("no terminal"), "LTASK-B-08: {reason}");
}

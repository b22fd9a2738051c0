//! Questions of tasks to clients of revision 2025-11-25 that poll, on the stream of their session.

use std::time::Duration;

use serde_json::{Value, json};
use treenail::elicit::AskError;
use treenail::prelude::*;
use treenail::schema::{CreateMessageRequestParams, SamplingMessageContentBlock};
use treenail::tasks::Tasks;

use crate::failing_store::FailingStore;
use crate::peer::Peer;
use crate::works::{limits, shared};

const RELATED: &str = "io.modelcontextprotocol/related-task";

#[mcp_form]
struct Name {
    name: String,
}

/// Tools with a question of each kind.
struct Asking;

#[mcp_tool]
#[allow(deprecated, reason = "tasks of this revision use them")]
impl Asking {
    #[tool(task(always))]
    async fn elicit(&self, cx: &Context) -> Result<String, AskError> {
        let Name { name } = cx.elicit("Name?").await?;
        Ok(name)
    }

    #[tool(task(always))]
    async fn sample(&self, cx: &Context) -> Result<String, AskError> {
        let hello = json!({"role": "user", "content": {"type": "text", "text": "The capital?"}});
        let params = json!({"maxTokens": 10, "messages": [hello]});
        let params: CreateMessageRequestParams = serde_json::from_value(params).unwrap();
        let answer = cx.sample(params).await?;
        match answer.content.iter().next() {
            Some(SamplingMessageContentBlock::Text(text)) => Ok(text.text.clone()),
            _ => Ok("no text".to_owned()),
        }
    }

    #[tool(task(always))]
    async fn roots(&self, cx: &Context) -> Result<String, AskError> {
        let roots = cx.roots().await?;
        Ok(roots.into_iter().map(|root| root.uri).collect())
    }
}

fn server() -> Server {
    with(Tasks::new())
}

fn with(tasks: Tasks) -> Server {
    let tasks = tasks.limits(limits());
    let builder = Server::builder("asking", "1.0.0").extension(tasks);
    builder.mount(Asking).build().unwrap()
}

async fn able(server: &Server) -> Peer {
    let capabilities = json!({"elicitation": {}, "sampling": {}, "roots": {}});
    Peer::older_with(server, &capabilities).await
}

async fn create(peer: &mut Peer, tool: &str) -> Value {
    let params = json!({"name": tool, "arguments": {}, "task": {}});
    peer.result("tools/call", params).await["task"]["taskId"].clone()
}

async fn poll(peer: &mut Peer, task: &Value) -> Value {
    peer.result("tasks/get", json!({"taskId": task})).await
}

/// Polls until the task has the status.
async fn until(peer: &mut Peer, task: &Value, status: &str) -> Value {
    for _ in 0..100 {
        let state = poll(peer, task).await;
        if state["status"] == status {
            return state;
        }
        tokio::time::sleep(limits().poll_interval).await;
    }
    panic!("the task never became {status}");
}

/// Polls until the client is asked.
async fn asked(peer: &mut Peer, task: &Value) -> Value {
    for _ in 0..100 {
        poll(peer, task).await;
        if let Some(request) = peer.messages.pop_front() {
            return request;
        }
        tokio::time::sleep(limits().poll_interval).await;
    }
    panic!("the client is not asked");
}

/// Polls some times. The client must not be asked.
async fn is_not_asked(peer: &mut Peer, task: &Value) {
    for _ in 0..5 {
        let state = poll(peer, task).await;
        assert_eq!(state["status"], "input_required", "LTASK-S-04");
        tokio::time::sleep(limits().poll_interval).await;
    }
    assert!(peer.messages.is_empty(), "{:?}", peer.messages);
}

fn named(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

async fn text(peer: &mut Peer, task: &Value) -> String {
    let result = peer.result("tasks/result", json!({"taskId": task})).await;
    assert_eq!(result["_meta"][RELATED]["taskId"], *task, "LTASK-B-07");
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

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
async fn a_client_without_the_capability_is_not_asked() {
    let server = server();
    let mut peer = able(&server).await;
    for (tool, capabilities) in [
        ("elicit", json!({"sampling": {}, "roots": {}})),
        ("sample", json!({"elicitation": {}, "roots": {}})),
        ("roots", json!({"elicitation": {}, "sampling": {}})),
    ] {
        let task = create(&mut peer, tool).await;
        let mut unable = Peer::older_with(&server, &capabilities).await;
        until(&mut unable, &task, "input_required").await;
        is_not_asked(&mut unable, &task).await;
        let request = asked(&mut peer, &task).await;
        assert_eq!(
            request["params"]["_meta"][RELATED]["taskId"], task,
            "{tool}"
        );
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
async fn an_answer_survives_an_outage_of_the_store() {
    // The second outage ends the request with an error.
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

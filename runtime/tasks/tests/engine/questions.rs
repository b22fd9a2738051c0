//! Questions of tasks (2026-07-28).

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::tasks::{MemoryStore, Tasks};

use crate::peer::Peer;
use crate::works::{Works, crash, limits, shared};

fn keys(state: &Value) -> Vec<String> {
    let requests = state["inputRequests"].as_object().unwrap();
    requests.keys().cloned().collect()
}

#[tokio::test(start_paused = true)]
async fn an_answer_resumes_the_function() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let task = peer.task("confirm", json!({})).await;
    let asking = peer.until(&task, &["input_required"]).await;
    let [key] = &keys(&asking)[..] else {
        panic!("TASK-S-16: {asking}")
    };
    let request = &asking["inputRequests"][key];
    assert_eq!(request["method"], "elicitation/create", "TASK-S-16");
    let acknowledged = peer.update(&task, key, json!({"name": "Bo"})).await;
    assert_eq!(acknowledged["resultType"], "complete", "TASK-S-18");
    for member in ["taskId", "status"] {
        assert!(
            acknowledged.get(member).is_none(),
            "TASK-S-18: {acknowledged}"
        );
    }
    // XAMB-03: the very next read shows it.
    assert_ne!(
        peer.get(&task).await["status"],
        "input_required",
        "TASK-S-18"
    );
    let done = peer.end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Bo!");
}

#[tokio::test(start_paused = true)]
async fn a_part_of_the_answers_is_accepted() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let task = peer.task("two", json!({})).await;
    let asking = peer.until(&task, &["input_required"]).await;
    assert_eq!(keys(&asking), ["first", "second"], "TASK-S-16");
    peer.update(&task, "second", json!({"name": "B"})).await;
    let asking = peer.get(&task).await;
    assert_eq!(asking["status"], "input_required", "TASK-S-20");
    assert_eq!(keys(&asking), ["first"], "TASK-S-20");
    // TASK-S-19: answered, and never asked.
    for key in ["second", "third"] {
        peer.update(&task, key, json!({"name": "X"})).await;
    }
    assert_eq!(keys(&peer.get(&task).await), ["first"], "TASK-S-19");
    peer.update(&task, "first", json!({"name": "A"})).await;
    let done = peer.end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "A B");
    let acknowledged = peer.update(&task, "first", json!({"name": "Z"})).await;
    assert_eq!(acknowledged["resultType"], "complete", "TASK-S-19");
}

#[tokio::test(start_paused = true)]
async fn a_declined_question_is_an_outcome_of_the_function() {
    let server = Works::default().server(MemoryStore::new());
    let mut peer = Peer::modern(&server);
    let task = peer.task("confirm", json!({})).await;
    let asking = peer.until(&task, &["input_required"]).await;
    let responses = json!({&keys(&asking)[0]: {"action": "decline"}});
    let params = json!({"taskId": task, "inputResponses": responses});
    peer.result("tasks/update", params).await;
    let done = peer.end(&task).await;
    assert_eq!(done["result"]["isError"], true, "{done}");
}

#[tokio::test(start_paused = true)]
async fn a_question_is_answered_through_another_process() {
    let (works, store) = (Works::default(), shared());
    let tasks = || Tasks::new().store(store.clone()).limits(limits());
    let (here, there) = (works.with(tasks()), works.with(tasks()));
    let (mut one, mut other) = (Peer::modern(&here), Peer::modern(&there));
    let task = one.task("confirm", json!({})).await;
    let asking = other.until(&task, &["input_required"]).await;
    other
        .update(&task, &keys(&asking)[0], json!({"name": "Bo"}))
        .await;
    assert_eq!(other.get(&task).await["status"], "working", "TASK-S-18");
    let done = one.end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "Hello, Bo!");
}

#[tokio::test(start_paused = true)]
async fn too_many_bytes_of_answers_are_refused() {
    let tasks = Tasks::new().limits(limits().journal_bytes(2_000));
    let server = Works::default().with(tasks);
    let mut peer = Peer::modern(&server);
    let task = peer.task("confirm", json!({})).await;
    let asking = peer.until(&task, &["input_required"]).await;
    let large =
        json!({&keys(&asking)[0]: {"action": "accept", "content": {"name": "x".repeat(3_000)}}});
    let params = json!({"taskId": task, "inputResponses": large});
    assert_eq!(peer.code("tasks/update", params).await, -32_602);
    assert_eq!(peer.get(&task).await["status"], "input_required");
}

#[tokio::test(start_paused = true)]
async fn a_given_answer_is_final() {
    let (works, store) = (Works::default(), shared());
    let tasks = || Tasks::new().store(store.clone()).limits(limits());
    let (here, there) = (works.with(tasks()), works.with(tasks()));
    let (mut one, mut other) = (Peer::modern(&here), Peer::modern(&there));
    let task = one.task("two", json!({})).await;
    other.until(&task, &["input_required"]).await;
    // The process of the function reads the answers later.
    let declined = json!({"taskId": task, "inputResponses": {"first": {"action": "decline"}}});
    other.result("tasks/update", declined).await;
    let state = other.get(&task).await;
    for key in ["first", "third"] {
        other.update(&task, key, json!({"name": "X"})).await;
        assert_eq!(other.get(&task).await, state, "TASK-S-19: {key}");
    }
    other.update(&task, "second", json!({"name": "B"})).await;
    let done = one.end(&task).await;
    assert_eq!(done["result"]["content"][0]["text"], "the user declined");
}

#[mcp_form]
struct Company {
    name: String,
}

/// The tool of an earlier release, with another first question.
#[mcp_tool(task(resume))]
async fn book(cx: &Context) -> Result<String, AskError> {
    let company: Company = cx.elicit("Company?").await?;
    Ok(company.name)
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_not_used_for_another_question_after_a_restart() {
    let (works, store) = (Works::default(), shared());
    let tasks = || Tasks::new().store(store.clone()).limits(limits());
    let server = works.with(tasks());
    let mut peer = Peer::modern(&server);
    let asked = peer.call("book", json!({})).await;
    let key = &keys(&asked)[0];
    let answer = json!({"action": "accept", "content": {"name": "Alice"}});
    let params = json!({
        "name": "book", "arguments": {},
        "requestState": asked["requestState"], "inputResponses": {key: answer},
    });
    let created = peer.result("tools/call", params).await;
    let task = created["taskId"].as_str().unwrap();
    peer.until(task, &["input_required"]).await;
    crash(server).await;

    let builder = Server::builder("works", "1.1.0").extension(tasks());
    let server = builder.tools(tools![book]).build().unwrap();
    let mut peer = Peer::modern(&server);
    let key = loop {
        let state = peer.get(task).await;
        let requests = state["inputRequests"].as_object().unwrap();
        let is_new = |request: &&Value| request["params"]["message"] == "Company?";
        if let Some((key, _)) = requests.iter().find(|(_, request)| is_new(request)) {
            break key.clone();
        }
        tokio::time::sleep(limits().sweep_interval).await;
    };
    peer.update(task, &key, json!({"name": "ACME"})).await;
    let done = peer.end(task).await;
    assert_eq!(done["result"]["content"][0]["text"], "ACME");
}

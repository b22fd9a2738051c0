//! Questions of tasks of revision 2025-11-25, and clients without the capability to answer them.

use serde_json::{Value, json};
use tokio::time::timeout;

use crate::older_asking::{RELATED, able, asked, create, is_not_asked, named, server, text, until};
use crate::peer::Peer;
use crate::works::limits;

/// Tools, capabilities with which a client cannot answer their questions, and answers.
fn cases() -> Vec<(&'static str, Value, Value)> {
    let sampled =
        json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "Oslo"}});
    let others = |it: &str| {
        let mut all = json!({"elicitation": {}, "sampling": {}, "roots": {}});
        all.as_object_mut().unwrap().remove(it);
        all
    };
    vec![
        ("elicit", others("elicitation"), named("Bo")),
        ("elicit", json!({"elicitation": {"url": {}}}), named("Bo")),
        ("page", others("elicitation"), json!({"action": "accept"})),
        (
            "page",
            json!({"elicitation": {}}),
            json!({"action": "accept"}),
        ),
        (
            "page",
            json!({"elicitation": {"form": {}}}),
            json!({"action": "accept"}),
        ),
        ("sample", others("sampling"), sampled.clone()),
        ("sample_with_tools", json!({"sampling": {}}), sampled),
        ("roots", others("roots"), json!({"roots": []})),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_client_without_the_capability_is_not_asked() {
    let server = server();
    let mut peer = able(&server).await;
    for (tool, capabilities, answer) in cases() {
        let task = create(&mut peer, tool).await;
        let mut unable = Peer::older_with(&server, &capabilities).await;
        until(&mut unable, &task, "input_required").await;
        is_not_asked(&mut unable, &task).await;
        let request = asked(&mut peer, &task).await;
        let related = &request["params"]["_meta"][RELATED]["taskId"];
        assert_eq!(*related, task, "SRV-ELI-01, SRV-SAM-01: {tool}");
        peer.answer(&request, answer).await;
        until(&mut peer, &task, "completed").await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_for_the_result_takes_no_question_that_its_client_cannot_answer() {
    let server = server();
    let mut peer = able(&server).await;
    for (tool, capabilities, answer) in cases() {
        let task = create(&mut peer, tool).await;
        let request = asked(&mut peer, &task).await;
        let mut unable = Peer::older_with(&server, &capabilities).await;
        let waiting = unable.send("tasks/result", json!({"taskId": task})).await;
        let message = timeout(limits().watch_interval * 5, unable.next()).await;
        assert!(
            message.is_err(),
            "SRV-ELI-01, SRV-SAM-01: {tool} {message:?}"
        );
        is_not_asked(&mut peer, &task).await;
        peer.answer(&request, answer).await;
        let result = unable.response(waiting).await["result"].clone();
        let expected = text(&mut peer, &task).await;
        assert_eq!(result["content"][0]["text"], *expected, "LTASK-B-06");
        assert!(unable.messages.is_empty(), "{tool}: {:?}", unable.messages);
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_of_a_newer_client_has_an_id() {
    let server = server();
    let task = Peer::modern_with_pages(&server)
        .task("page", json!({}))
        .await;
    let mut peer = able(&server).await;
    let request = asked(&mut peer, &json!(task)).await;
    assert_eq!(request["params"]["mode"], "url", "{request}");
    let id = &request["params"]["elicitationId"];
    assert!(id.is_string(), "SRV-ELI-06: {request}");
    peer.answer(&request, json!({"action": "accept"})).await;
    until(&mut peer, &json!(task), "completed").await;
}

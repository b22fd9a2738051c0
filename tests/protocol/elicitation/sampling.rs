//! Sampling with tools and context: required client capabilities, and rejected conversations.

use serde_json::{Value, json};
use treenail::Server;
use treenail::prelude::*;
use treenail::schema::{CreateMessageRequestParams, Revision};

use crate::support::covering::covering;
use crate::support::hotel::agree;
use crate::support::peer::{Peer, error, text};

/// Samples with params given as JSON.
#[mcp_tool]
#[allow(deprecated, reason = "it is what is tested")]
async fn sample_with(cx: &Context, params: String) -> Result<String, ToolError> {
    let params: CreateMessageRequestParams = serde_json::from_str(&params)?;
    Ok(cx.sample(params).await?.model)
}

fn server() -> Server {
    let server = treenail::server!().tools(tools![sample_with]);
    server.build().unwrap()
}

impl Peer {
    async fn sample(&mut self, params: &Value) -> (Value, Vec<Value>) {
        let arguments = json!({"params": params.to_string()});
        let call = json!({"name": "sample_with", "arguments": arguments});
        self.converse("tools/call", call, agree).await
    }
}

fn user(content: &Value) -> Value {
    json!({"role": "user", "content": content})
}

fn uses(ids: &[&str]) -> Value {
    let uses = ids.iter().map(
        |id| json!({"type": "tool_use", "id": id, "name": "weather", "input": {"city": "Oslo"}}),
    );
    json!({"role": "assistant", "content": uses.collect::<Value>()})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "toolUseId": id, "content": [{"type": "text", "text": "12 °C"}]})
}

fn with_messages(messages: &Value) -> Value {
    let tool = json!({"name": "weather", "inputSchema": {"type": "object"}});
    json!({"maxTokens": 10, "messages": messages, "tools": [tool]})
}

#[tokio::test]
async fn tools_require_the_client_capability() {
    for revision in covering("SRV-SAM-01, SRV-MRTR-06 since 2025-11-25") {
        let hello = user(&json!({"type": "text", "text": "Hello"}));
        let table = [
            with_messages(&json!([hello])),
            json!({"maxTokens": 10, "messages": [hello], "toolChoice": {"mode": "auto"}}),
            json!({"maxTokens": 10, "messages": [hello, uses(&["a"]), user(&json!([result("a")]))]}),
        ];
        for params in table {
            let plain = json!({"sampling": {}});
            let mut peer = Peer::connect_as(&server(), revision, plain).await;
            let (answer, questions) = peer.sample(&params).await;
            assert_eq!(questions, [] as [Value; 0], "SRV-SAM-01");
            if revision.is_modern() {
                assert_eq!(error(&answer).0, -32021, "SRV-SAM-01");
                let required = &answer["error"]["data"]["requiredCapabilities"];
                assert_eq!(*required, json!({"sampling": {"tools": {}}}), "SRV-SAM-01");
            } else {
                assert_eq!(answer["result"]["isError"], true, "SRV-SAM-01: {answer}");
            }
            let able = json!({"sampling": {"tools": {}}});
            let mut peer = Peer::connect_as(&server(), revision, able).await;
            let (answer, questions) = peer.sample(&params).await;
            assert_eq!(text(&answer["result"]), "m");
            let sent = &questions[0]["params"];
            assert_eq!(sent.get("tools"), params.get("tools"), "SRV-SAM-01");
        }
    }
}

#[tokio::test]
async fn older_revisions_have_no_tools_whatever_the_client_declares() {
    let hello = user(&json!({"type": "text", "text": "Hello"}));
    let table = [
        with_messages(&json!([hello])),
        json!({"maxTokens": 10, "messages": [hello, uses(&["a"]), user(&json!([result("a")]))]}),
    ];
    for revision in Revision::ALL {
        if revision >= Revision::V2025_11_25 {
            continue;
        }
        let able = json!({"sampling": {"tools": {}}});
        let mut peer = Peer::connect_as(&server(), revision, able).await;
        for params in &table {
            let (answer, questions) = peer.sample(params).await;
            assert_eq!(questions, [] as [Value; 0], "ALL-LIFE-01: {revision}");
            assert_eq!(answer["result"]["isError"], true, "SRV-SAM-01: {answer}");
        }
        let (answer, _) = peer
            .sample(&json!({"maxTokens": 10, "messages": [hello]}))
            .await;
        assert_eq!(text(&answer["result"]), "m", "{revision}");
    }
}

#[tokio::test]
async fn requests_have_metadata_only_in_the_revision_that_allows_it() {
    let hello = user(&json!({"type": "text", "text": "Hello"}));
    let params = json!({"maxTokens": 10, "messages": [hello], "_meta": {"com.example/a": 1}});
    for revision in Revision::ALL {
        let able = json!({"sampling": {}});
        let mut peer = Peer::connect_as(&server(), revision, able).await;
        let (_, questions) = peer.sample(&params).await;
        let has_meta = questions[0]["params"].get("_meta").is_some();
        assert_eq!(
            has_meta,
            revision == Revision::V2025_11_25,
            "ALL-LIFE-01: {revision}"
        );
    }
}

#[tokio::test]
async fn context_requires_the_client_capability() {
    for revision in covering("SRV-SAM-02 since 2025-11-25") {
        for (capability, asked, sent) in [
            (json!({}), "thisServer", Value::Null),
            (json!({}), "allServers", Value::Null),
            (json!({}), "none", json!("none")),
            (json!({"context": {}}), "allServers", json!("allServers")),
        ] {
            let able = json!({"sampling": capability});
            let mut peer = Peer::connect_as(&server(), revision, able).await;
            let hello = user(&json!({"type": "text", "text": "Hello"}));
            let params = json!({"maxTokens": 10, "messages": [hello], "includeContext": asked});
            let (_, questions) = peer.sample(&params).await;
            let found = &questions[0]["params"]["includeContext"];
            assert_eq!(*found, sent, "SRV-SAM-02: {capability} {asked}");
        }
    }
}

#[tokio::test]
async fn outputs_of_tools_are_objects_in_the_revision_that_requires_it() {
    let hello = user(&json!({"type": "text", "text": "Hello"}));
    let mut given = result("a");
    given["structuredContent"] = json!([1]);
    let messages = json!([hello, uses(&["a"]), user(&json!([given]))]);
    let mut params = json!({"maxTokens": 10, "messages": messages});
    let tool = |kind: &str| json!({"name": kind, "inputSchema": {"type": "object"}, "outputSchema": {"type": kind}});
    params["tools"] = json!([tool("array"), tool("object")]);
    for revision in covering("SRV-JSCH-03 since 2025-11-25") {
        let able = json!({"sampling": {"tools": {}}});
        let mut peer = Peer::connect_as(&server(), revision, able).await;
        let (_, questions) = peer.sample(&params).await;
        let sent = &questions[0]["params"];
        let is_modern = revision.is_modern();
        assert_eq!(sent["tools"][0].get("outputSchema").is_some(), is_modern);
        assert_eq!(sent["tools"][1]["outputSchema"], json!({"type": "object"}));
        let block = &sent["messages"][2]["content"][0];
        assert_eq!(block.get("structuredContent").is_some(), is_modern);
    }
}

#[tokio::test]
async fn tool_choice_modes_are_forwarded() {
    for revision in covering("ALL-SAM-04 since 2025-11-25") {
        let able = json!({"sampling": {"tools": {}}});
        let mut peer = Peer::connect_as(&server(), revision, able).await;
        for mode in ["auto", "required", "none"] {
            let hello = user(&json!({"type": "text", "text": "Hello"}));
            let mut params = with_messages(&json!([hello]));
            params["toolChoice"] = json!({"mode": mode});
            let (_, questions) = peer.sample(&params).await;
            let sent = &questions[0]["params"]["toolChoice"];
            assert_eq!(*sent, json!({"mode": mode}), "ALL-SAM-04");
        }
    }
}

#[tokio::test]
async fn tool_results_follow_their_uses_in_messages_of_their_own() {
    let hello = user(&json!({"type": "text", "text": "Hello"}));
    let talk = json!({"type": "text", "text": "And?"});
    let lone = "has results of tools, which must be alone in a message of the user";
    let other = "does not have the results of just the tools that the message before it uses";
    let table = [
        (
            json!([hello, uses(&["a"]), user(&json!([result("a")]))]),
            "",
        ),
        (
            json!([
                hello,
                uses(&["a", "b"]),
                user(&json!([result("b"), result("a")])),
                hello
            ]),
            "",
        ),
        // Also if the message has a single block.
        (json!([uses(&["a"]), user(&result("a"))]), ""),
        (
            json!([hello, uses(&["a"]), user(&json!([result("a"), talk]))]),
            lone,
        ),
        (
            json!([hello, uses(&["a"]), {"role": "assistant", "content": [result("a")]}]),
            lone,
        ),
        (
            json!([hello, uses(&["a", "b"]), user(&json!([result("a")]))]),
            other,
        ),
        (
            json!([hello, uses(&["a"]), user(&json!([result("b")]))]),
            other,
        ),
        (json!([hello, uses(&["a"]), hello]), other),
        (json!([hello, user(&json!([result("a")]))]), other),
        (
            json!([hello, uses(&["a"])]),
            "the last message uses tools, and no message has their results",
        ),
        (
            json!([user(&uses(&["a"])["content"])]),
            "uses tools, which only the assistant does",
        ),
    ];
    for revision in covering("ALL-SAM-02, ALL-SAM-03, SRV-SAM-05 since 2025-11-25") {
        let able = json!({"sampling": {"tools": {}}});
        let mut peer = Peer::connect_as(&server(), revision, able).await;
        for (messages, problem) in &table {
            let (answer, questions) = peer.sample(&with_messages(messages)).await;
            let result = &answer["result"];
            if problem.is_empty() {
                assert_eq!(text(result), "m", "ALL-SAM-03: {messages}");
                assert_eq!(questions.len(), 1);
            } else {
                assert_eq!(questions, [] as [Value; 0], "ALL-SAM-02: {messages}");
                assert!(text(result).ends_with(problem), "SRV-SAM-05: {answer}");
                assert_eq!(result["isError"], true, "ALL-SAM-03");
            }
        }
    }
}

//! Messages of sampling requests, which the client checks before its model reads them.

use std::future::{Ready, ready};

use serde_json::{Value, json};
use treenail::RpcError;
use treenail::prelude::*;
use treenail::schema::{
    CreateMessageRequestParams, CreateMessageResult, Revision, Role, SamplingMessageContentBlock,
};

use crate::script::{Reply, initialized, scripted};

fn sample(params: &CreateMessageRequestParams) -> Ready<Result<CreateMessageResult, RpcError>> {
    assert_eq!(params.messages.len(), 2, "this request must not arrive");
    let block = SamplingMessageContentBlock::text("done");
    ready(Ok(CreateMessageResult::new(
        Role::Assistant,
        vec![block],
        "m",
    )))
}

/// Returns the response of a client to a request of its server with these messages.
async fn answer_to(messages: &Value) -> Value {
    let params = json!({"maxTokens": 9, "messages": messages});
    let request = json!({"jsonrpc": "2.0", "id": "ask", "method": "sampling/createMessage", "params": params});
    let mut call = Value::Null;
    let (session, received) = scripted(move |message| match message["method"].as_str() {
        Some("initialize") => initialized(message, "2025-11-25"),
        Some("tools/call") => {
            call = message.clone();
            Reply::Lines(vec![request.to_string()])
        }
        // The client has answered, so the call ends.
        None => Reply::result(&call, &json!({"content": []})),
        _ => Reply::nothing(),
    });
    let session = McpClientSession::builder()
        .session(session)
        .protocol_version(Revision::V2025_11_25)
        .on_sample_with_tools(|params| sample(&params))
        .build()
        .await
        .unwrap();
    session.tools_call("sample", ()).await.unwrap();
    let mut received = received.all().into_iter();
    received.find(|message| message["id"] == "ask").unwrap()
}

#[tokio::test]
async fn results_of_tools_must_follow_their_uses_alone() {
    let text = json!({"type": "text", "text": "x"});
    let tool_use = json!({"type": "tool_use", "id": "1", "name": "look", "input": {}});
    let result = json!({"type": "tool_result", "toolUseId": "1", "content": []});
    let user = |content: Value| json!({"role": "user", "content": content});
    let assistant = |content: Value| json!({"role": "assistant", "content": content});
    for messages in [
        json!([user(json!([result, text]))]),
        json!([user(json!([result]))]),
        json!([assistant(json!([tool_use]))]),
        json!([
            assistant(json!([tool_use])),
            user(json!([text])),
            user(json!([result]))
        ]),
    ] {
        let answer = answer_to(&messages).await;
        assert_eq!(answer["error"]["code"], -32602, "CLI-SAM-02: {answer}");
    }
    let messages = json!([assistant(json!([text, tool_use])), user(json!([result]))]);
    let answer = answer_to(&messages).await;
    assert_eq!(answer["result"]["model"], "m", "CLI-SAM-02: {answer}");
}

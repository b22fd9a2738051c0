//! Clients that respond to sampling with a model or with a tool loop.

use std::sync::Arc;

use serde_json::{Value, json};
use treenail::agent::{
    ModelCapabilities, ModelError, SamplingModel, ScriptedModel, ScriptedReply, ToolSource,
};
use treenail::client::{ClientError, MockSession};
use treenail::prelude::*;
use treenail::schema::{CreateMessageRequestParams, Revision};

use crate::fixture::desk;

/// The revisions in which servers may sample with tools.
const WITH_TOOLS: [Revision; 2] = [Revision::V2025_11_25, Revision::LATEST];

/// Samples with JSON params and returns the result as JSON.
#[mcp_tool]
#[allow(deprecated, reason = "it is what is tested")]
async fn sample(cx: &Context, params: String) -> Result<String, ToolError> {
    let params: CreateMessageRequestParams = serde_json::from_str(&params)?;
    Ok(serde_json::to_string(&cx.sample(params).await?)?)
}

/// The response that a sampling server receives.
async fn sampled(
    revision: Revision,
    model: impl Into<SamplingModel>,
    params: &Value,
) -> Result<Value, String> {
    let server = treenail::server!().tools(tools![sample]).build().unwrap();
    let client = McpClient::builder()
        .server(&server)
        .protocol_version(revision)
        .enable_tool_use_for_sampling(model)
        .build()
        .await
        .unwrap();
    let params = json!({"params": params.to_string()});
    let result = client.call_tool("sample", params).await;
    let result = result.map_err(|error| error.to_string())?;
    let text = result.content[0].as_text().unwrap_or_default();
    if result.is_error == Some(true) {
        return Err(text.to_owned());
    }
    Ok(serde_json::from_str(text).unwrap())
}

fn asking(more: &Value) -> Value {
    let hello = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
    let mut params = json!({"maxTokens": 10, "messages": [hello]});
    for (key, value) in more.as_object().unwrap() {
        params[key] = value.clone();
    }
    params
}

fn with_tool(mode: &str) -> Value {
    let tool = json!({"name": "weather", "inputSchema": {"type": "object"}});
    asking(&json!({"tools": [tool], "toolChoice": {"mode": mode}}))
}

fn call() -> ScriptedReply {
    ScriptedReply::call("weather", json!({"city": "Oslo"}))
}

#[tokio::test]
async fn calls_of_server_tools_are_returned_to_the_server() {
    for revision in WITH_TOOLS {
        let model = ScriptedModel::new([call()]);
        let params = with_tool("auto");
        let answer = sampled(revision, model.clone(), &params).await.unwrap();
        assert_eq!(answer["stopReason"], "toolUse", "CLI-SAM-06: {revision}");
        assert_eq!(answer["role"], "assistant", "CLI-SAM-06");
        assert_eq!(answer["model"], "scripted", "CLI-SAM-06");
        let content = &answer["content"];
        assert_eq!(content["type"], "tool_use", "CLI-SAM-01: {revision}");
        assert_eq!(content["input"], json!({"city": "Oslo"}));
        let request = serde_json::to_value(&model.requests()[0]).unwrap();
        assert_eq!(request["maxTokens"], 10, "CLI-SAM-03");
        assert_eq!(request["tools"], params["tools"], "CLI-SAM-01");
        assert_eq!(request["toolChoice"], params["toolChoice"], "ALL-SAM-04");
    }
}

#[tokio::test]
async fn a_model_without_tool_use_can_call_server_tools() {
    let capabilities = ModelCapabilities::default().tools(false);
    let said = "Let me see.\nTOOL: weather\nPARAMETERS: {\"city\": \"Oslo\"}\n";
    let model = ScriptedModel::new([said]).with_capabilities(capabilities);
    let answer = sampled(Revision::LATEST, model, &with_tool("auto"))
        .await
        .unwrap();
    assert_eq!(answer["stopReason"], "toolUse");
    let content = answer["content"].as_array().unwrap();
    assert_eq!(content[0]["text"].as_str().unwrap().trim(), "Let me see.");
    assert_eq!(content[1]["name"], "weather");
    assert_eq!(content[1]["input"], json!({"city": "Oslo"}));
}

#[tokio::test]
async fn text_without_tools_is_not_parsed_for_calls() {
    let capabilities = ModelCapabilities::default().tools(false);
    let written = [
        "Write this:\nTOOL: foo\nPARAMETERS: {}\nThen wait.",
        "TOOL: foo\nPARAMETERS: {\n",
    ];
    for written in written {
        let model = ScriptedModel::new([written]).with_capabilities(capabilities);
        let answer = sampled(Revision::LATEST, model, &asking(&json!({})))
            .await
            .unwrap();
        assert_eq!(answer["content"]["text"], written);
        assert_eq!(answer["stopReason"], "endTurn");
    }
}

#[tokio::test]
async fn a_message_whose_calls_are_dropped_has_ended() {
    for (params, stop_reason) in [
        (with_tool("none"), "endTurn"),
        (asking(&json!({})), "endTurn"),
        (with_tool("auto"), "toolUse"),
    ] {
        let model = ScriptedModel::new([call().and_text("Hello")]);
        let answer = sampled(Revision::LATEST, model, &params).await.unwrap();
        assert_eq!(answer["stopReason"], stop_reason, "{params}");
    }
}

#[tokio::test]
async fn the_lower_limit_of_tokens_counts() {
    for (own, requested, sent) in [(5, 10, 5), (10, 10, 10), (20, 10, 10)] {
        let model = ScriptedModel::new(["Hi", "Hi"]);
        let agent = ToolLoop::new(model.clone()).max_tokens(own);
        for mut params in [asking(&json!({})), with_tool("auto")] {
            params["maxTokens"] = requested.into();
            let answer = sampled(Revision::LATEST, agent.clone(), &params).await;
            answer.unwrap();
            assert_eq!(model.requests().last().unwrap().max_tokens, sent);
        }
    }
}

#[tokio::test]
async fn the_tool_choice_is_enforced() {
    let chatty = || call().and_text("Hello");
    let cases = [
        ("none", chatty(), true),
        ("none", call(), false),
        ("required", call(), true),
        ("required", ScriptedReply::text("Hello"), false),
        ("auto", ScriptedReply::text("Hello"), true),
    ];
    for (mode, reply, works) in cases {
        let model = ScriptedModel::new([reply]);
        let answer = sampled(Revision::LATEST, model, &with_tool(mode)).await;
        assert_eq!(answer.is_ok(), works, "ALL-SAM-04: {mode}: {answer:?}");
        if let (Ok(answer), "none") = (answer, mode) {
            assert_eq!(answer["content"]["text"], "Hello", "ALL-SAM-04");
        }
    }
    // Without tools, there are no calls either.
    let model = ScriptedModel::new([chatty()]);
    let answer = sampled(Revision::LATEST, model, &asking(&json!({})))
        .await
        .unwrap();
    assert_eq!(answer["content"]["text"], "Hello");
}

#[tokio::test]
async fn requests_without_tools_work_in_every_revision() {
    for revision in Revision::ALL {
        let model = ScriptedModel::new(["Hi"]);
        let answer = sampled(revision, model, &asking(&json!({}))).await.unwrap();
        let hi = json!({"type": "text", "text": "Hi"});
        assert_eq!(answer["content"], hi, "SRV-SAM-04: {revision}");
        assert_eq!(answer["stopReason"], "endTurn", "CLI-SAM-06");
    }
}

#[tokio::test]
async fn requests_without_tools_run_the_loop_with_its_own_sources() {
    for revision in Revision::ALL {
        let (server, log) = desk();
        let model = ScriptedModel::new([
            ScriptedReply::call("echo", json!({"text": "a"}))
                .and_call("delete", json!({"name": "b"})),
            ScriptedReply::text("a"),
        ]);
        let agent = ToolLoop::new(model.clone())
            .source("desk", server)
            .system_prompt("Mine.");
        let params = asking(&json!({"systemPrompt": "Yours.", "temperature": 0.5}));
        let answer = sampled(revision, agent, &params).await.unwrap();
        assert_eq!(answer["content"]["text"], "a", "{revision}");
        assert_eq!(
            log.lines(),
            ["echo a"],
            "what would have to be asked is denied"
        );
        let request = &model.requests()[0];
        assert_eq!(request.system_prompt.as_deref(), Some("Mine.\n\nYours."));
        assert_eq!(request.temperature, Some(0.5.into()));
        assert_eq!(request.max_tokens, 10, "CLI-SAM-03");
    }
}

#[tokio::test]
async fn requests_with_tools_do_not_use_the_sources_of_the_loop() {
    let (server, _) = desk();
    let model = ScriptedModel::new([call()]);
    let source = ToolSource::from(server).auto_approve();
    let agent = ToolLoop::new(model.clone())
        .source("desk", source)
        .system_prompt("Mine.")
        .edit_requests(|request| request.temperature = Some(0.5.into()));
    let mut params = with_tool("auto");
    params["systemPrompt"] = "Yours.".into();
    let answer = sampled(Revision::LATEST, agent, &params).await.unwrap();
    assert_eq!(answer["content"]["name"], "weather");
    let request = &model.requests()[0];
    assert_eq!(request.tools.as_ref().unwrap().len(), 1);
    assert_eq!(request.system_prompt.as_deref(), Some("Mine.\n\nYours."));
    assert_eq!(request.temperature, Some(0.5.into()));
}

#[tokio::test]
async fn requests_can_be_rejected() {
    for revision in Revision::ALL {
        let model = ScriptedModel::new(["never said"]);
        let reviewed = SamplingModel::from(model.clone())
            .review(|request| async move { request.max_tokens > 10 });
        let reported = sampled(revision, reviewed, &asking(&json!({})))
            .await
            .unwrap_err();
        assert!(
            reported.contains("rejected") && reported.contains("-1"),
            "CLI-SAM-02, CLI-SAM-08: {reported}"
        );
        assert_eq!(model.remaining(), 1);
    }
}

#[tokio::test]
async fn model_errors_are_not_disclosed_to_the_server() {
    let secret = ModelError::refused("key sk-123 is not valid");
    let model = ScriptedModel::new([ScriptedReply::error(secret)]);
    let reported = sampled(Revision::LATEST, model, &asking(&json!({})))
        .await
        .unwrap_err();
    assert!(reported.contains("the client's model failed"), "{reported}");
    assert!(!reported.contains("sk-123"), "ALL-SAM-06: {reported}");
}

/// The client's error for an invalid sampling request.
async fn refused(builder: treenail::client::McpClientBuilder, params: Value) -> String {
    let session = MockSession::new().answer("tools/call", move |_| {
        let question = json!({"method": "sampling/createMessage", "params": params});
        Ok(json!({"resultType": "input_required", "inputRequests": {"a": question}}))
    });
    let client = builder.session(Arc::new(session)).build().await.unwrap();
    match client.call_tool("any", ()).await {
        Err(ClientError::Unanswered(why)) => why.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn invalid_sampling_requests_are_rejected() {
    let plain = McpClient::builder().on_sample(|_| async { Err(RpcError::new(-1, "never asked")) });
    let reported = refused(plain, with_tool("auto")).await;
    assert!(reported.contains("-32602"), "SRV-SAM-01: {reported}");

    let result = json!({"type": "tool_result", "toolUseId": "a", "content": []});
    let tool_use = json!({"type": "tool_use", "id": "a", "name": "weather", "input": {}});
    let text = json!({"type": "text", "text": "And?"});
    let user = |content: Value| json!({"role": "user", "content": content});
    let calls = json!({"role": "assistant", "content": [tool_use]});
    let conversations = [
        json!([]),
        json!([user(json!([result]))]),
        json!([calls, user(json!([result, text]))]),
        json!([calls, user(json!([text]))]),
        json!([calls]),
    ];
    for messages in conversations {
        let model = ScriptedModel::new(["never said"]);
        let able = McpClient::builder().enable_tool_use_for_sampling(model.clone());
        let mut params = with_tool("auto");
        params["messages"] = messages.clone();
        let reported = refused(able, params).await;
        assert!(
            reported.contains("-32602"),
            "ALL-SAM-02, ALL-SAM-03, CLI-SAM-02: {messages}: {reported}"
        );
        assert_eq!(model.remaining(), 1);
    }
}

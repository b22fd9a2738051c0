//! Requests from the server to the client during a call.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use treenail::McpClient;
use treenail::schema::{
    ClientCapabilities, ClientCapabilitiesElicitation, CreateMessageResult, ElicitAction,
    ElicitRequestParams, ElicitResult, ElicitValue, JsonObject, Role, Root,
    SamplingMessageContentBlock,
};

use super::Connect;
use crate::results::text;

const FORM: &str = "trigger-elicitation-request";
const URL: &str = "trigger-url-elicitation";

/// Creates an elicitation result.
fn elicit_result(action: ElicitAction, content: &[(&str, ElicitValue)]) -> ElicitResult {
    let fields = content
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    let mut result = ElicitResult::new(action);
    result.content = Some(fields.collect());
    result
}

/// Connects a client that gives the same answer to every elicitation request.
async fn connect_with_answer(connect: Connect<'_>, result: ElicitResult) -> McpClient {
    let answer = move |_| {
        let result = result.clone();
        async move { Ok(result) }
    };
    connect().on_elicit(answer).build().await.unwrap()
}

/// Returns the answer as the server received it, from the last text of the result.
fn received_answer(result: &Value) -> Value {
    let last = result["content"].as_array().unwrap().last().unwrap();
    let text = last["text"].as_str().unwrap();
    let raw = text.split_once("Raw result: ").unwrap().1;
    serde_json::from_str(raw).unwrap()
}

pub(super) async fn forms_are_accepted(connect: Connect<'_>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&requests);
    let fields = [
        ("name", ElicitValue::String("Anna".to_owned())),
        ("check", ElicitValue::Boolean(true)),
        ("integer", ElicitValue::Number(7.into())),
    ];
    let result = elicit_result(ElicitAction::Accept, &fields);
    let client = connect().on_elicit(move |request| {
        recorded.lock().unwrap().push(json!(request));
        let result = result.clone();
        async move { Ok(result) }
    });
    let client = client.build().await.unwrap();
    let result = client.call_tool(FORM, ()).await.unwrap();
    assert!(text(&result).contains("User provided"), "{}", text(&result));
    let expected = r#"{
        "name": "Anna", "check": true, "integer": 7,
        "firstLine": "It was a dark and stormy night.", "number": 3.14,
        "untitledSingleSelectEnum": "Monica", "untitledMultipleSelectEnum": ["Guitar"],
        "titledSingleSelectEnum": "hero-1", "titledMultipleSelectEnum": ["fish-1"],
        "legacyTitledEnum": "pet-1"
    }"#;
    let expected: Value = serde_json::from_str(expected).unwrap();
    // CLI-ELI-04: fields without a value have their defaults.
    assert_eq!(received_answer(&json!(result))["content"], expected);

    client.close().await.unwrap();
    let requests = requests.lock().unwrap();
    let fields = &requests[0]["requestedSchema"]["properties"];
    assert_eq!(fields["email"]["format"], "email");
    assert_eq!(fields["legacyTitledEnum"]["enumNames"][1], "Dogs");
    assert_eq!(
        fields["titledSingleSelectEnum"]["oneOf"][0]["title"],
        "Superman"
    );
    assert_eq!(fields.as_object().unwrap().len(), 13);
}

pub(super) async fn forms_are_declined_and_cancelled(connect: Connect<'_>) {
    let actions = [
        (ElicitAction::Decline, "decline", "declined"),
        (ElicitAction::Cancel, "cancel", "cancelled"),
    ];
    for (action, word, expected) in actions {
        let client = connect_with_answer(connect, ElicitResult::new(action)).await;
        let result = client.call_tool(FORM, ()).await.unwrap();
        assert!(text(&result).contains(expected), "{}", text(&result));
        assert_eq!(received_answer(&json!(result)), json!({"action": word}));
        client.close().await.unwrap();
    }
}

pub(super) async fn invalid_values_are_not_sent(connect: Connect<'_>) {
    let wrong = [
        elicit_result(ElicitAction::Accept, &[]),
        elicit_result(
            ElicitAction::Accept,
            &[("name", ElicitValue::Boolean(true))],
        ),
        elicit_result(
            ElicitAction::Accept,
            &[
                ("name", ElicitValue::String("Anna".to_owned())),
                ("integer", ElicitValue::Number(101.into())),
            ],
        ),
    ];
    for result in wrong {
        let client = connect_with_answer(connect, result).await;
        let failed = client.call_tool(FORM, ()).await.unwrap();
        assert_eq!(failed.is_error, Some(true), "CLI-ELI-13");
        assert!(text(&failed).contains("-32603"), "{}", text(&failed));
        client.close().await.unwrap();
    }
}

pub(super) async fn urls_are_accepted(connect: Connect<'_>) {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&requests);
    let client = connect().on_elicit(move |request| {
        let ElicitRequestParams::Url(page) = request else {
            panic!("expected URL mode");
        };
        recorded.lock().unwrap().push(page.url);
        async { Ok(ElicitResult::new(ElicitAction::Accept)) }
    });
    let client = client.build().await.unwrap();
    let url = "https://example.com/login";
    let page = json!({"url": url, "elicitationId": "e-1"});
    let result = client.call_tool(URL, page).await.unwrap();
    assert!(text(&result).contains("completed"), "{}", text(&result));
    assert_eq!(received_answer(&json!(result)), json!({"action": "accept"}));

    // Alternatively, an error contains the URL that the user must visit first.
    let page = json!({"url": url, "errorPath": true});
    let error = client.call_tool(URL, &page).await.unwrap_err();
    let error = error.as_refused().unwrap();
    assert_eq!(error.code, -32042, "SRV-ERR-06");
    let first = &error.data.as_ref().unwrap()["elicitations"][0];
    assert_eq!(first["mode"], "url");
    assert!(first["elicitationId"].is_string());
    let result = client.call_tool(URL, &page).await.unwrap();
    assert!(text(&result).contains("completed"), "{}", text(&result));
    assert_eq!(*requests.lock().unwrap(), [url, url]);

    // Without URL mode, the tool is not listed.
    let forms = || {
        let mut elicitation = ClientCapabilitiesElicitation::new();
        elicitation.form = Some(JsonObject::new());
        let mut capabilities = ClientCapabilities::new();
        capabilities.elicitation = Some(elicitation);
        capabilities
    };
    let client = connect()
        .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Cancel)) })
        .client_capabilities(forms());
    let client = client.build().await.unwrap();
    assert!(client.tool(URL).await.unwrap().is_none(), "CLI-ELI-01");
    assert!(client.tool(FORM).await.unwrap().is_some());
    client.close().await.unwrap();
}

pub(super) async fn sampling_requests_are_answered(connect: Connect<'_>) {
    let client = connect().on_sample(|requests| async move {
        let requests = json!(requests);
        assert_eq!(requests["systemPrompt"], "You are a helpful test server.");
        assert_eq!(requests["maxTokens"], 20);
        assert_eq!(requests["temperature"], 0.7);
        let prompt = requests["messages"][0]["content"]["text"].as_str().unwrap();
        let reply = SamplingMessageContentBlock::text(prompt.to_uppercase());
        let mut result = CreateMessageResult::new(Role::Assistant, reply, "parrot");
        result.stop_reason = Some("endTurn".to_owned());
        Ok(result)
    });
    let client = client.build().await.unwrap();
    let arguments = json!({"prompt": "ahoi", "maxTokens": 20});
    let result = client.call_tool("trigger-sampling-request", arguments);
    let result = result.await.unwrap();
    let (_, received) = text(&result).split_once('\n').unwrap();
    let received: Value = serde_json::from_str(received).unwrap();
    let expected = json!({
        "role": "assistant", "model": "parrot", "stopReason": "endTurn",
        "content": {
            "type": "text",
            "text": "RESOURCE TRIGGER-SAMPLING-REQUEST CONTEXT: AHOI",
        },
    });
    assert_eq!(received, expected);
    client.close().await.unwrap();
}

pub(super) async fn roots_are_listed(connect: Connect<'_>) {
    let mut named = Root::new("file:///work");
    named.name = Some("Work".to_owned());
    let roots = [named, Root::new("file:///home/anna%20b")];
    let client = connect().roots(roots).build().await.unwrap();
    let result = client.call_tool("get-roots-list", ()).await.unwrap();
    let listed = text(&result);
    assert!(
        listed.contains("1. Work\n   URI: file:///work\n"),
        "{listed}"
    );
    assert!(
        listed.contains("2. Unnamed Root\n   URI: file:///home/anna%20b\n"),
        "{listed}"
    );
    client.close().await.unwrap();
}

/// A client that declares support for tasks may still answer immediately.
pub(super) async fn task_requests_are_answered_immediately(connect: Connect<'_>) {
    let capabilities = json!({
        "elicitation": {}, "sampling": {},
        "tasks": {"requests": {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}}},
    });
    let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap();
    let fields = [("name", ElicitValue::String("Anna".to_owned()))];
    let result = elicit_result(ElicitAction::Accept, &fields);
    let client = connect()
        .on_elicit(move |_| {
            let result = result.clone();
            async move { Ok(result) }
        })
        .on_sample(|_| async {
            let reply = SamplingMessageContentBlock::text("aye");
            Ok(CreateMessageResult::new(Role::Assistant, reply, "parrot"))
        })
        .client_capabilities(capabilities);
    let client = client.build().await.unwrap();
    let calls = [
        ("trigger-elicitation-request-async", json!({}), "Anna"),
        (
            "trigger-sampling-request-async",
            json!({"prompt": "?"}),
            "aye",
        ),
    ];
    for (tool, arguments, expected) in calls {
        let result = client.call_tool(tool, arguments).await.unwrap();
        let text = text(&result);
        assert!(
            text.starts_with("[SYNC]") && text.contains(expected),
            "{text}"
        );
    }
    client.close().await.unwrap();
}

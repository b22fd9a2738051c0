//! What the server asks its client in the middle of a call.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use treenail::McpClient;
use treenail::schema::{
    ClientCapabilities, ClientCapabilitiesElicitation, CreateMessageResult, ElicitAction,
    ElicitRequestParams, ElicitResult, ElicitValue, JsonObject, Role, Root,
    SamplingMessageContentBlock,
};

use super::Connect;
use crate::told::text;

const FORM: &str = "trigger-elicitation-request";
const PAGE: &str = "trigger-url-elicitation";

/// An answer to a form.
fn answer(action: ElicitAction, content: &[(&str, ElicitValue)]) -> ElicitResult {
    let entered = content
        .iter()
        .map(|(name, value)| ((*name).to_owned(), value.clone()));
    let mut result = ElicitResult::new(action);
    result.content = Some(entered.collect());
    result
}

/// A client that gives the same answer to every form and page.
async fn answering(connect: Connect<'_>, result: ElicitResult) -> McpClient {
    let answer = move |_| {
        let result = result.clone();
        async move { Ok(result) }
    };
    connect().on_elicit(answer).build().await.unwrap()
}

/// What the server says that it has been told: the last text of the result.
fn raw(result: &Value) -> Value {
    let last = result["content"].as_array().unwrap().last().unwrap();
    let text = last["text"].as_str().unwrap();
    let raw = text.split_once("Raw result: ").unwrap().1;
    serde_json::from_str(raw).unwrap()
}

pub(super) async fn forms_are_filled_in(connect: Connect<'_>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let entered = [
        ("name", ElicitValue::String("Anna".to_owned())),
        ("check", ElicitValue::Boolean(true)),
        ("integer", ElicitValue::Number(7.into())),
    ];
    let result = answer(ElicitAction::Accept, &entered);
    let client = connect().on_elicit(move |question| {
        noted.lock().unwrap().push(json!(question));
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
    assert_eq!(raw(&json!(result))["content"], expected);

    client.close().await.unwrap();
    let asked = asked.lock().unwrap();
    let fields = &asked[0]["requestedSchema"]["properties"];
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
    for (action, word, said) in actions {
        let client = answering(connect, ElicitResult::new(action)).await;
        let result = client.call_tool(FORM, ()).await.unwrap();
        assert!(text(&result).contains(said), "{}", text(&result));
        assert_eq!(raw(&json!(result)), json!({"action": word}));
        client.close().await.unwrap();
    }
}

pub(super) async fn wrong_values_are_not_sent(connect: Connect<'_>) {
    let wrong = [
        answer(ElicitAction::Accept, &[]),
        answer(
            ElicitAction::Accept,
            &[("name", ElicitValue::Boolean(true))],
        ),
        answer(
            ElicitAction::Accept,
            &[
                ("name", ElicitValue::String("Anna".to_owned())),
                ("integer", ElicitValue::Number(101.into())),
            ],
        ),
    ];
    for result in wrong {
        let client = answering(connect, result).await;
        let failed = client.call_tool(FORM, ()).await.unwrap();
        assert_eq!(failed.is_error, Some(true), "CLI-ELI-13");
        assert!(text(&failed).contains("-32603"), "{}", text(&failed));
        client.close().await.unwrap();
    }
}

pub(super) async fn pages_are_opened(connect: Connect<'_>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    let client = connect().on_elicit(move |question| {
        let ElicitRequestParams::Url(page) = question else {
            panic!("it is a page that is asked for");
        };
        noted.lock().unwrap().push(page.url);
        async { Ok(ElicitResult::new(ElicitAction::Accept)) }
    });
    let client = client.build().await.unwrap();
    let url = "https://example.com/login";
    let page = json!({"url": url, "elicitationId": "e-1"});
    let result = client.call_tool(PAGE, page).await.unwrap();
    assert!(text(&result).contains("completed"), "{}", text(&result));
    assert_eq!(raw(&json!(result)), json!({"action": "accept"}));

    // The other way: an error says which page has to be visited first.
    let page = json!({"url": url, "errorPath": true});
    let error = client.call_tool(PAGE, &page).await.unwrap_err();
    let error = error.as_refused().unwrap();
    assert_eq!(error.code, -32042, "SRV-ERR-06");
    let first = &error.data.as_ref().unwrap()["elicitations"][0];
    assert_eq!(first["mode"], "url");
    assert!(first["elicitationId"].is_string());
    let result = client.call_tool(PAGE, &page).await.unwrap();
    assert!(text(&result).contains("completed"), "{}", text(&result));
    assert_eq!(*asked.lock().unwrap(), [url, url]);

    // One that opens no pages is not offered the tool.
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
    assert!(client.tool(PAGE).await.unwrap().is_none(), "CLI-ELI-01");
    assert!(client.tool(FORM).await.unwrap().is_some());
    client.close().await.unwrap();
}

pub(super) async fn a_model_is_asked(connect: Connect<'_>) {
    let client = connect().on_sample(|asked| async move {
        let asked = json!(asked);
        assert_eq!(asked["systemPrompt"], "You are a helpful test server.");
        assert_eq!(asked["maxTokens"], 20);
        assert_eq!(asked["temperature"], 0.7);
        let said = asked["messages"][0]["content"]["text"].as_str().unwrap();
        let said = SamplingMessageContentBlock::text(said.to_uppercase());
        let mut result = CreateMessageResult::new(Role::Assistant, said, "parrot");
        result.stop_reason = Some("endTurn".to_owned());
        Ok(result)
    });
    let client = client.build().await.unwrap();
    let arguments = json!({"prompt": "ahoi", "maxTokens": 20});
    let result = client.call_tool("trigger-sampling-request", arguments);
    let result = result.await.unwrap();
    let (_, said) = text(&result).split_once('\n').unwrap();
    let said: Value = serde_json::from_str(said).unwrap();
    let expected = json!({
        "role": "assistant", "model": "parrot", "stopReason": "endTurn",
        "content": {
            "type": "text",
            "text": "RESOURCE TRIGGER-SAMPLING-REQUEST CONTEXT: AHOI",
        },
    });
    assert_eq!(said, expected);
    client.close().await.unwrap();
}

pub(super) async fn roots_are_listed(connect: Connect<'_>) {
    let mut named = Root::new("file:///work");
    named.name = Some("Work".to_owned());
    let roots = [named, Root::new("file:///home/anna%20b")];
    let client = connect().roots(roots).build().await.unwrap();
    let result = client.call_tool("get-roots-list", ()).await.unwrap();
    let said = text(&result);
    assert!(said.contains("1. Work\n   URI: file:///work\n"), "{said}");
    assert!(
        said.contains("2. Unnamed Root\n   URI: file:///home/anna%20b\n"),
        "{said}"
    );
    client.close().await.unwrap();
}

/// A client that says it can answer in tasks may answer at once all the same.
pub(super) async fn questions_as_tasks_are_answered_at_once(connect: Connect<'_>) {
    let capabilities = json!({
        "elicitation": {}, "sampling": {},
        "tasks": {"requests": {"elicitation": {"create": {}}, "sampling": {"createMessage": {}}}},
    });
    let capabilities: ClientCapabilities = serde_json::from_value(capabilities).unwrap();
    let entered = [("name", ElicitValue::String("Anna".to_owned()))];
    let result = answer(ElicitAction::Accept, &entered);
    let client = connect()
        .on_elicit(move |_| {
            let result = result.clone();
            async move { Ok(result) }
        })
        .on_sample(|_| async {
            let said = SamplingMessageContentBlock::text("aye");
            Ok(CreateMessageResult::new(Role::Assistant, said, "parrot"))
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
    for (tool, arguments, said) in calls {
        let result = client.call_tool(tool, arguments).await.unwrap();
        let text = text(&result);
        assert!(text.starts_with("[SYNC]") && text.contains(said), "{text}");
    }
    client.close().await.unwrap();
}

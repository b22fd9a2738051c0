//! Requests from the server during a call: as JSON-RPC requests in the legacy era, as input rounds in the modern one.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use treenail::schema::{
    CreateMessageResult, ElicitAction, ElicitRequestParams, ElicitResult, ElicitValue, Role, Root,
    SamplingMessageContentBlock,
};

use super::Harbour;
use crate::results::text;

/// Accepts a form with one text field.
fn accept(field: &str, value: &str) -> ElicitResult {
    let mut result = ElicitResult::new(ElicitAction::Accept);
    result.content = Some([(field.to_owned(), ElicitValue::String(value.to_owned()))].into());
    result
}

pub(super) async fn form_is_answered(harbour: Harbour) {
    let answers = [
        (accept("name", "Anna"), "Anna stays 2 nights"),
        (
            ElicitResult::new(ElicitAction::Decline),
            "no booking: decline",
        ),
        (
            ElicitResult::new(ElicitAction::Cancel),
            "no booking: cancel",
        ),
    ];
    for (answer, expected) in answers {
        let client = harbour.builder().on_elicit(move |request| {
            let ElicitRequestParams::Form(form) = &request else {
                panic!("expected form mode");
            };
            assert_eq!(form.message, "Who is coming?");
            let answer = answer.clone();
            async { Ok(answer) }
        });
        let client = client.build().await.unwrap();
        let booked = client.call_tool("book", ()).await.unwrap();
        assert_eq!(text(&booked), expected);
        client.close().await.unwrap();
    }
}

pub(super) async fn several_rounds_are_answered(harbour: Harbour) {
    let requests = Arc::new(Mutex::new(Vec::<Value>::new()));
    let (forms, samples) = (Arc::clone(&requests), Arc::clone(&requests));
    let client = harbour
        .builder()
        .on_elicit(move |request| {
            forms.lock().unwrap().push(json!(request)["message"].take());
            async { Ok(accept("port", "Oslo")) }
        })
        .on_sample(move |request| {
            let request = json!(request);
            assert_eq!(request["systemPrompt"], "You are a pilot.");
            let message = &request["messages"][0]["content"]["text"];
            samples.lock().unwrap().push(message.clone());
            let advice = SamplingMessageContentBlock::text("Bergen");
            let advice = CreateMessageResult::new(Role::Assistant, advice, "pilot");
            async { Ok(advice) }
        })
        .roots([Root::new("file:///boat")]);
    let client = client.build().await.unwrap();
    let sailed = client.call_tool("sail", ()).await.unwrap();
    assert_eq!(text(&sailed), "Oslo to Bergen by file:///boat");
    client.close().await.unwrap();
    let requests = requests.lock().unwrap();
    assert_eq!(*requests, ["Where from?", "Where to from Oslo?"]);
}

pub(super) async fn request_without_a_handler_fails(harbour: Harbour) {
    let client = harbour.client().await;
    match client.call_tool("book", ()).await {
        Ok(result) => assert_eq!(result.is_error, Some(true), "{}", text(&result)),
        Err(error) => {
            let refused = error.as_refused().unwrap();
            assert_eq!(refused.code, -32021, "CLI-ELI-01: {error}");
        }
    }
    client.close().await.unwrap();
}

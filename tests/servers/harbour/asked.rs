//! What the server asks in the middle of a call: by requests of its own in the legacy era, by rounds in the modern one.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use treenail::schema::{
    CreateMessageResult, ElicitAction, ElicitRequestParams, ElicitResult, ElicitValue, Role, Root,
    SamplingMessageContentBlock,
};

use super::Harbour;
use crate::told::text;

/// What is entered in a form: one text.
fn accept(field: &str, value: &str) -> ElicitResult {
    let mut result = ElicitResult::new(ElicitAction::Accept);
    result.content = Some([(field.to_owned(), ElicitValue::String(value.to_owned()))].into());
    result
}

pub(super) async fn a_form_is_answered(harbour: Harbour) {
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
    for (answer, said) in answers {
        let client = harbour.builder().on_elicit(move |question| {
            let ElicitRequestParams::Form(form) = &question else {
                panic!("it is a form");
            };
            assert_eq!(form.message, "Who is coming?");
            let answer = answer.clone();
            async { Ok(answer) }
        });
        let client = client.build().await.unwrap();
        let booked = client.call_tool("book", ()).await.unwrap();
        assert_eq!(text(&booked), said);
        client.close().await.unwrap();
    }
}

pub(super) async fn several_rounds_are_answered(harbour: Harbour) {
    let asked = Arc::new(Mutex::new(Vec::<Value>::new()));
    let (forms, samples) = (Arc::clone(&asked), Arc::clone(&asked));
    let client = harbour
        .builder()
        .on_elicit(move |question| {
            forms
                .lock()
                .unwrap()
                .push(json!(question)["message"].take());
            async { Ok(accept("port", "Oslo")) }
        })
        .on_sample(move |question| {
            let question = json!(question);
            assert_eq!(question["systemPrompt"], "You are a pilot.");
            let said = &question["messages"][0]["content"]["text"];
            samples.lock().unwrap().push(said.clone());
            let advice = SamplingMessageContentBlock::text("Bergen");
            let advice = CreateMessageResult::new(Role::Assistant, advice, "pilot");
            async { Ok(advice) }
        })
        .roots([Root::new("file:///boat")]);
    let client = client.build().await.unwrap();
    let sailed = client.call_tool("sail", ()).await.unwrap();
    assert_eq!(text(&sailed), "Oslo to Bergen by file:///boat");
    client.close().await.unwrap();
    let asked = asked.lock().unwrap();
    assert_eq!(*asked, ["Where from?", "Where to from Oslo?"]);
}

pub(super) async fn what_nobody_answers_is_refused(harbour: Harbour) {
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

//! Elicitation: its modes, and the results that a server receives.

use std::future::ready;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use treenail::client::{ClientHandler, HandlerFuture};
use treenail::prelude::*;
use treenail::schema::{
    ClientCapabilities, ElicitAction, ElicitRequestParams, ElicitResult, Revision,
};

use crate::script::{Reply, discovered, initialized, scripted};

/// Revisions with both modes.
const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// User with one answer to all requests, who notes them.
#[derive(Clone)]
struct User {
    capability: Value,
    answer: ElicitResult,
    asked: Arc<Mutex<Vec<ElicitRequestParams>>>,
}

impl User {
    fn new(capability: Value, action: ElicitAction) -> Self {
        let mut answer = ElicitResult::new(action);
        answer.content = Some([("name".to_owned(), "Anna".into())].into());
        let asked = Arc::default();
        Self {
            capability,
            answer,
            asked,
        }
    }
}

impl ClientHandler for User {
    fn capabilities(&self) -> ClientCapabilities {
        serde_json::from_value(json!({"elicitation": self.capability})).unwrap()
    }

    fn elicit(&self, params: ElicitRequestParams) -> HandlerFuture<'_, ElicitResult> {
        self.asked.lock().unwrap().push(params);
        Box::pin(ready(Ok(self.answer.clone())))
    }
}

/// Parameters of a form, without `mode`.
fn form() -> Value {
    let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
    json!({"message": "Who?", "requestedSchema": schema})
}

fn page() -> Value {
    json!({"mode": "url", "message": "Sign in", "url": "https://a.example/", "elicitationId": "e"})
}

/// Returns the result that a server of `revision` receives for a request, or `None` if the client refuses it.
async fn answer_to(revision: Revision, params: Value, user: User) -> Option<Value> {
    let mut call = Value::Null;
    let (session, received) = scripted(move |message| {
        let asked = json!({"method": "elicitation/create", "params": params});
        let answers = &message["params"]["inputResponses"];
        match message["method"].as_str() {
            Some("initialize") => initialized(message, revision.as_str()),
            Some("server/discover") => discovered(message),
            Some("tools/call") if !revision.is_modern() => {
                call = message.clone();
                let mut request = asked;
                request["jsonrpc"] = json!("2.0");
                request["id"] = json!("ask");
                Reply::Lines(vec![request.to_string()])
            }
            Some("tools/call") if answers.is_null() => {
                let required =
                    json!({"resultType": "input_required", "inputRequests": {"ask": asked}});
                Reply::result(message, &required)
            }
            Some("tools/call") => {
                Reply::result(message, &json!({"resultType": "complete", "content": []}))
            }
            None => Reply::result(&call, &json!({"content": []})),
            _ => Reply::nothing(),
        }
    });
    let builder = McpClientSession::builder().session(session).handler(user);
    let session = builder.protocol_version(revision).build().await.unwrap();
    // Refused requests fail the call in the modern era.
    let _ = session.tools_call("sign_in", ()).await;
    let all = received.all();
    let legacy = all.iter().find(|message| message["id"] == "ask");
    let modern = || {
        let mut answers = all.iter().map(|it| &it["params"]["inputResponses"]["ask"]);
        answers.find(|answer| answer.is_object())
    };
    match legacy {
        Some(response) => response.get("result").cloned(),
        None => modern().cloned(),
    }
}

#[tokio::test]
async fn a_request_without_a_mode_is_a_form() {
    for revision in REVISIONS {
        for mode in [None, Some("form")] {
            let mut params = form();
            if let Some(mode) = mode {
                params["mode"] = mode.into();
            }
            let user = User::new(json!({"form": {}, "url": {}}), ElicitAction::Accept);
            let answer = answer_to(revision, params, user.clone()).await.unwrap();
            assert_eq!(answer["content"]["name"], "Anna", "CLI-ELI-03: {revision}");
            let asked = user.asked.lock().unwrap();
            assert!(
                matches!(&asked[..], [ElicitRequestParams::Form(_)]),
                "CLI-ELI-03: {revision}"
            );
        }
    }
}

#[tokio::test]
async fn a_client_is_asked_in_the_modes_that_it_declares() {
    for revision in REVISIONS {
        for (capability, forms, pages) in [
            (json!({}), true, false),
            (json!({"form": {}}), true, false),
            (json!({"url": {}}), false, true),
            (json!({"form": {}, "url": {}}), true, true),
        ] {
            for (params, is_supported) in [(form(), forms), (page(), pages)] {
                let user = User::new(capability.clone(), ElicitAction::Accept);
                let answer = answer_to(revision, params.clone(), user.clone()).await;
                let context = format!("CLI-ELI-02: {revision}: {capability} {params}");
                assert_eq!(answer.is_some(), is_supported, "{context}");
                let asked = user.asked.lock().unwrap().len();
                assert_eq!(asked, usize::from(is_supported), "{context}");
            }
        }
    }
}

#[tokio::test]
async fn only_an_accepted_form_has_content() {
    for revision in REVISIONS {
        for (action, name) in [
            (ElicitAction::Accept, "accept"),
            (ElicitAction::Decline, "decline"),
            (ElicitAction::Cancel, "cancel"),
        ] {
            for (params, is_form) in [(form(), true), (page(), false)] {
                let user = User::new(json!({"form": {}, "url": {}}), action);
                let answer = answer_to(revision, params, user).await.unwrap();
                assert_eq!(answer["action"], name, "CLI-ELI-05: {revision}");
                let has_content = is_form && action == ElicitAction::Accept;
                assert_eq!(
                    answer.get("content").is_some(),
                    has_content,
                    "CLI-ELI-05: {revision}: {answer}"
                );
            }
        }
    }
}

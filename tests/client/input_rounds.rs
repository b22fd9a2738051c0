//! Rounds of input: results that request input, and the requests that follow them.

use std::future::IntoFuture as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Barrier;
use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::{
    CompleteRequestParams, CompletionArgument, ElicitAction, ElicitResult, PromptReference, Root,
};

use crate::failing::failing;
use crate::fixture::server;
use crate::script::{Reply, discovered, scripted};

#[tokio::test]
async fn input_rounds_are_limited() {
    let (server, _) = server();
    let accept = |_| async { Ok(ElicitResult::new(ElicitAction::Accept)) };
    let session = McpClientSession::builder()
        .server(&server)
        .on_elicit(accept);
    let session = session.build().await.unwrap();
    let few = session
        .tools_call("insist", json!({"times": 5}))
        .await
        .unwrap();
    assert_eq!(few.structured_content, Some(json!(5)));

    // A server that never stops requesting input.
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::result(
            message,
            &json!({"resultType": "input_required", "inputRequests": {"a": {
                "method": "roots/list"}}}),
        ),
    });
    let builder = McpClientSession::builder()
        .session(session)
        .roots([Root::new("file:///a")]);
    let session = builder.build().await.unwrap();
    let error = session.tools_call("any", ()).await.unwrap_err();
    assert!(matches!(error, ClientError::Protocol(_)), "{error}");
    assert_eq!(
        received.methods().len(),
        18,
        "16 rounds in addition to the first one"
    );
}

#[tokio::test]
async fn input_is_not_given_to_other_methods_or_for_nothing() {
    let asked =
        json!({"resultType": "input_required", "inputRequests": {"a": {"method": "roots/list"}}});
    let empty = json!({"resultType": "input_required"});
    for (method, result) in [
        ("tools/list", &asked),
        ("completion/complete", &asked),
        ("tools/call", &empty),
    ] {
        let result = result.clone();
        let (session, received) = scripted(move |message| match message["method"].as_str() {
            Some("server/discover") => discovered(message),
            _ => Reply::result(message, &result),
        });
        let builder = McpClientSession::builder().session(session);
        let session = builder
            .roots([Root::new("file:///a")])
            .build()
            .await
            .unwrap();
        let error = match method {
            "tools/list" => session.tools_list(None).await.map(drop),
            "tools/call" => session.tools_call("any", ()).await.map(drop),
            _ => {
                let argument = CompletionArgument::new("a", "");
                let params = CompleteRequestParams::new(PromptReference::new("p"), argument);
                session.completion_complete(&params).await.map(drop)
            }
        };
        let error = error.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{error}");
        assert_eq!(received.methods().len(), 2, "{method}");
    }
}

/// A server that requests input once, with or without a state.
fn server_requesting_input(
    state: Option<&'static str>,
) -> impl FnMut(&Value) -> Reply + Send + 'static {
    move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ if message["params"]["inputResponses"].is_null() => {
            let asked = r#"{"resultType":"input_required","inputRequests":{"k\"y":{"method":"roots/list"}}"#;
            let state = state.map_or(String::new(), |it| format!(r#","requestState":{it}"#));
            let id = &message["id"];
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{asked}{state}}}}}"#);
            Reply::Lines(vec![line])
        }
        _ => Reply::result(message, &json!({"content": []})),
    }
}

#[tokio::test(start_paused = true)]
async fn requests_of_a_round_are_answered_concurrently_and_in_order() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ if message["params"]["inputResponses"].is_null() => {
            let question = |text: &str| {
                json!({"method": "elicitation/create", "params": {
                    "message": text, "requestedSchema": {"type": "object", "properties": {}}}})
            };
            let requests = json!({"a": question("first"), "b": question("second")});
            let result = json!({"resultType": "input_required", "inputRequests": requests});
            Reply::result(message, &result)
        }
        _ => Reply::result(message, &json!({"content": []})),
    });
    let both = Arc::new(Barrier::new(2));
    let session = McpClientSession::builder()
        .session(session)
        .on_elicit(move |params| {
            let both = Arc::clone(&both);
            async move {
                both.wait().await;
                let is_first = json!(params)["message"] == "first";
                Ok(ElicitResult::new(if is_first {
                    ElicitAction::Decline
                } else {
                    ElicitAction::Cancel
                }))
            }
        });
    let session = session.build().await.unwrap();
    let call = session.tools_call("any", ());
    let limited = tokio::time::timeout(Duration::from_secs(60), call.into_future());
    limited
        .await
        .expect("a handler waits for the other")
        .unwrap();
    let last = received.all().pop().unwrap();
    let answers = &last["params"]["inputResponses"];
    assert_eq!(answers["a"]["action"], "decline");
    assert_eq!(answers["b"]["action"], "cancel");
}

#[tokio::test]
async fn the_request_state_is_returned_unchanged() {
    for state in [Some(r#""a\u0062 \/\" ü""#), None] {
        let (session, received) = scripted(server_requesting_input(state));
        let builder = McpClientSession::builder().session(session);
        let session = builder
            .roots([Root::new("file:///a")])
            .build()
            .await
            .unwrap();
        session.tools_call("t", json!({"a": 1})).await.unwrap();

        let received = received.all();
        let (first, second) = (&received[1], &received[2]);
        assert_ne!(first["id"], second["id"], "CLI-MRTR-05");
        assert_eq!(
            first["params"]["arguments"], second["params"]["arguments"],
            "CLI-MRTR-01"
        );
        assert_eq!(
            first["params"]["_meta"], second["params"]["_meta"],
            "CLI-MRTR-07"
        );
        let answer = &second["params"]["inputResponses"]["k\"y"];
        assert_eq!(
            *answer,
            json!({"roots": [{"uri": "file:///a"}]}),
            "CLI-MRTR-01"
        );
        let expected = state.map_or(Value::Null, |state| serde_json::from_str(state).unwrap());
        assert_eq!(second["params"]["requestState"], expected, "CLI-MRTR-03");
        assert!(first["params"]["requestState"].is_null(), "CLI-MRTR-06");
    }
}

#[tokio::test]
async fn a_result_of_an_unknown_type_is_invalid() {
    let (session, _) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("tools/list") => Reply::result(message, &json!({"tools": []})),
        _ => Reply::result(message, &json!({"resultType": "maybe", "content": []})),
    });
    let session = McpClientSession::builder()
        .session(session)
        .build()
        .await
        .unwrap();
    let error = session.tools_call("t", ()).await.unwrap_err();
    assert!(
        matches!(error, ClientError::Protocol(_)),
        "CLI-BASE-03: {error}"
    );
    session
        .tools_list(None)
        .await
        .expect("CLI-BASE-02: without a type it is complete");
}

#[tokio::test]
async fn a_nested_result_type_is_ignored() {
    // The result contains `complete`, but not as its own type.
    let asked = json!({"structuredContent": {"resultType": "complete"}, "resultType": "input_required",
        "inputRequests": {"a": {"method": "roots/list"}}});
    let complete = json!({"content": [{"type": "text", "text": "\"resultType\":\"input_required\""}],
        "structuredContent": {"resultType": "input_required"}});
    let (session, received) = scripted(move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ if message["params"]["inputResponses"].is_null() => Reply::result(message, &asked),
        _ => Reply::result(message, &complete),
    });
    let builder = McpClientSession::builder()
        .session(session)
        .roots([Root::new("file:///a")]);
    let result = builder
        .build()
        .await
        .unwrap()
        .tools_call("t", ())
        .await
        .unwrap();
    assert_eq!(
        result.structured_content,
        Some(json!({"resultType": "input_required"})),
        "CLI-BASE-02"
    );
    assert_eq!(received.methods().len(), 3, "CLI-MRTR-01");
}

#[tokio::test]
async fn a_server_that_is_lost_after_a_round_may_have_run_the_call() {
    for from in [0, 1] {
        let (session, _) = scripted(server_requesting_input(None));
        let calls = AtomicUsize::new(0);
        let session = failing(session, move |request| {
            let is_call = request.method == "tools/call";
            let is_lost = is_call && calls.fetch_add(1, Ordering::SeqCst) >= from;
            is_lost.then(|| ClientError::unreachable("it is away"))
        });
        let builder = McpClientSession::builder().session(session);
        let builder = builder.roots([Root::new("file:///a")]);
        let session = builder.build().await.unwrap();
        let error = session.tools_call("t", ()).await.unwrap_err();
        let is_unreachable = matches!(error, ClientError::Unreachable(_));
        assert_eq!(is_unreachable, from == 0, "{error}");
        let is_closed = matches!(error, ClientError::Closed(_));
        assert_eq!(is_closed, from == 1, "{error}");
    }
}

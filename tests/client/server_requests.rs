//! Requests of a server to its client, in both eras.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use treenail::RpcError;
use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestParams,
    ElicitResult, Revision, Role, Root, SamplingMessage, SamplingMessageContentBlock, TextContent,
};

use crate::fixture::server;
use crate::script::{Reply, discovered, scripted};

/// Revisions with form elicitation.
const ELICITING: [Revision; 3] = [
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

#[tokio::test]
async fn one_handler_works_in_every_era() {
    let (server, _) = server();
    for revision in ELICITING {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&asked);
        let session = McpClientSession::builder()
            .server(&server)
            .protocol_version(revision)
            .on_elicit(move |request| {
                if let ElicitRequestParams::Form(form) = &request {
                    noted.lock().unwrap().push(form.message.clone());
                }
                async {
                    let mut result = ElicitResult::new(ElicitAction::Accept);
                    result.content = Some([("name".to_owned(), "Anna".into())].into());
                    Ok(result)
                }
            })
            .build()
            .await
            .unwrap();
        let result = session.tools_call("book", ()).await.unwrap();
        // CLI-ELI-04: a field without a value takes its default.
        assert_eq!(
            result.content[0].as_text(),
            Some("Anna stays 2 nights"),
            "{revision}"
        );
        assert_eq!(*asked.lock().unwrap(), ["Who is coming?"], "{revision}");
    }
}

#[tokio::test]
async fn capabilities_without_a_handler_are_not_declared() {
    let (server, _) = server();
    for revision in ELICITING {
        let builder = McpClientSession::builder().server(&server);
        let session = builder.protocol_version(revision).build().await.unwrap();
        match session.tools_call("book", ()).await {
            Ok(result) => assert_eq!(result.is_error, Some(true), "{revision}"),
            Err(error) => {
                let refused = error.as_refused().expect("the server refuses");
                assert_eq!(refused.code, -32021, "CLI-ELI-01: {revision}");
            }
        }
    }
}

#[tokio::test]
async fn an_invalid_form_is_not_sent() {
    let (server, _) = server();
    for revision in ELICITING {
        let session = McpClientSession::builder()
            .server(&server)
            .protocol_version(revision)
            .on_elicit(|_| async {
                let mut result = ElicitResult::new(ElicitAction::Accept);
                result.content = Some([("name".to_owned(), 7.into())].into());
                Ok(result)
            })
            .build()
            .await
            .unwrap();
        match session.tools_call("book", ()).await {
            // A legacy server receives an error response.
            Ok(result) => assert_eq!(result.is_error, Some(true), "CLI-ELI-13: {revision}"),
            Err(error) => assert!(
                matches!(error, ClientError::Unanswered(_) | ClientError::Refused(_)),
                "CLI-ELI-13: {revision}: {error}"
            ),
        }
    }
}

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
async fn all_server_requests_work_in_every_revision() {
    struct Curious;

    #[mcp_tool]
    #[allow(deprecated, reason = "it is what is tested")]
    impl Curious {
        #[tool]
        async fn sample(cx: &Context) -> Result<String, AskError> {
            let hello = SamplingMessageContentBlock::Text(TextContent::new("Hello"));
            let messages = vec![SamplingMessage::new(Role::User, vec![hello])];
            let params = CreateMessageRequestParams::new(messages, 9);
            Ok(cx.sample(params).await?.model)
        }

        #[tool]
        async fn roots(cx: &Context) -> Result<usize, AskError> {
            Ok(cx.roots().await?.len())
        }

        #[prompt]
        async fn greet(cx: &Context) -> Result<String, AskError> {
            Ok(format!("{} roots", cx.roots().await?.len()))
        }

        #[resource("curious://one")]
        async fn one(cx: &Context) -> Result<String, AskError> {
            Ok(format!("{} roots", cx.roots().await?.len()))
        }
    }

    let server = treenail::server!().mount(Curious).build().unwrap();
    for revision in Revision::ALL {
        let client = McpClient::builder()
            .server(&server)
            .protocol_version(revision)
            .roots([Root::new("file:///home")])
            .on_sample(|asked| async move {
                let block = SamplingMessageContentBlock::Text(TextContent::new("Hi"));
                let model = format!("m{}", asked.max_tokens);
                Ok(CreateMessageResult::new(
                    Role::Assistant,
                    vec![block],
                    model,
                ))
            })
            .build()
            .await
            .unwrap();
        let model: String = client.call_tool_as("sample", ()).await.unwrap();
        assert_eq!(model, "m9", "CLI-SAM-06: {revision}");
        let roots: usize = client.call_tool_as("roots", ()).await.unwrap();
        assert_eq!(roots, 1, "CLI-ROOT-02: {revision}");
        let prompt = client.get_prompt("greet", ()).await.unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("1 roots"));
        let read = client.read_resource("curious://one").await.unwrap();
        assert_eq!(json!(*read)["contents"][0]["text"], "1 roots", "{revision}");
    }
}

#[tokio::test]
async fn an_error_from_a_handler_reaches_the_server() {
    let (server, _) = server();
    for revision in ELICITING {
        let refuse = |_| async { Err::<ElicitResult, _>(RpcError::new(-1, "busy")) };
        let builder = McpClientSession::builder()
            .server(&server)
            .on_elicit(refuse);
        let session = builder.protocol_version(revision).build().await.unwrap();
        let message = match session.tools_call("book", ()).await {
            Ok(result) => result.content[0].as_text().unwrap_or_default().to_owned(),
            Err(error) => error.to_string(),
        };
        assert!(
            message.contains("busy (code -1)"),
            "CLI-ERR-02: {revision}: {message}"
        );
    }
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

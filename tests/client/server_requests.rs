//! Requests of a server to its client, in both eras.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use treenail::RpcError;
use treenail::client::ClientError;
use treenail::prelude::*;
use treenail::schema::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestParams,
    ElicitResult, Revision, Role, Root, SamplingMessage, SamplingMessageContentBlock, TextContent,
};

use crate::fixture::server;
use crate::script::{Reply, initialized, scripted};

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
                async { ElicitResult::accept(json!({"name": "Anna"})) }
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

/// Waits for the user, and once more if `forever`.
#[mcp_tool]
async fn confirm(cx: &Context, #[arg(default)] forever: bool) -> Result<String, AskError> {
    cx.confirm("Continue?").await?;
    if forever {
        std::future::pending::<()>().await;
    }
    Ok("confirmed".to_owned())
}

#[tokio::test(start_paused = true)]
async fn a_user_may_need_longer_than_the_timeout() {
    let server = treenail::server!().tools(tools![confirm]).build().unwrap();
    let limit = Duration::from_secs(3);
    for revision in ELICITING {
        let session = McpClientSession::builder()
            .server(&server)
            .protocol_version(revision)
            .on_elicit(|_| async {
                tokio::time::sleep(Duration::from_secs(600)).await;
                ElicitResult::accept(())
            })
            .build()
            .await
            .unwrap();
        let call = |arguments| session.tools_call("confirm", arguments);
        for call in [call(json!({})), call(json!({})).timeout(limit)] {
            let result = call.await.unwrap();
            assert_eq!(result.as_text(), Some("confirmed"), "{revision}");
        }
        // Before and after the answer the timeout runs.
        let started = tokio::time::Instant::now();
        let call = call(json!({"forever": true})).timeout(limit);
        let error = call.await.unwrap_err();
        let expected = matches!(error, ClientError::Timeout(given) if given == limit);
        assert!(expected, "{revision}: {error}");
        assert_eq!(started.elapsed().as_secs(), 603, "{revision}");
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
async fn a_server_of_an_older_revision_receives_one_block() {
    let text = |text: &str| SamplingMessageContentBlock::text(text);
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
    ] {
        for (blocks, expected) in [
            (vec![text("Hi")], Some("Hi")),
            (vec![text("Hi"), text("there")], Some("Hi\nthere")),
            (vec![], None),
        ] {
            let mut call = Value::Null;
            let (session, received) = scripted(move |message| match message["method"].as_str() {
                Some("initialize") => initialized(message, revision.as_str()),
                Some("tools/call") => {
                    call = message.clone();
                    Reply::Lines(vec![sampling_request()])
                }
                // The client has answered, so the call ends.
                None => Reply::result(&call, &json!({"content": []})),
                _ => Reply::nothing(),
            });
            let builder = McpClientSession::builder().session(session);
            let session = builder
                .protocol_version(revision)
                .on_sample(move |_| {
                    let result = CreateMessageResult::new(Role::Assistant, blocks.clone(), "m");
                    ready(Ok(result))
                })
                .build()
                .await
                .unwrap();
            session.tools_call("sample", ()).await.unwrap();
            let received = received.all();
            let answer = received.iter().find(|it| it["id"] == "ask").unwrap();
            let content = &answer["result"]["content"];
            assert_eq!(
                content["text"].as_str(),
                expected,
                "CLI-SAM-06, ALL-LIFE-01: {revision}: {answer}"
            );
            assert_eq!(expected.is_none(), answer["error"].is_object(), "{answer}");
        }
    }
}

fn sampling_request() -> String {
    let hello = json!({"role": "user", "content": {"type": "text", "text": "Hello"}});
    let params = json!({"maxTokens": 9, "messages": [hello]});
    json!({"jsonrpc": "2.0", "id": "ask", "method": "sampling/createMessage", "params": params})
        .to_string()
}

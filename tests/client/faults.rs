//! Servers that violate the protocol.

use serde_json::{Value, json};
use treenail::client::ClientError;
use treenail::prelude::*;

use super::scripted;
use crate::script::{Reply, answer, discovered};

/// Creates a session with a server that behaves correctly, except for the calls that `reply` handles.
async fn session_with_faults(
    reply: impl FnMut(&Value) -> Reply + Send + 'static,
) -> McpClientSession {
    let mut reply = reply;
    let (session, _) = scripted(move |message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        Some("tools/list") => Reply::result(message, &json!({"tools": []})),
        _ => reply(message),
    });
    McpClientSession::builder()
        .session(session)
        .build()
        .await
        .unwrap()
}

#[tokio::test]
async fn garbage_between_messages_is_ignored() {
    let session = session_with_faults(|message| {
        let garbage = [
            "Starting…",
            "{",
            "[]",
            "[1]",
            "\u{0}",
            "null",
            "{\"jsonrpc\":\"2.0\"}",
        ];
        let mut lines: Vec<_> = garbage.iter().map(|line| (*line).to_owned()).collect();
        lines.push(answer(message, &json!({"content": []})));
        Reply::Lines(lines)
    })
    .await;
    session.tools_call("t", ()).await.unwrap();
}

#[tokio::test]
async fn half_of_a_character_hides_no_answer() {
    // As `JSON.stringify` writes a text that was cut by `slice`.
    let cut = |line: String| Reply::Lines(vec![line.replace("HALF", "\\ud83d")]);
    let (session, _) = scripted(move |message| {
        if message["method"] == "server/discover" {
            return discovered(message);
        }
        let is_list = message["method"] == "tools/list";
        let tool = json!({"name": "t", "description": "d HALF", "inputSchema": {"type": "object"}});
        let content = json!([{"type": "text", "text": "Hello HALF"}]);
        let result = if is_list {
            json!({"tools": [tool]})
        } else {
            json!({"content": content, "structuredContent": {"a": "HALF"}})
        };
        cut(answer(message, &result))
    });
    let client = McpClient::builder().session(session).build().await.unwrap();
    let tools = client.tools().await.unwrap();
    assert_eq!(tools[0].description.as_deref(), Some("d \u{fffd}"));
    for result in [
        client.call_tool("t", ()).await.unwrap(),
        client.session().tools_call("t", ()).await.unwrap(),
    ] {
        assert_eq!(result.texts().collect::<Vec<_>>(), ["Hello \u{fffd}"]);
        assert_eq!(result.structured_content, Some(json!({"a": "\u{fffd}"})));
    }
}

#[tokio::test]
async fn responses_without_a_request_are_dropped() {
    let session = session_with_faults(|message| {
        let id = message["id"].as_i64().unwrap();
        let stray = json!({"id": id + 1_000});
        let named = json!({"id": id.to_string()});
        Reply::Lines(vec![
            answer(&stray, &json!({"content": []})),
            answer(&named, &json!({"content": []})),
            answer(message, &json!({"content": []})),
            answer(
                message,
                &json!({"content": [{"type": "text", "text": "again"}]}),
            ),
        ])
    })
    .await;
    for _ in 0..3 {
        assert!(
            session
                .tools_call("t", ())
                .await
                .unwrap()
                .content
                .is_empty()
        );
    }
}

#[tokio::test]
async fn an_invalid_response_fails_only_its_call() {
    let bad = [
        r#"{"jsonrpc":"2.0","id":ID,"result":7}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":7}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{"code":1,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"error":"no"}"#,
        r#"{"jsonrpc":"1.0","id":ID,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[],"resultType":7}}"#,
    ];
    for line in bad {
        let session = session_with_faults(move |message| {
            Reply::Lines(vec![line.replace("ID", &message["id"].to_string())])
        })
        .await;
        let error = session.tools_call("t", ()).await.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{line}: {error}");
        session.tools_list(None).await.unwrap();
    }
}

#[tokio::test]
async fn an_oversized_response_fails_only_its_call() {
    let text = "x".repeat(10_000);
    let result = json!({"content": [{"type": "text", "text": text}]}).to_string();
    let lines = [
        r#"{"jsonrpc":"2.0","id":ID,"result":RESULT}"#,
        r#"{"result":RESULT,"jsonrpc":"2.0","id":ID}"#,
    ];
    for line in lines {
        let line = line.replace("RESULT", &result);
        let session =
            session_with_faults(move |message| match message["params"]["name"].as_str() {
                Some("long") => Reply::Lines(vec![line.replace("ID", &message["id"].to_string())]),
                _ => Reply::nothing(),
            })
            .await;
        let other = tokio::spawn(session.tools_call("silent", ()).into_future());
        let error = session.tools_call("long", ()).await.unwrap_err();
        assert!(matches!(error, ClientError::TooLong(4_000)), "{error}");
        session.tools_list(None).await.unwrap();
        assert!(!other.is_finished());
    }
}

#[tokio::test]
async fn pending_requests_fail_when_the_server_exits() {
    for half in ["", "{\"jsonrpc\":\"2.0\",\"id\":2,\"resu"] {
        let session =
            session_with_faults(move |message| match message["params"]["name"].as_str() {
                Some("die") => Reply::Exit(half.to_owned()),
                _ => Reply::nothing(),
            })
            .await;
        let other = tokio::spawn(session.tools_call("silent", ()).into_future());
        let error = session.tools_call("die", ()).await.unwrap_err();
        assert!(matches!(error, ClientError::Closed(_)), "{error}");
        let error = other.await.unwrap().unwrap_err();
        assert!(matches!(error, ClientError::Closed(_)), "{error}");
        let error = session.tools_list(None).await.unwrap_err();
        assert!(
            matches!(error, ClientError::Closed(_)),
            "later calls fail at once: {error}"
        );
    }
}

#[tokio::test]
async fn a_last_line_without_a_newline_is_read() {
    let session =
        session_with_faults(|message| Reply::Exit(answer(message, &json!({"content": []})))).await;
    session.tools_call("t", ()).await.unwrap();
}

#[tokio::test]
async fn notifications_of_a_closed_connection_end_at_once() {
    let session = session_with_faults(|_| Reply::nothing()).await;
    let mut earlier = session.notifications();
    session.close().await.unwrap();
    for notifications in [&mut earlier, &mut session.notifications()] {
        assert!(notifications.next().await.is_none());
    }
}

#[tokio::test]
async fn floods_of_notifications_use_bounded_memory() {
    let note = json!({"jsonrpc": "2.0", "method": "notifications/message",
        "params": {"level": "info", "data": "x".repeat(100)}});
    let session = session_with_faults(move |message| {
        let mut lines = vec![note.to_string(); 5_000];
        lines.push(answer(message, &json!({"content": []})));
        Reply::Lines(lines)
    })
    .await;
    let mut notifications = session.notifications();
    session.tools_call("t", ()).await.unwrap();
    assert_eq!(notifications.lost(), 5_000 - 1_024, "the oldest are lost");
    assert!(
        tokio_stream::StreamExt::next(&mut notifications)
            .await
            .is_some()
    );
}

#[tokio::test]
async fn requests_of_a_modern_server_are_not_answered() {
    let (session, received) = scripted(|message| match message["method"].as_str() {
        Some("server/discover") => discovered(message),
        _ => Reply::Lines(vec![
            json!({"jsonrpc": "2.0", "id": 1, "method": "ping"}).to_string(),
            answer(message, &json!({"content": []})),
        ]),
    });
    let session = McpClientSession::builder()
        .session(session)
        .build()
        .await
        .unwrap();
    session.tools_call("t", ()).await.unwrap();
    session.tools_call("t", ()).await.unwrap();
    assert_eq!(received.methods().len(), 3, "CLI-BASE-04, CLI-STDIO-05");
}

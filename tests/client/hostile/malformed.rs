//! Malformed responses, and lines that are not messages.

use std::sync::Arc;

use serde_json::{Value, json};
use treenail::client::{ClientError, ClientLimits, Session};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::modern;
use crate::script::{
    Reply, answer, discovered, initialized, scripted, scripted_over_jsoncall, scripted_with_limits,
};

/// Malformed responses with a readable id.
fn malformed_responses() -> Vec<String> {
    let deep = format!("{}0{}", "[".repeat(200), "]".repeat(200));
    vec![
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[]}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":ID,"result":{"a":NaN}}"#.to_owned(),
        r#"{"result":{"a":Infinity},"jsonrpc":"2.0","id":ID}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"a":{deep}}}}}"#),
    ]
}

#[tokio::test(start_paused = true)]
async fn a_malformed_response_fails_its_request_at_once() {
    for line in malformed_responses() {
        let response = line.clone();
        let client = modern(move |message| {
            Reply::Lines(vec![response.replace("ID", &message["id"].to_string())])
        });
        let client = client.await.unwrap();
        let error = client.call_tool("t", ()).await.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{line}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_malformed_response_fails_its_request_at_once_over_jsoncall() {
    for line in malformed_responses() {
        let response = line.clone();
        let (session, _) = scripted_over_jsoncall(move |message| {
            if message["method"] == "server/discover" {
                return discovered(message);
            }
            Reply::Lines(vec![response.replace("ID", &message["id"].to_string())])
        });
        let client = McpClient::builder().session(session).build().await.unwrap();
        let error = client.call_tool("t", ()).await.unwrap_err();
        assert!(matches!(error, ClientError::Protocol(_)), "{line}: {error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_response_may_have_its_id_as_a_float_or_a_string() {
    for form in ["ID.0", "ID.00", r#""ID""#] {
        let client = modern(move |message| {
            let id = form.replace("ID", &message["id"].to_string());
            let response = r#"{"jsonrpc":"2.0","id":ID,"result":{"content":[]}}"#;
            Reply::Lines(vec![response.replace("ID", &id)])
        });
        client.await.unwrap().call_tool("t", ()).await.unwrap();
    }
}

#[tokio::test]
async fn a_malformed_server_request_fails_no_client_request() {
    let client = modern(|message| {
        let id = message["id"].to_string();
        let malformed_responses =
            r#"{"jsonrpc":"2.0","id":ID,"method":"roots/list","params":{"a":}}"#;
        Reply::Lines(vec![
            malformed_responses.replace("ID", &id),
            answer(message, &json!({"content": []})),
        ])
    });
    client.await.unwrap().call_tool("t", ()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_malformed_or_oversized_request_of_a_legacy_server_is_answered_with_its_error() {
    let malformed = r#"{"jsonrpc":"2.0","id":ID,"method":"ping","params":3}"#.to_owned();
    let oversized = malformed.replace('3', &format!(r#"{{"a":"{}"}}"#, "x".repeat(5_000)));
    for request in [malformed, oversized] {
        let reply = move |message: &Value| match message["method"].as_str() {
            Some("initialize") => initialized(message, "2025-11-25"),
            Some("tools/call") => Reply::Lines(vec![
                request.replace("ID", &message["id"].to_string()),
                answer(message, &json!({"content": []})),
            ]),
            _ => Reply::nothing(),
        };
        let (line, received_line) = scripted(reply.clone());
        let (jsoncall, received_jsoncall) = scripted_over_jsoncall(reply);
        let sessions: [(Arc<dyn Session>, _); 2] =
            [(line, received_line), (jsoncall, received_jsoncall)];
        for (session, received) in sessions {
            let client = McpClient::builder()
                .session(session)
                .protocol_version(Revision::V2025_11_25);
            let client = client.build().await.unwrap();
            client.call_tool("t", ()).await.unwrap();
            // A request is written after the answer.
            client.close().await.unwrap();
            let received = received.all();
            let answer = received.iter().find(|it| it["error"].is_object()).unwrap();
            let call = received.iter().find(|it| it["method"] == "tools/call");
            assert_eq!(answer["id"], call.unwrap()["id"], "CLI-ERR-02");
            assert_eq!(answer["error"]["code"], -32600, "CLI-ERR-02");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn connection_errors_quote_the_garbage_of_a_server() {
    let quoted = "the server wrote a line that is not a message: `Listening on \\u{1b}[1mport 80";
    for leaves in [false, true] {
        let reply = move |_: &Value| {
            let line = format!("Listening on \u{1b}[1mport 80 {}", "x".repeat(5_000));
            if leaves {
                return Reply::Exit(line + "\n");
            }
            Reply::Lines(vec![line])
        };
        let limits = ClientLimits::default();
        let (session, _) = scripted_with_limits(&limits, reply);
        let built = McpClient::builder().session(session).build().await;
        let error = built.unwrap_err().to_string();
        assert!(error.contains(quoted), "{error}");
        assert!(error.len() < 1_000, "{error}");

        let (session, _) = scripted_over_jsoncall(move |message: &Value| {
            if leaves {
                return Reply::Exit("Listening on \u{1b}[1mport 80\n".to_owned());
            }
            let _ = message;
            Reply::Lines(vec!["Listening on \u{1b}[1mport 80".to_owned()])
        });
        let built = McpClient::builder().session(session).build().await;
        let error = built.unwrap_err().to_string();
        assert!(error.contains(quoted), "over jsoncall: {error}");
    }
}

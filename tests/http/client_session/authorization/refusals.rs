//! Requests that the server refuses, and their repetition with other credentials.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Notify;
use treenail::client::{
    ClientError, HttpClientBuilderExt as _, McpClientSession, Session, SessionNotification,
};
use treenail::schema::Revision;

use super::super::legacy::default_response;
use super::super::listener::{TestSession, legacy, modern, tool};
use super::super::scripted_server::{Received, Response, ScriptedServer};
use super::{Tokens, client, has_token};

const CHALLENGE: &str = r#"www-authenticate: Bearer scope="a b", error="invalid_token""#;

#[tokio::test]
async fn a_refused_request_is_sent_again_with_other_credentials() {
    for status in [401, 403] {
        let mut server = ScriptedServer::new(move |received| {
            if has_token(received, "t1") {
                Response::result(received, &json!({}))
            } else {
                Response::complete(status, CHALLENGE, "")
            }
        })
        .await;
        let tokens = Arc::<Tokens>::default();
        let call = modern(7, "tools/call", tool("add", &json!({})));
        client(&server, &tokens).send(call).await.unwrap();
        let [first, again] = [server.next_request().await, server.next_request().await];
        assert_eq!(first.body, again.body, "AUTH-C-11: same id, same bytes");
        assert_eq!(again.header("mcp-name"), Some("add"), "AUTH-C-11");
        assert!(server.has_no_request());
        let reason = if status == 401 {
            "Unauthorized"
        } else {
            "Forbidden"
        };
        let revision = format!("{:?}", Some(Revision::LATEST));
        let expected = [
            format!("POST /mcp tools/call add 0 false {revision}"),
            format!(
                "refused {status} {reason} {} by Some(127.0.0.1)",
                &CHALLENGE[18..]
            ),
            format!("POST /mcp tools/call add 1 true {revision}"),
        ];
        assert_eq!(tokens.log(), expected, "AUTH-C-04");
    }
}

#[tokio::test]
async fn a_notification_is_authorized_and_sent_again() {
    let mut server = ScriptedServer::new(|received| {
        if has_token(received, "t1") {
            Response::accepted()
        } else {
            Response::complete(401, "", "")
        }
    })
    .await;
    let session = client(&server, &Arc::default());
    let mut notification = SessionNotification::new("notifications/x", "{}".to_owned());
    notification.revision = Some(Revision::LATEST);
    session.session.notify(notification).await.unwrap();
    let [first, again] = [server.next_request().await, server.next_request().await];
    assert_eq!(first.body, again.body, "AUTH-C-04");
}

#[tokio::test]
async fn the_number_of_attempts_is_bounded() {
    let mut server = ScriptedServer::new(|_| {
        let headers = format!("{CHALLENGE}\r\ncontent-type: text/plain");
        Response::complete(401, &headers, "no")
    })
    .await;
    let tokens = Arc::<Tokens>::default();
    let error = client(&server, &tokens)
        .send(modern(1, "tools/list", json!({})))
        .await;
    let Err(ClientError::Unauthorized(error)) = error else {
        panic!("AUTH-C-01: {error:?}");
    };
    let bearer = error.challenges.with_scheme("Bearer").next().unwrap();
    assert_eq!(bearer.parameter("scope"), Some("a b"), "AUTH-C-01");
    assert_eq!((error.status, &*error.body), (401, "no"), "AUTH-C-01");
    let sent = std::iter::from_fn(|| server.try_next()).count();
    assert_eq!(sent, 9, "AUTH-C-12");
}

#[tokio::test]
async fn without_credentials_a_refusal_is_an_error_with_its_challenge() {
    for (status, body, is_typed) in [
        (401, "", true),
        (
            401,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#,
            true,
        ),
        (
            403,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#,
            true,
        ),
        (400, "", false),
        (503, "", false),
    ] {
        let mut server =
            ScriptedServer::new(move |_| Response::complete(status, CHALLENGE, body)).await;
        let client = TestSession::connect(&server.url);
        let error = client
            .send(modern(1, "tools/list", json!({})))
            .await
            .unwrap_err();
        match &error {
            ClientError::Unauthorized(error) => {
                assert!(is_typed, "AUTH-C-09: {status}");
                assert_eq!(error.challenges.iter().count(), 1, "AUTH-C-01");
            }
            other => assert!(!is_typed, "AUTH-C-01: {status} {other:?}"),
        }
        server.next_request().await;
        assert!(server.has_no_request(), "AUTH-C-01: nothing is fetched");
        assert!(!error.to_string().contains('\n'));
    }
}

#[tokio::test]
async fn the_timeout_does_not_run_while_credentials_are_obtained() {
    let server = ScriptedServer::new(|received| match has_token(received, "t1") {
        true if received.rpc() == "server/discover" => discovered(received),
        true => Response::raw(""),
        false => Response::complete(401, "", ""),
    })
    .await;
    let tokens = Arc::new(Tokens {
        gate: Some(Notify::new()),
        ..Tokens::default()
    });
    let connecting = McpClientSession::builder()
        .authorization(Arc::clone(&tokens))
        .url(&server.url)
        .build();
    let connecting = tokio::spawn(connecting);
    while !tokens.waiting.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(3600)).await;
    tokio::time::resume();
    tokio::task::yield_now().await;
    assert!(!connecting.is_finished(), "AUTH-C-11");
    tokens.gate.as_ref().unwrap().notify_one();
    connecting.await.unwrap().unwrap();
}

fn discovered(received: &Received) -> Response {
    let result = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {},
        "serverInfo": {"name": "x", "version": "1"}, "ttlMs": 0, "cacheScope": "private",
    });
    Response::result(received, &result)
}

#[tokio::test]
async fn a_request_that_waits_for_credentials_is_not_cancelled() {
    let mut server = ScriptedServer::new(|received| match received.rpc() {
        "tools/list" => Response::complete(401, "", ""),
        _ => default_response(received),
    })
    .await;
    let tokens = Arc::new(Tokens {
        gate: Some(Notify::new()),
        ..Tokens::default()
    });
    let client = client(&server, &tokens);
    client.initialize().await.unwrap();
    let call = client.spawn(legacy(1, "tools/list", &json!({})));
    while !tokens.waiting.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    client.send(legacy(2, "ping", &json!({}))).await.unwrap();
    for method in ["initialize", "tools/list", "ping"] {
        assert_eq!(server.next_request().await.rpc(), method, "CLI-LHTTP-04");
    }
}

#[tokio::test]
async fn no_credentials_are_obtained_for_a_cancellation() {
    let mut open_streams = Vec::new();
    let mut server = ScriptedServer::new(move |received| match received.rpc() {
        "tools/list" => {
            let (response, more) = Response::open_stream(": x\n\n");
            open_streams.push(more);
            response
        }
        "notifications/cancelled" => Response::complete(401, "", ""),
        _ => default_response(received),
    })
    .await;
    let tokens = Arc::<Tokens>::default();
    let client = client(&server, &tokens);
    client.initialize().await.unwrap();
    let call = client.spawn(legacy(1, "tools/list", &json!({})));
    server.next_request_with("tools/list").await;
    call.abort();
    server.next_request_with("notifications/cancelled").await;
    client.send(legacy(2, "ping", &json!({}))).await.unwrap();
    assert_eq!(server.next_request().await.rpc(), "ping");
    // The implementation decides, and may not ask a user.
    let log = tokens.log();
    let refusals = log.iter().filter(|line| line.starts_with("refused"));
    assert_eq!(refusals.count(), 1, "{log:?}");
    assert_eq!(tokens.current.load(Ordering::SeqCst), 0, "{log:?}");
}

#[tokio::test]
async fn no_credentials_are_obtained_for_the_end_of_a_session() {
    let mut server = ScriptedServer::new(|received| match &*received.method {
        "DELETE" => Response::complete(401, "www-authenticate: Bearer", ""),
        _ => default_response(received),
    })
    .await;
    let tokens = Arc::<Tokens>::default();
    let client = client(&server, &tokens);
    client.initialize().await.unwrap();
    client.session.close().await.unwrap();
    server.next_request_with("DELETE").await;
    assert!(server.has_no_request());
    let log = tokens.log();
    let refusals = log.iter().filter(|line| line.starts_with("refused"));
    assert_eq!(refusals.count(), 1, "{log:?}");
    assert_eq!(tokens.current.load(Ordering::SeqCst), 0, "{log:?}");
}

//! Renewal of a legacy session that the server has ended.

use std::future::IntoFuture as _;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::mpsc::unbounded_channel;
use treenail::client::{
    ClientError, HttpClientBuilderExt as _, McpClientSession, Session as _, SessionNotification,
};
use treenail::schema::Revision;

use super::legacy::{add, default_response};
use super::listener::{TestSession, initialize};
use super::scripted_server::{Received, Response, ScriptedServer};

#[tokio::test]
async fn an_expired_session_can_be_initialized_again() {
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no"}}"#;
    for (header, body) in [("", ""), ("", error), ("content-encoding: gzip", "\u{1f}")] {
        let mut calls = 0;
        let mut server = ScriptedServer::new(move |received| {
            calls += usize::from(received.rpc() == "tools/call");
            match received.rpc() {
                "tools/call" if calls == 1 => Response::complete(404, header, body),
                _ => default_response(received),
            }
        })
        .await;
        let client = TestSession::legacy(&server.url).await;
        for id in 1..3 {
            let lost = client.send(add(id)).await;
            assert!(
                matches!(lost, Err(ClientError::SessionExpired)),
                "CLI-LHTTP-08: {lost:?}"
            );
        }
        server.next_request_with("initialize").await;
        client.initialize().await.unwrap();
        client.initialized().await.unwrap();
        let received = server.next_request_with("initialize").await;
        assert_eq!(received.header("mcp-session-id"), None, "CLI-LHTTP-08");
        client.send(add(3)).await.unwrap();
        let received = server.next_request_with("tools/call").await;
        assert_eq!(received.body["id"], 3, "no other call was sent");
        assert_eq!(
            received.header("mcp-session-id"),
            Some("s-1"),
            "CLI-LHTTP-07"
        );
    }
}

#[tokio::test]
async fn the_stream_of_a_former_session_asks_nothing() {
    let (sender, mut opened) = unbounded_channel();
    let server = ScriptedServer::new(move |received| match received.rpc() {
        "tools/call" if received.body["id"] == 1 => {
            let (response, more) = Response::open_stream(": x\n\n");
            sender.send(more).unwrap();
            response
        }
        "tools/call" => Response::complete(404, "", ""),
        _ => default_response(received),
    })
    .await;
    let mut client = TestSession::legacy(&server.url).await;
    let call = client.spawn(add(1));
    let stream = opened.recv().await.unwrap();
    client.send(add(2)).await.unwrap_err();
    let ask = json!({"jsonrpc": "2.0", "id": 0, "method": "elicitation/create", "params": {}});
    stream.send(format!("data: {ask}\n\n")).unwrap();
    client.initialize().await.unwrap();
    client.initialized().await.unwrap();
    let result = json!({"jsonrpc": "2.0", "id": 1, "result": {}});
    stream
        .send(format!("data: {ask}\n\ndata: {result}\n\n"))
        .unwrap();
    call.await.unwrap().unwrap();
    assert!(client.has_no_incoming(), "CLI-LHTTP-08");
}

#[tokio::test]
async fn the_stream_of_an_expired_session_is_not_resumed() {
    let (sender, mut opened) = unbounded_channel();
    let mut server = ScriptedServer::new(move |received| match received.rpc() {
        "tools/call" if received.body["id"] == 1 => {
            let (response, more) = Response::open_stream("id: e-1\nretry: 1\ndata:\n\n");
            sender.send(more).unwrap();
            response
        }
        "tools/call" => Response::complete(404, "", ""),
        _ => default_response(received),
    })
    .await;
    let client = TestSession::legacy(&server.url).await;
    let call = client.spawn(add(1));
    let stream = opened.recv().await.unwrap();
    client.send(add(2)).await.unwrap_err();
    drop(stream);
    let Err(ClientError::Closed(reason)) = call.await.unwrap() else {
        panic!("the session is over");
    };
    assert_eq!(*reason, *"the session has ended before the answer");
    while let Some(received) = server.try_next() {
        assert_eq!(received.header("last-event-id"), None, "CLI-LHTTP-07");
    }
}

/// Step of a handshake that fails, in an otherwise complete renewal.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Failing {
    Initialize,
    Initialized,
}

#[tokio::test]
async fn a_failed_handshake_leaves_the_session_expired() {
    for failing in [Failing::Initialize, Failing::Initialized] {
        let (mut calls, mut handshakes) = (0, 0);
        let mut server = ScriptedServer::new(move |received| {
            calls += usize::from(received.rpc() == "tools/call");
            handshakes += usize::from(received.rpc() == "initialize");
            let step = match received.rpc() {
                "tools/call" if calls == 1 => return Response::complete(404, "", ""),
                "initialize" => Failing::Initialize,
                "notifications/initialized" => Failing::Initialized,
                _ => return default_response(received),
            };
            if handshakes == 2 && step == failing {
                return Response::complete(503, "", "");
            }
            default_response(received)
        })
        .await;
        let client = TestSession::legacy(&server.url).await;
        let lost = client.send(add(1)).await;
        assert!(matches!(lost, Err(ClientError::SessionExpired)), "{lost:?}");
        if failing == Failing::Initialize {
            client.initialize().await.unwrap_err();
        } else {
            client.initialize().await.unwrap();
            client.initialized().await.unwrap_err();
        }
        let lost = client.send(add(2)).await;
        assert!(
            matches!(lost, Err(ClientError::SessionExpired)),
            "CLI-LHTTP-08, CLI-LIFE-04: {failing:?}: {lost:?}"
        );
        client.initialize().await.unwrap();
        client.initialized().await.unwrap();
        client.send(add(3)).await.unwrap();
        server.next_request_with("tools/call").await;
        let received = server.next_request_with("tools/call").await;
        assert_eq!(
            received.body["id"], 3,
            "{failing:?}: no other call was sent"
        );
    }
}

#[tokio::test]
async fn nothing_else_is_sent_during_a_handshake() {
    let mut open_streams = Vec::new();
    let (mut calls, mut handshakes) = (0, 0);
    let mut server = ScriptedServer::new(move |received| {
        calls += usize::from(received.rpc() == "tools/call");
        handshakes += usize::from(received.rpc() == "initialize");
        match received.rpc() {
            "tools/call" if calls == 1 => Response::complete(404, "", ""),
            "initialize" if handshakes == 2 => {
                let (response, more) = Response::open_stream(": x\n\n");
                open_streams.push(more);
                response
            }
            _ => default_response(received),
        }
    })
    .await;
    let client = TestSession::legacy(&server.url).await;
    client.send(add(1)).await.unwrap_err();
    server.next_request_with("tools/call").await;
    let handshake = client.spawn(initialize());
    server.next_request_with("initialize").await;
    let expect_expired = async || {
        let lost = client.send(add(2)).await;
        assert!(
            matches!(lost, Err(ClientError::SessionExpired)),
            "CLI-LHTTP-07: {lost:?}"
        );
        let mut changed =
            SessionNotification::new("notifications/roots/list_changed", "{}".to_owned());
        changed.revision = Some(Revision::LATEST_LEGACY);
        let lost = client.session.notify(changed).await;
        assert!(
            matches!(lost, Err(ClientError::SessionExpired)),
            "CLI-LHTTP-07: {lost:?}"
        );
    };
    expect_expired().await;
    handshake.abort();
    server.disconnected.notified().await;
    expect_expired().await;
    client.initialize().await.unwrap();
    expect_expired().await;
    client.initialized().await.unwrap();
    client.send(add(3)).await.unwrap();
    for method in ["initialize", "notifications/initialized"] {
        assert_eq!(server.next_request().await.rpc(), method, "CLI-LIFE-04");
    }
}

/// Response to `initialize` of a server with tools, which starts the session with this id.
pub(super) fn start_session(received: &Received, session: &str) -> Response {
    let result = json!({
        "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
        "serverInfo": {"name": "x", "version": "1"},
    });
    let body = json!({"jsonrpc": "2.0", "id": received.body["id"], "result": result});
    let headers = format!("content-type: application/json\r\nmcp-session-id: {session}");
    Response::complete(200, &headers, &body.to_string())
}

/// Responses of a server whose first session ends with the first call.
pub(super) fn respond(received: &Received, session: &str) -> Response {
    match received.rpc() {
        "initialize" => start_session(received, session),
        "tools/list" => match received.header("mcp-session-id") {
            None => Response::complete(400, "", ""),
            Some("s-1") => Response::complete(404, "", ""),
            Some(_) => Response::result(received, &json!({"tools": []})),
        },
        _ => default_response(received),
    }
}

async fn connect(server: &ScriptedServer) -> McpClientSession {
    let builder = McpClientSession::builder().url(&*server.url);
    let builder = builder.protocol_version(Revision::V2025_11_25);
    builder.build().await.unwrap()
}

#[tokio::test]
async fn a_request_waits_for_the_handshake_of_another_one() {
    let mut handshakes = 0;
    let held = Arc::<Mutex<Option<_>>>::default();
    let holding = Arc::clone(&held);
    let mut server = ScriptedServer::new(move |received| {
        handshakes += usize::from(received.rpc() == "initialize");
        let response = respond(received, &format!("s-{handshakes}"));
        if received.rpc() == "initialize" && handshakes == 2 {
            let (response, release) = response.held();
            *holding.lock().unwrap() = Some(release);
            return response;
        }
        response
    })
    .await;
    let session = connect(&server).await;
    let first = tokio::spawn(session.tools_list(None).into_future());
    server.next_request_with("tools/list").await;
    server.next_request_with("initialize").await;
    let (second, ()) = tokio::join!(session.tools_list(None).into_future(), async {
        held.lock().unwrap().take();
    });
    second.expect("CLI-LHTTP-07");
    first.await.unwrap().expect("CLI-LHTTP-08");
    for _ in 0..2 {
        let received = server.next_request_with("tools/list").await;
        let id = received.header("mcp-session-id");
        assert_eq!(id, Some("s-2"), "CLI-LHTTP-07");
    }
}

#[tokio::test]
async fn a_renewal_that_the_server_interrupts_is_repeated() {
    let (mut handshakes, mut completed) = (0, 0);
    let server = ScriptedServer::new(move |received| {
        handshakes += usize::from(received.rpc() == "initialize");
        completed += usize::from(received.rpc() == "notifications/initialized");
        match received.rpc() {
            "notifications/initialized" if completed == 2 => Response::complete(503, "", ""),
            _ => respond(received, &format!("s-{handshakes}")),
        }
    });
    let mut server = server.await;
    let session = connect(&server).await;
    let lost = session.tools_list(None).await;
    assert!(
        matches!(lost, Err(ClientError::Http { status: 503, .. })),
        "{lost:?}"
    );
    session.tools_list(None).await.expect("CLI-LIFE-04");
    server.next_request_with("tools/list").await;
    let received = server.next_request_with("tools/list").await;
    let id = received.header("mcp-session-id");
    assert_eq!(id, Some("s-3"), "CLI-LIFE-04");
}

//! Sessions of the legacy era, with our own server.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use treenail::client::{ClientError, ClientLimits, Session};

use super::listener::{Incoming, TestSession, initialize, legacy, serve, tool};
use super::scripted_server::{Received, Response, ScriptedServer};
use crate::fixture::{Desk, builder, builder_of};

pub(super) fn add(id: i64) -> treenail::client::SessionRequest {
    legacy(id, "tools/call", &tool("add", &json!({"a": 2, "b": 1})))
}

#[tokio::test]
async fn a_session_serves_requests_and_notifications() {
    let (server, url) = serve(builder()).await;
    let mut client = TestSession::legacy(&url).await;
    let result = client.send(add(1)).await.unwrap();
    assert_eq!(result["content"][0]["text"], "3", "CLI-LHTTP-07");

    let mut params = tool("count", &json!({"to": 2}));
    params["_meta"]["progressToken"] = "p".into();
    let result = client.send(legacy(2, "tools/call", &params)).await.unwrap();
    assert_eq!(result["content"][0]["text"], "counted");
    for step in 1..=2 {
        let incoming = client.next_incoming().await;
        let Incoming::Notification(_, params) = incoming else {
            panic!("{incoming:?}");
        };
        assert_eq!(params, json!({"progressToken": "p", "progress": step}));
    }

    let subscribe = legacy(3, "resources/subscribe", &json!({"uri": "notes://1"}));
    client.send(subscribe).await.unwrap();
    server.resource_updated("notes://1");
    let incoming = client.next_incoming().await;
    let Incoming::Notification(method, params) = incoming else {
        panic!("{incoming:?}");
    };
    assert_eq!(method, "notifications/resources/updated", "CLI-LHTTP-05");
    assert_eq!(params["uri"], "notes://1");

    let error = client
        .send(legacy(4, "no/such", &json!({})))
        .await
        .unwrap_err();
    assert_eq!(error.as_refused().unwrap().code, -32601);
}

#[tokio::test]
async fn requests_of_the_server_are_answered() {
    let (_server, url) = serve(builder()).await;
    let mut client = TestSession::legacy(&url).await;
    for (id, action) in [(1, Some("accept")), (2, Some("decline")), (3, None)] {
        let call = client.spawn(legacy(id, "tools/call", &tool("ask", &json!({}))));
        let incoming = client.next_incoming().await;
        let Incoming::Request(method, params, responder) = incoming else {
            panic!("{incoming:?}");
        };
        assert_eq!(method, "elicitation/create");
        assert_eq!(params["message"], "Sure?");
        match action {
            Some(action) => responder.respond(Ok(json!({"action": action}).to_string())),
            None => drop(responder),
        }
        let result: Value = serde_json::from_str(&call.await.unwrap().unwrap()).unwrap();
        let fails = result["isError"] == true;
        assert_eq!(fails, action != Some("accept"), "{result}");
    }
}

#[tokio::test]
async fn dropping_a_request_cancels_it_on_the_server() {
    let desk = Desk::default();
    let (_server, url) = serve(builder_of(&desk)).await;
    let client = TestSession::legacy(&url).await;
    let call = client.spawn(legacy(1, "tools/call", &tool("wait", &json!({}))));
    desk.begun.notified().await;
    call.abort();
    // CLI-LHTTP-04: a closed connection alone would not cancel the call (SRV-LHTTP-10).
    desk.ended.notified().await;
    client.send(add(2)).await.unwrap();
}

/// Default responses of a legacy server.
pub(crate) fn default_response(received: &Received) -> Response {
    match (&*received.method, received.rpc()) {
        ("POST", "initialize") => {
            let result = json!({
                "jsonrpc": "2.0", "id": received.body["id"], "result": {"protocolVersion": "2025-11-25"},
            });
            let headers = "content-type: application/json\r\nmcp-session-id: s-1";
            Response::complete(200, headers, &result.to_string())
        }
        ("GET", _) => Response::complete(405, "", ""),
        ("DELETE", _) => Response::complete(204, "", ""),
        ("POST", method) if method.starts_with("notifications/") => Response::accepted(),
        _ => Response::result(received, &json!({})),
    }
}

#[tokio::test]
async fn every_message_carries_the_session_id() {
    let mut server = ScriptedServer::new(default_response).await;
    let client = TestSession::legacy(&server.url).await;
    client.send(add(1)).await.unwrap();
    client.session.close().await.unwrap();
    let mut received = Vec::new();
    for _ in 0..5 {
        received.push(server.next_request().await);
    }
    let session_of = |received: &Received| {
        let name = if received.method == "POST" {
            received.rpc()
        } else {
            &*received.method
        };
        (
            name.to_owned(),
            received.header("mcp-session-id").map(str::to_owned),
        )
    };
    let mut sessions: Vec<_> = received.iter().map(session_of).collect();
    assert_eq!(
        sessions.remove(0),
        ("initialize".to_owned(), None),
        "CLI-LHTTP-08"
    );
    assert_eq!(sessions.last().unwrap().0, "DELETE", "CLI-LHTTP-09");
    sessions.sort();
    let session = Some("s-1".to_owned());
    let expected = ["DELETE", "GET", "notifications/initialized", "tools/call"];
    let expected = expected.map(|name| (name.to_owned(), session.clone()));
    assert_eq!(sessions, expected, "CLI-LHTTP-07");
    assert_eq!(received[0].header("mcp-protocol-version"), None);
    for received in &received[1..] {
        let version = received.header("mcp-protocol-version");
        assert_eq!(version, Some("2025-11-25"), "CLI-LHTTP-10: {received:?}");
        assert_eq!(received.header("mcp-method"), None);
        let accept = received.header("accept").unwrap();
        assert!(
            accept.contains("text/event-stream"),
            "CLI-HTTP-02, CLI-LHTTP-05: {received:?}"
        );
    }
    assert!(
        !format!("{:?}", client.session).contains("s-1"),
        "CLI-LHTTP-07"
    );
}

#[tokio::test]
async fn only_cancellable_requests_are_cancelled() {
    let mut open_streams = Vec::new();
    let mut server = ScriptedServer::new(move |received| {
        if received.rpc() == "tools/call" {
            let (response, more) = Response::open_stream(": x\n\n");
            open_streams.push(more);
            return response;
        }
        default_response(received)
    })
    .await;
    let client = TestSession::legacy(&server.url).await;
    let mut uncancellable = add(1);
    uncancellable.cancellable = false;
    for request in [uncancellable, add(2)] {
        let id = request.id;
        let call = client.spawn(request);
        assert_eq!(server.next_request_with("tools/call").await.body["id"], id);
        call.abort();
        server.disconnected.notified().await;
    }
    let received = server.next_request_with("notifications/cancelled").await;
    assert_eq!(
        received.body["params"],
        json!({"requestId": 2}),
        "CLI-LHTTP-04"
    );
    assert_eq!(
        received.header("mcp-session-id"),
        Some("s-1"),
        "CLI-LHTTP-07"
    );
}

#[tokio::test]
async fn a_session_id_must_be_visible_ascii() {
    for id in ["", "a b", "\u{e6}"] {
        let server = ScriptedServer::new(move |received| {
            let result = json!({"jsonrpc": "2.0", "id": received.body["id"], "result": {}});
            let headers = format!("content-type: application/json\r\nmcp-session-id: {id}");
            Response::complete(200, &headers, &result.to_string())
        })
        .await;
        let result = TestSession::connect(&server.url).send(initialize()).await;
        assert!(
            matches!(result, Err(ClientError::Protocol(_))),
            "{id}: {result:?}"
        );
    }
}

#[tokio::test]
async fn requests_without_answers_do_not_hold_up_a_stream() {
    let mut server = ScriptedServer::new(|received| match received.rpc() {
        "tools/list" => {
            let ask = |id| {
                format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"roots/list\"}}\n\n")
            };
            let asks: String = (0..3).map(ask).collect();
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            let result = json!({"jsonrpc": "2.0", "id": received.body["id"], "result": {}});
            Response::stream(&format!("{asks}data: {changed}\n\ndata: {result}\n\n"))
        }
        "" if received.method == "POST" => Response::accepted(),
        _ => default_response(received),
    })
    .await;
    let limits = ClientLimits::default().pending_server_requests(1);
    let mut client = TestSession::with_limits(&server.url, limits);
    client.initialize().await.unwrap();
    client.initialized().await.unwrap();
    let call = client.spawn(legacy(1, "tools/list", &json!({})));
    let mut open = Vec::new();
    for _ in 0..2 {
        match client.next_incoming().await {
            Incoming::Request(_, _, responder) => open.push(responder),
            other => panic!("{other:?}"),
        }
    }
    // The third one is refused.
    let next = client.next_incoming().await;
    assert!(matches!(next, Incoming::Notification(..)), "{next:?}");
    call.await.unwrap().unwrap();
    let refused = loop {
        let received = server.next_request().await;
        if received.body.get("error").is_some() {
            break received.body;
        }
    };
    assert_eq!(refused["id"], 2, "{refused}");
}

#[tokio::test]
async fn a_cancelled_close_still_deletes_the_session() {
    let (releases, mut held) = tokio::sync::mpsc::unbounded_channel();
    let mut server = ScriptedServer::new(move |received| {
        let response = default_response(received);
        if received.method != "DELETE" {
            return response;
        }
        let (response, release) = response.held();
        releases.send(release).unwrap();
        response
    })
    .await;
    let client = TestSession::legacy(&server.url).await;
    let cancelled = tokio::time::timeout(Duration::ZERO, client.session.close()).await;
    assert!(cancelled.is_err(), "it was cancelled");
    let session = Arc::clone(&client.session);
    let second = tokio::spawn(async move { session.close().await });
    server.next_request_with("DELETE").await;
    assert!(!second.is_finished(), "CLI-LHTTP-09");
    drop(held.recv().await);
    second.await.unwrap().unwrap();
    client.session.close().await.unwrap();
    assert!(held.try_recv().is_err(), "the session is deleted once");
}

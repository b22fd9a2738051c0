//! Legacy streams that break off.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use treenail::client::{
    ClientError, ClientLimits, HttpClientBuilderExt as _, HttpClientLimits, McpClientSession,
    SessionRequest,
};
use treenail::schema::Revision;

use super::legacy::default_response;
use super::listener::{Incoming, TestSession, legacy, tool};
use super::scripted_server::{Response, ScriptedServer};

fn call(id: i64) -> SessionRequest {
    legacy(id, "tools/call", &tool("a", &json!({})))
}

/// Event with the answer to a request.
fn answer(id: i64) -> String {
    format!("data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n\n")
}

#[tokio::test]
async fn polling_honors_the_retry_delay() {
    let mut gets = 0;
    let mut server =
        ScriptedServer::new(move |received| match (&*received.method, received.rpc()) {
            ("POST", "tools/call") => Response::stream("id: e-1\nretry: 250\ndata:\n\n"),
            ("GET", _) if received.header("last-event-id").is_some() => {
                gets += 1;
                match gets {
                    1 => Response::stream("id: e-2\ndata:\n\n"),
                    _ => Response::stream(&format!("id: e-3\n{}", answer(1))),
                }
            }
            _ => default_response(received),
        })
        .await;
    let client = TestSession::legacy(&server.url).await;
    server.next_request_with("GET").await;
    let started = Instant::now();
    client.send(call(1)).await.unwrap();
    assert!(
        started.elapsed() >= Duration::from_millis(500),
        "CLI-LHTTP-02, twice"
    );
    for id in ["e-1", "e-2"] {
        let received = server.next_request_with("GET").await;
        assert_eq!(
            received.header("last-event-id"),
            Some(id),
            "CLI-LHTTP-03, CLI-LHTTP-06"
        );
        assert_eq!(
            received.header("mcp-session-id"),
            Some("s-1"),
            "CLI-LHTTP-07"
        );
        assert_eq!(
            received.header("mcp-protocol-version"),
            Some("2025-11-25"),
            "CLI-LHTTP-10"
        );
    }
}

#[tokio::test]
async fn resume_attempts_are_bounded() {
    // The response to a request for the rest of a stream, the number of such requests, and the outcome of the call.
    let responses: [fn() -> Response; 6] = [
        || Response::stream(": x\n\n"),
        || Response::complete(503, "", ""),
        || Response::complete(401, "", ""),
        || Response::complete(405, "", ""),
        || Response::complete(400, "", ""),
        || Response::complete(404, "", ""),
    ];
    let cases = [
        ("a stream without events", 2, "closed"),
        ("a transient error", 2, "closed"),
        ("other credentials", 2, "closed"),
        ("no such stream", 1, "closed"),
        ("no such event", 1, "closed"),
        ("no such session", 1, "closed"),
    ];
    for (respond, (name, times, expected)) in responses.into_iter().zip(cases) {
        let mut server =
            ScriptedServer::new(move |received| match (&*received.method, received.rpc()) {
                ("POST", "tools/call") => Response::stream("id: e-1\nretry: 1\ndata:\n\n"),
                ("GET", _) if received.header("last-event-id").is_some() => respond(),
                _ => default_response(received),
            })
            .await;
        let limits = ClientLimits::default().http(HttpClientLimits::default().resume_attempts(2));
        let client = TestSession::with_limits(&server.url, limits);
        client.initialize().await.unwrap();
        let outcome = match client.send(call(1)).await {
            Err(ClientError::Closed(_)) => "closed",
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(outcome, expected, "{name}");
        server.next_request_with("tools/call").await;
        client.initialize().await.unwrap();
        let mut count = 0;
        while server.next_request().await.method == "GET" {
            count += 1;
        }
        assert_eq!(count, times, "{name}");
    }
}

#[tokio::test]
async fn an_accepted_call_is_not_repeated_in_a_new_session() {
    let mut calls = 0;
    let mut server = ScriptedServer::new(move |received| {
        calls += usize::from(received.rpc() == "tools/call");
        match (&*received.method, received.rpc()) {
            ("POST", "initialize") => {
                let headers = "content-type: application/json\r\nmcp-session-id: s-1";
                let info = json!({"name": "x", "version": "1"});
                let result = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info});
                let body = json!({"jsonrpc": "2.0", "id": received.body["id"], "result": result});
                Response::complete(200, headers, &body.to_string())
            }
            ("POST", "tools/call") if calls == 1 => {
                Response::stream("id: e-1\nretry: 1\ndata:\n\n")
            }
            ("GET", _) if received.header("last-event-id").is_some() => {
                Response::complete(404, "", "")
            }
            _ => default_response(received),
        }
    })
    .await;
    let builder = McpClientSession::builder().url(&*server.url);
    let builder = builder.protocol_version(Revision::V2025_11_25);
    let client = builder.build().await.unwrap();
    let lost = client.tools_call("add", json!({})).await;
    assert!(matches!(lost, Err(ClientError::Closed(_))), "{lost:?}");
    // The next one starts a new session.
    let _ = client.tools_call("other", json!({})).await;
    let names = [(); 2].map(|()| "tools/call");
    let mut sent = Vec::new();
    for method in names {
        sent.push(server.next_request_with(method).await.body["params"]["name"].clone());
    }
    assert_eq!(sent, ["add", "other"]);
}

#[tokio::test]
async fn a_stream_without_ids_cannot_be_resumed() {
    let server = ScriptedServer::new(|received| match received.rpc() {
        "tools/call" => Response::stream("retry: 1\ndata:\n\n"),
        _ => default_response(received),
    })
    .await;
    let client = TestSession::legacy(&server.url).await;
    let lost = client.send(call(1)).await;
    assert!(matches!(lost, Err(ClientError::Closed(_))), "{lost:?}");
}

#[tokio::test]
async fn an_answer_is_taken_from_any_stream_of_the_session() {
    let mut open_streams = Vec::new();
    let mut session_stream = None;
    let server = ScriptedServer::new(move |received| match (&*received.method, received.rpc()) {
        ("GET", _) => {
            let (response, more) = Response::open_stream(": x\n\n");
            session_stream = Some(more);
            response
        }
        ("POST", "tools/call") => {
            let (response, more) = Response::open_stream("id: 1\ndata:\n\n");
            open_streams.push(more);
            let session_stream = session_stream.as_ref().unwrap();
            let id = received.body["id"].as_i64().unwrap();
            // No request waits for the first answer.
            session_stream
                .send(answer(99) + "data: {\n\n" + &answer(id))
                .unwrap();
            response
        }
        _ => default_response(received),
    });
    let mut server = server.await;
    let client = TestSession::legacy(&server.url).await;
    server.next_request_with("GET").await;
    client.send(call(1)).await.unwrap();
    server.disconnected.notified().await;
}

#[tokio::test]
async fn the_session_stream_is_reopened() {
    let mut gets = 0;
    let mut server = ScriptedServer::new(move |received| {
        if received.method != "GET" {
            return default_response(received);
        }
        gets += 1;
        let event =
            |n| format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{n}\"}}\n\n");
        match gets {
            1 => Response::stream(&format!("retry: 1\nid: e-1\n{}", event(1))),
            // The server no longer has that event.
            2 => Response::complete(400, "", ""),
            3 => Response::complete(503, "", ""),
            4 => Response::stream(&event(2)),
            _ => Response::complete(405, "", ""),
        }
    })
    .await;
    let mut client = TestSession::legacy(&server.url).await;
    for (last, why) in [
        (None, "CLI-LHTTP-05"),
        (Some("e-1"), "CLI-LHTTP-06"),
        (None, "after 400"),
        (None, "after 503"),
        (None, "after a stream without ids"),
    ] {
        let received = server.next_request_with("GET").await;
        assert_eq!(received.header("last-event-id"), last, "{why}");
    }
    for expected in ["notifications/1", "missed", "notifications/2"] {
        let incoming = match client.next_incoming().await {
            Incoming::Notification(method, params) if params == json!({}) => method,
            Incoming::Missed => "missed".to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(incoming, expected);
    }
}

#[tokio::test]
async fn a_session_stream_that_opens_late_is_a_gap() {
    let held = Arc::new(Mutex::new(Vec::new()));
    let opening = Arc::clone(&held);
    let server = ScriptedServer::new(move |received| {
        if received.method != "GET" {
            return default_response(received);
        }
        let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/1\"}\n\n";
        let (response, opened) = Response::stream(event).held();
        opening.lock().unwrap().push(opened);
        response
    })
    .await;
    let mut client = TestSession::legacy(&server.url).await;
    client.send(call(1)).await.unwrap();
    held.lock().unwrap().clear();
    let first = client.next_incoming().await;
    assert!(matches!(first, Incoming::Missed), "{first:?}");
    let second = client.next_incoming().await;
    let is_event = matches!(second, Incoming::Notification(..));
    assert!(is_event, "{second:?}");
}

#[tokio::test]
async fn a_session_stream_that_is_lost_for_good_is_a_gap() {
    // The responses to the requests for the stream, and the outcome of a later call.
    let stream = || Response::stream("retry: 1\n\n: x\n\n");
    let error = |status| Response::complete(status, "", "");
    for (statuses, is_gap, has_expired) in [
        (&[200, 404][..], true, true),
        (&[200, 503, 404], true, true),
        (&[200, 405], true, false),
        (&[200, 401, 403, 405], true, false),
        (&[401], false, false),
        // The server has no such stream.
        (&[404], false, false),
        (&[503, 404], false, false),
        (&[405], false, false),
    ] {
        let mut left = statuses.iter();
        let mut server = ScriptedServer::new(move |received| {
            if received.method != "GET" {
                return default_response(received);
            }
            match *left.next().unwrap() {
                200 => stream(),
                status => error(status),
            }
        })
        .await;
        let mut client = TestSession::legacy(&server.url).await;
        for _ in statuses {
            server.next_request_with("GET").await;
        }
        if is_gap {
            let incoming = client.next_incoming().await;
            assert!(matches!(incoming, Incoming::Missed), "{statuses:?}");
        }
        let called = client.send(call(1)).await;
        let expired = matches!(called, Err(ClientError::SessionExpired));
        assert_eq!(expired, has_expired, "CLI-LHTTP-08: {statuses:?}");
        assert!(client.has_no_incoming(), "{statuses:?}");
    }
}

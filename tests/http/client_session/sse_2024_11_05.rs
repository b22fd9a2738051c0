//! Servers that support only HTTP+SSE of 2024-11-05.

use std::future::IntoFuture as _;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use treenail::client::{ClientError, HttpClientBuilderExt as _, McpClientSession, SessionRequest};
use treenail::schema::Revision;

use super::listener::{Incoming, TestSession, initialize, legacy, tool};
use super::scripted_server::{Received, Response, ScriptedServer};

type Stream = Arc<Mutex<Option<UnboundedSender<String>>>>;

fn call(id: i64) -> SessionRequest {
    legacy(id, "tools/call", &tool("a", &json!({})))
}

fn event(message: &Value) -> String {
    format!("event: message\r\ndata: {message}\r\n\r\n")
}

/// Starts a server that answers POST with `status`, except at `endpoint`. Returns the server and its stream.
async fn http_sse_server(status: u16, endpoint: &'static str) -> (ScriptedServer, Stream) {
    let stream = Stream::default();
    let current = Arc::clone(&stream);
    let server = ScriptedServer::new(move |received| {
        let mut current = current.lock().unwrap();
        match (&*received.method, &*received.path) {
            ("GET", "/mcp") => {
                let first = format!(": x\r\n\r\nevent: endpoint\r\ndata: {endpoint}\r\n\r\n");
                let (response, more) = Response::open_stream(&first);
                *current = Some(more);
                response
            }
            ("POST", "/messages?id=7") => {
                if let Some(answer) = answer(received) {
                    current.as_ref().unwrap().send(answer).unwrap();
                }
                Response::complete(202, "content-type: text/plain", "Accepted")
            }
            _ => Response::complete(status, "content-type: text/plain", "no"),
        }
    });
    (server.await, stream)
}

fn answer(received: &Received) -> Option<String> {
    let id = received.body.get("id")?;
    let result = match received.rpc() {
        "initialize" => json!({
            "protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
            "serverInfo": {"name": "x", "version": "1"},
        }),
        "tools/list" => json!({"tools": []}),
        _ => return None,
    };
    Some(event(
        &json!({"jsonrpc": "2.0", "id": id, "result": result}),
    ))
}

#[tokio::test]
async fn messages_are_posted_to_the_endpoint() {
    for status in [400, 404, 405] {
        let (mut server, stream) = http_sse_server(status, "/messages?id=7").await;
        let mut client = TestSession::legacy(&server.url).await;
        let result = client
            .send(legacy(1, "tools/list", &json!({})))
            .await
            .unwrap();
        assert_eq!(result, json!({"tools": []}), "CLI-SSE-01");
        for (method, path, rpc) in [
            ("POST", "/mcp", "initialize"),
            ("GET", "/mcp", ""),
            ("POST", "/messages?id=7", "initialize"),
            ("POST", "/messages?id=7", "notifications/initialized"),
            ("POST", "/messages?id=7", "tools/list"),
        ] {
            let received = server.next_request().await;
            let got = (&*received.method, &*received.path, received.rpc());
            assert_eq!(
                got,
                (method, path, rpc),
                "CLI-ERA-11, CLI-SSE-01, CLI-SSE-02: {status}"
            );
        }

        let more = stream.lock().unwrap().clone().unwrap();
        let ask =
            json!({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {}});
        more.send(event(&ask)).unwrap();
        let incoming = client.next_incoming().await;
        let Incoming::Request(method, _, responder) = incoming else {
            panic!("{incoming:?}");
        };
        assert_eq!(method, "sampling/createMessage");
        responder.respond(Ok(r#"{"role":"user"}"#.to_owned()));
        let received = server.next_request().await;
        assert_eq!(received.path, "/messages?id=7", "CLI-SSE-01");
        assert_eq!(
            received.body,
            json!({"jsonrpc": "2.0", "id": "q", "result": {"role": "user"}})
        );

        let waiting = client.spawn(call(2));
        server.next_request_with("tools/call").await;
        waiting.abort();
        let received = server.next_request().await;
        assert_eq!(
            received.body["params"],
            json!({"requestId": 2}),
            "CLI-LHTTP-04"
        );
        assert_eq!(received.path, "/messages?id=7", "CLI-SSE-01");
    }
}

#[tokio::test]
async fn a_malformed_answer_fails_its_request_at_once() {
    let (mut server, stream) = http_sse_server(404, "/messages?id=7").await;
    let client = TestSession::legacy(&server.url).await;
    let more = stream.lock().unwrap().clone().unwrap();
    let long = "x".repeat(9 << 20);
    let answers = [
        r#"{"jsonrpc":"2.0","id":ID,"result":{"a":}}"#.to_owned(),
        r#"{"result":{"a":NaN},"jsonrpc":"2.0","id":ID}"#.to_owned(),
        format!(r#"{{"jsonrpc":"2.0","id":ID,"result":{{"a":"{long}"}}}}"#),
        format!(r#"{{"result":{{"a":"{long}"}},"jsonrpc":"2.0","id":ID}}"#),
    ];
    for (id, answer) in (1..).zip(answers) {
        let waiting = client.spawn(call(id));
        server.next_request_with("tools/call").await;
        let answer = answer.replacen("ID", &id.to_string(), 1);
        more.send(format!("data: {answer}\n\n")).unwrap();
        let error = waiting.await.unwrap().unwrap_err();
        let is_expected = match id {
            3 | 4 => matches!(error, ClientError::TooLong(_)),
            _ => matches!(error, ClientError::Protocol(_)),
        };
        assert!(is_expected, "{id}: {error}");
    }
}

#[tokio::test]
async fn the_end_of_the_stream_is_the_end_of_the_session() {
    let (mut server, stream) = http_sse_server(405, "/messages?id=7").await;
    let mut client = TestSession::legacy(&server.url).await;
    let waiting = client.spawn(call(1));
    server.next_request_with("tools/call").await;
    *stream.lock().unwrap() = None;
    let lost = waiting.await.unwrap();
    assert!(matches!(lost, Err(ClientError::Closed(_))), "{lost:?}");
    assert!(matches!(client.next_incoming().await, Incoming::Missed));
    let late = client.send(call(2)).await;
    assert!(matches!(late, Err(ClientError::SessionExpired)), "{late:?}");
    client.initialize().await.unwrap();
    client.initialized().await.unwrap();
    client
        .send(legacy(3, "tools/list", &json!({})))
        .await
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_ends_after_its_endpoint_has_lost_the_handshake() {
    let server = ScriptedServer::new(|received| match &*received.method {
        "GET" => Response::stream("event: endpoint\ndata: /messages\n\n"),
        _ if received.path == "/messages" => Response::accepted(),
        _ => Response::complete(405, "", ""),
    });
    let server = server.await;
    for _ in 0..50 {
        let client = TestSession::connect(&server.url);
        let lost = client.send(initialize()).await;
        assert!(matches!(lost, Err(ClientError::Closed(_))), "{lost:?}");
    }
}

#[tokio::test]
async fn a_client_connects_again_after_the_end_of_the_stream() {
    let (mut server, stream) = http_sse_server(405, "/messages?id=7").await;
    let builder = McpClientSession::builder().url(&*server.url);
    let builder = builder.protocol_version(Revision::V2024_11_05);
    let session = builder.build().await.unwrap();
    let waiting = tokio::spawn(session.tools_call("a", json!({})).into_future());
    server.next_request_with("tools/call").await;
    *stream.lock().unwrap() = None;
    let lost = waiting.await.unwrap();
    assert!(matches!(lost, Err(ClientError::Closed(_))), "{lost:?}");
    session.tools_list(None).await.expect("CLI-SSE-01");
    for (path, rpc) in [
        ("/mcp", "initialize"),
        ("/mcp", ""),
        ("/messages?id=7", "initialize"),
        ("/messages?id=7", "notifications/initialized"),
        ("/messages?id=7", "tools/list"),
    ] {
        let received = server.next_request().await;
        assert_eq!((&*received.path, received.rpc()), (path, rpc));
    }
}

#[tokio::test]
async fn an_endpoint_is_relative_to_the_target_of_a_redirect() {
    let mut streams = Vec::new();
    let server = ScriptedServer::new(move |received| match (&*received.method, &*received.path) {
        ("GET", "/mcp") => Response::complete(307, "location: /mcp/", ""),
        ("GET", _) => {
            let endpoint = "event: endpoint\ndata: messages?id=7\n\n";
            let (response, more) = Response::open_stream(endpoint);
            streams.push(more);
            response
        }
        _ => Response::complete(405, "", ""),
    });
    let mut server = server.await;
    let client = TestSession::connect(&server.url);
    client.send(initialize()).await.unwrap_err();
    for path in ["/mcp", "/mcp", "/mcp/", "/mcp/messages?id=7"] {
        assert_eq!(server.next_request().await.path, path, "CLI-SSE-01");
    }
}

#[tokio::test]
async fn an_endpoint_of_another_origin_is_rejected() {
    for endpoint in [
        "http://evil.example/messages?id=7",
        "//127.0.0.1:1/messages?id=7",
        "https://127.0.0.1/messages?id=7",
    ] {
        let (mut server, _stream) = http_sse_server(405, endpoint).await;
        let client = TestSession::connect(&server.url);
        let error = client.send(initialize()).await.unwrap_err();
        assert!(
            matches!(error, ClientError::Protocol(_)),
            "{endpoint}: {error:?}"
        );
        assert!(error.to_string().contains("another origin"), "{error}");
        server.next_request_with("GET").await;
        // The client closes the stream too.
        server.disconnected.notified().await;
    }
}

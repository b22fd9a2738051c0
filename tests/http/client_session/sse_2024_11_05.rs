//! Servers that support only HTTP+SSE of 2024-11-05.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use treenail::client::{ClientError, Session, SessionRequest};

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
    let answered = matches!(received.rpc(), "initialize" | "tools/list");
    answered.then(|| event(&json!({"jsonrpc": "2.0", "id": id, "result": {"of": received.rpc()}})))
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
        assert_eq!(result, json!({"of": "tools/list"}), "CLI-SSE-01");
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
    ];
    for (id, answer) in (1..).zip(answers) {
        let waiting = client.spawn(call(id));
        server.next_request_with("tools/call").await;
        let answer = answer.replacen("ID", &id.to_string(), 1);
        more.send(format!("data: {answer}\n\n")).unwrap();
        let error = waiting.await.unwrap().unwrap_err();
        let is_expected = match id {
            3 => matches!(error, ClientError::TooLong(_)),
            _ => matches!(error, ClientError::Protocol(_)),
        };
        assert!(is_expected, "{id}: {error}");
    }
}

#[tokio::test]
async fn the_end_of_the_stream_closes_the_session() {
    let (mut server, stream) = http_sse_server(405, "/messages?id=7").await;
    let mut client = TestSession::legacy(&server.url).await;
    let waiting = client.spawn(call(1));
    server.next_request_with("tools/call").await;
    *stream.lock().unwrap() = None;
    let lost = waiting.await.unwrap();
    assert!(matches!(lost, Err(ClientError::Closed(_))), "{lost:?}");
    assert!(matches!(client.next_incoming().await, Incoming::Closed));
    let late = client.send(call(2)).await;
    assert!(matches!(late, Err(ClientError::Closed(_))), "{late:?}");
    client.initialize().await.unwrap();
    client
        .send(legacy(3, "tools/list", &json!({})))
        .await
        .unwrap();
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

#[tokio::test]
async fn without_http_sse_the_error_is_that_of_the_post() {
    let answers: [fn() -> Response; 4] = [
        || Response::complete(405, "", ""),
        || Response::stream("data: {}\n\n"),
        || Response::complete(200, "content-type: application/json", "{}"),
        || Response::complete(200, "content-type: text/html", "x"),
    ];
    for answer in answers {
        let server = ScriptedServer::new(move |received| match &*received.method {
            "GET" => answer(),
            _ => Response::complete(404, "content-type: text/plain", "no such page"),
        })
        .await;
        let error = TestSession::connect(&server.url)
            .send(initialize())
            .await
            .unwrap_err();
        let shown = matches!(&error, ClientError::Http { status: 404, body, .. } if **body == *"no such page");
        assert!(shown, "{error:?}");
    }
}

#[tokio::test]
async fn a_stream_that_needs_other_credentials_is_the_error() {
    const CHALLENGE: &str = r#"www-authenticate: Bearer scope="a""#;
    let server = ScriptedServer::new(|received| match &*received.method {
        "GET" => Response::complete(401, CHALLENGE, ""),
        _ => Response::complete(405, "", ""),
    })
    .await;
    let refused = TestSession::connect(&server.url).send(initialize()).await;
    let Err(ClientError::Unauthorized(error)) = refused else {
        panic!("CLI-ERA-11: {refused:?}");
    };
    assert_eq!(error.status, 401);
    assert!(error.to_string().contains("401"), "{error}");
}

#[tokio::test]
async fn other_errors_do_not_suggest_http_sse() {
    let error = r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"no"}}"#;
    for (status, body) in [(400, error), (401, ""), (403, ""), (500, ""), (307, "")] {
        let mut server = ScriptedServer::new(move |_| Response::complete(status, "", body)).await;
        let client = TestSession::connect(&server.url);
        client.send(initialize()).await.unwrap_err();
        // The server receives no GET, only the next request.
        client.send(legacy(1, "x", &json!({}))).await.unwrap_err();
        assert_eq!(server.next_request().await.rpc(), "initialize");
        assert_eq!(
            server.next_request().await.rpc(),
            "x",
            "CLI-ERA-11: {status}"
        );
        client.session.close().await.unwrap();
    }
}

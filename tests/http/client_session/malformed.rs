//! Servers that violate the protocol or break the connection: only the affected request fails.

use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::coop::has_budget_remaining;
use treenail::McpClient;
use treenail::client::{ClientError, ClientLimits, HttpSession, Session};

use super::legacy::default_response;
use super::listener::{TestSession, legacy, modern, tool};
use super::scripted_server::{Response, ScriptedServer};

pub(super) const LIMITS: fn() -> ClientLimits = || ClientLimits::default().message_bytes(1_000);

/// Short form of the outcome of a request.
fn outcome(result: &Result<serde_json::Value, ClientError>) -> String {
    match result {
        Ok(_) => "a result".to_owned(),
        Err(ClientError::Refused(error)) => format!("refused {}", error.code),
        Err(ClientError::Http { status, body, .. }) => format!("http {status} {body}"),
        Err(ClientError::Unauthorized(error)) => {
            format!("unauthorized {} {}", error.status, error.body)
        }
        Err(ClientError::Unreachable(_)) => "unreachable".to_owned(),
        Err(ClientError::Closed(_)) => "closed".to_owned(),
        Err(ClientError::Protocol(_)) => "protocol".to_owned(),
        Err(ClientError::TooLong(_)) => "too long".to_owned(),
        Err(other) => format!("{other:?}"),
    }
}

/// Responses to a modern request, with the expected outcome.
fn cases() -> Vec<(&'static str, Response, &'static str)> {
    const JSON: &str = "content-type: application/json";
    const TEXT: &str = "content-type: text/plain";
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no"}}"#;
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{}"}}}}"#,
        "x".repeat(1_000)
    );
    let nested = format!("{{\"a\":{}{}}}", "[".repeat(200), "]".repeat(200));
    let deep = result.replace("{}", &nested);
    let event = |data: &str| Response::stream(&format!("data: {data}\n\n"));
    let notified = |data: &str| {
        let notification =
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":DATA}}"#;
        let notification = notification.replace("DATA", data);
        event(&format!("{notification}\n\ndata: {result}"))
    };
    let huge_head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(300_000));
    let many_heads = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(1_000));
    vec![
        ("a result", Response::complete(200, JSON, result), "a result"),
        ("a media type in another spelling", Response::complete(200, "Content-Type: Application/JSON; charset=utf-8", result), "a result"),
        ("a stream", event(result), "a result"),
        ("an answer with its id as a string", Response::complete(200, JSON, &result.replace(":1,", ":\"1\",")), "a result"),
        ("an answer with its id as a float", Response::complete(200, JSON, &result.replace(":1,", ":1.0,")), "a result"),
        ("an event with its id as a string", event(&result.replace(":1,", ":\"1\",")), "a result"),
        ("a stream with a byte order mark and comments", Response::stream(&format!("\u{feff}:x\r\r\nretry: 1\rdata: {result}\r\r")), "a result"),
        ("an error with a status", Response::complete(400, JSON, error), "refused -32022"),
        ("an error without its type", Response::complete(400, "", error), "refused -32022"),
        ("an error with status 200", Response::complete(200, JSON, &error.replace("null", "1")), "refused -32022"),
        ("an error without an id", Response::complete(200, JSON, error), "refused -32022"),
        ("400 without a body", Response::complete(400, "", ""), "http 400 "),
        ("404 with a page", Response::complete(404, TEXT, "no such page"), "http 404 no such page"),
        ("an error that is not JSON-RPC", Response::complete(401, JSON, r#"{"error":{"code":1,"message":"x"}}"#), r#"unauthorized 401 {"error":{"code":1,"message":"x"}}"#),
        ("401 with a JSON-RPC error", Response::complete(401, JSON, error), r#"unauthorized 401 {"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no"}}"#),
        ("CLI-HTTP-09: 413", Response::complete(413, "content-type: image/png", "x"), "http 413 "),
        ("503", Response::complete(503, TEXT, &"x".repeat(600)), "http 503 xxxxxxxx"),
        ("AMB-15: 503 with a JSON-RPC error", Response::complete(503, JSON, error), "http 503 no"),
        ("AMB-15: 429 with a JSON-RPC error", Response::complete(429, JSON, error), "http 429 no"),
        ("500 with a JSON-RPC error", Response::complete(500, JSON, error), "refused -32022"),
        ("a redirect", Response::complete(307, "location: http://evil.example/secret?token=x", ""), "http 307 a redirect to http://evil.example/secret, which is not followed"),
        ("a redirect that may change the method", Response::complete(302, "location: /else", ""), "http 302 a redirect to /else, which is not followed"),
        ("a redirect to the same host", Response::complete(308, "location: /else", ""), "a result"),
        ("invalid JSON", Response::complete(200, JSON, "{"), "protocol"),
        ("invalid UTF-8", Response::raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n\xff".as_slice()), "protocol"),
        ("an empty body", Response::complete(200, JSON, ""), "protocol"),
        ("an answer to another request", Response::complete(200, JSON, &result.replace(":1,", ":2,")), "protocol"),
        ("a result that is not an object", Response::complete(200, JSON, &result.replace("{}", "[]")), "protocol"),
        ("a malformed error", Response::complete(200, JSON, r#"{"jsonrpc":"2.0","id":1,"error":[]}"#), "protocol"),
        ("a batch", Response::complete(200, JSON, &format!("[{result}]")), "protocol"),
        ("too deeply nested", Response::complete(200, JSON, &deep), "protocol"),
        ("a too deeply nested event, whose id is not found", event(&deep.replace("\"id\":1", "\"id\" : 1")), "protocol"),
        ("an oversized body", Response::complete(200, JSON, &long), "too long"),
        ("an oversized body without a length", Response::raw(format!("HTTP/1.1 200 OK\r\n{JSON}\r\n\r\n{long}")), "too long"),
        ("an oversized event", event(&long), "too long"),
        ("an event without an end", Response::endless("data: ", [b'x'; 1_000]), "too long"),
        ("an event that is not a message", event("{"), "protocol"),
        ("a malformed notification", notified("NaN"), "a result"),
        ("a too deeply nested notification", notified(&nested), "a result"),
        ("an oversized notification", notified(&format!("\"{}\"", "x".repeat(1_000))), "a result"),
        ("an event of another kind", Response::stream(&format!("event: x\ndata: {{\n\ndata: {result}\n\n")), "a result"),
        ("a request of the server", Response::stream(&format!("data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\n\ndata: {result}\n\n")), "a result"),
        ("an HTML page", Response::complete(200, "content-type: text/html", result), "protocol"),
        ("no media type", Response::complete(200, "", result), "protocol"),
        ("202", Response::accepted(), "protocol"),
        ("a compressed body", Response::complete(200, &format!("{JSON}\r\ncontent-encoding: gzip"), result), "protocol"),
        ("a compressed error", Response::complete(503, &format!("{TEXT}\r\ncontent-encoding: gzip"), "\u{1f}"), "http 503 "),
        ("AUTH-C-01: a compressed refusal", Response::complete(401, &format!("{TEXT}\r\ncontent-encoding: gzip"), "\u{1f}"), "unauthorized 401 "),
        ("CLI-HTTP-07: a stream that ends", Response::stream(": x\n\n"), "closed"),
        ("half an event", Response::stream(&format!("id: 1\ndata: {result}\n")), "closed"),
        ("the answer to another request on a stream", event(&result.replace(":1,", ":2,")), "closed"),
        ("half a body", Response::raw(format!("HTTP/1.1 200 OK\r\n{JSON}\r\ncontent-length: 99\r\n\r\n{result}")), "closed"),
        ("not HTTP", Response::raw("SSH-2.0-x\r\n"), "closed"),
        ("an empty response", Response::raw(""), "closed"),
        ("a huge header", Response::raw(huge_head), "protocol"),
        ("many headers", Response::raw(many_heads), "protocol"),
    ]
}

#[tokio::test]
async fn malformed_responses_fail_only_their_request() {
    for (name, response, expected) in cases() {
        let mut first = Some(response);
        let server = ScriptedServer::new(move |received| match first.take() {
            Some(response) => response,
            None => Response::result(received, &json!({})),
        });
        let server = server.await;
        let mut client = TestSession::with_limits(&server.url, LIMITS());
        let call = modern(1, "tools/call", tool("a", &json!({})));
        let result = client.send(call).await;
        let got = outcome(&result);
        let same = got == expected || (expected.ends_with('x') && got.starts_with(expected));
        assert!(same, "{name}: {got}, {result:?}");
        assert!(
            !format!("{result:?}").contains("token"),
            "{name}: {result:?}"
        );
        let next = client.send(modern(2, "tools/list", json!({}))).await;
        assert_eq!(outcome(&next), "a result", "after {name}: {next:?}");
        assert!(client.has_no_incoming(), "{name}");
    }
}

#[tokio::test]
async fn a_malformed_or_oversized_request_of_a_legacy_server_is_answered_with_its_error() {
    let malformed = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":3}"#.to_owned();
    let oversized = malformed.replace('3', &format!(r#"{{"a":"{}"}}"#, "x".repeat(1_000)));
    let without_id = oversized.replace(r#""id":1,"#, "");
    let id_at_end = format!(r#"{},"id":1}}"#, without_id.strip_suffix('}').unwrap());
    for request in [malformed, oversized, id_at_end] {
        let mut server = ScriptedServer::new(move |received| match received.rpc() {
            // The ids of both directions are the same.
            "tools/list" => {
                let result = json!({"jsonrpc": "2.0", "id": received.body["id"], "result": {}});
                Response::stream(&format!("data: {request}\n\ndata: {result}\n\n"))
            }
            "" if received.method == "POST" => Response::accepted(),
            _ => default_response(received),
        })
        .await;
        let client = TestSession::with_limits(&server.url, LIMITS());
        client.initialize().await.unwrap();
        client.initialized().await.unwrap();
        let result = client.send(legacy(1, "tools/list", &json!({}))).await;
        assert_eq!(outcome(&result), "a result", "{result:?}");
        let refused = loop {
            let received = server.next_request().await;
            if received.body.get("error").is_some() {
                break received.body;
            }
        };
        assert_eq!(refused["id"], 1, "CLI-ERR-02: {refused}");
        assert_eq!(refused["error"]["code"], -32600, "CLI-ERR-02: {refused}");
    }
}

#[tokio::test]
async fn a_busy_server_is_not_taken_for_a_legacy_server() {
    const JSON: &str = "content-type: application/json";
    for status in [429, 503] {
        let body =
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32000,"message":"too many requests"}}"#;
        let server = ScriptedServer::new(move |_| Response::complete(status, JSON, body));
        let mut server = server.await;
        let session = HttpSession::builder(&*server.url).build().unwrap();
        let built = McpClient::builder().session(Arc::new(session)).build();
        let error = built.await.unwrap_err();
        let expected =
            matches!(error, ClientError::Http { status: actual, .. } if actual == status);
        assert!(expected, "AMB-15: {error:?}");
        assert!(error.to_string().contains("too many requests"), "{error}");
        assert_eq!(server.next_request().await.rpc(), "server/discover");
        assert!(server.has_no_request());
    }
}

#[tokio::test]
async fn an_endless_comment_takes_no_memory_and_can_be_abandoned() {
    let mut server = ScriptedServer::new(|_| Response::endless(": ", [b'x'; 10_000])).await;
    let client = TestSession::with_limits(&server.url, LIMITS());
    let call = client.spawn(modern(1, "tools/list", json!({})));
    server.next_request_with("tools/list").await;
    // The caller times out, and the server sees the disconnect.
    let result = tokio::time::timeout(Duration::from_millis(50), call);
    assert!(result.await.is_err(), "CLI-HTTP-06");
    client.session.close().await.unwrap();
    server.disconnected.notified().await;
}

/// The futures beside the request need the budget of the task, too.
#[tokio::test]
async fn a_flood_of_messages_does_not_keep_its_task_busy() {
    let server = ScriptedServer::new(|received| {
        let flood = "data:{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n\n".repeat(5_000);
        let result = json!({"jsonrpc": "2.0", "id": received.body["id"], "result": {}});
        Response::stream(&format!("{flood}data: {result}\n\n"))
    });
    let server = server.await;
    let mut client = TestSession::connect(&server.url);
    let session = Arc::clone(&client.session);
    let mut request = session.request(modern(1, "tools/list", json!({})));
    let (mut total, mut most) = (0, 0);
    let result = poll_fn(|context| {
        let polled = request.as_mut().poll(context);
        assert!(has_budget_remaining());
        let mut messages = 0;
        while !client.has_no_incoming() {
            messages += 1;
        }
        (total, most) = (total + messages, most.max(messages));
        polled
    });
    result.await.unwrap();
    assert_eq!(total, 5_000);
    assert!(most <= 128, "{most} messages in one poll");
}

#[tokio::test]
async fn a_refused_connection_is_an_error_without_secrets() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let url = format!("http://{address}/mcp?secret=1");
    drop(listener);
    for request in [modern(1, "a", json!({})), legacy(2, "a", &json!({}))] {
        let error = TestSession::connect(&url).send(request).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
        let expected = format!("no connection to the server at {address}: ");
        assert!(text.contains(&expected), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_rejected() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let answer = b"HTTP/1.1 400 X\r\ncontent-length: 0\r\n\r\n";
        socket.write_all(answer).await.unwrap();
        // The client must read the response before the connection ends.
        while socket.read_u8().await.is_ok() {}
    });
    let result = TestSession::connect(&url)
        .send(modern(1, "a", json!({})))
        .await;
    assert_eq!(outcome(&result), "unreachable", "{result:?}");
}

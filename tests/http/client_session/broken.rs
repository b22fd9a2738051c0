//! Servers that break the protocol, or the connection: the request concerned fails, and nothing else.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use treenail_runtime::client::{ClientError, ClientLimits, Session};

use super::ears::{Dialog, legacy, modern, tool};
use super::script::{Script, Told};

const LIMITS: fn() -> ClientLimits = || ClientLimits::default().message_bytes(1_000);

/// What a request comes to, in short.
fn outcome(result: &Result<serde_json::Value, ClientError>) -> String {
    match result {
        Ok(_) => "a result".to_owned(),
        Err(ClientError::Refused(error)) => format!("refused {}", error.code),
        Err(ClientError::Http { status, body }) => format!("http {status} {body}"),
        Err(ClientError::Closed(_)) => "closed".to_owned(),
        Err(ClientError::Protocol(_)) => "protocol".to_owned(),
        Err(other) => format!("{other:?}"),
    }
}

/// What is said to a request of the modern era, and what that comes to.
fn cases() -> Vec<(&'static str, Told, &'static str)> {
    const JSON: &str = "content-type: application/json";
    const TEXT: &str = "content-type: text/plain";
    let result = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no"}}"#;
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{}"}}}}"#,
        "x".repeat(1_000)
    );
    let event = |data: &str| Told::stream(&format!("data: {data}\n\n"));
    let huge_head = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "x".repeat(300_000));
    let many_heads = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(1_000));
    vec![
        ("a result", Told::response(200, JSON, result), "a result"),
        ("another spelling", Told::response(200, "Content-Type: Application/JSON; charset=utf-8", result), "a result"),
        ("a stream", event(result), "a result"),
        ("a stream with a mark and comments", Told::stream(&format!("\u{feff}:x\r\r\nretry: 1\rdata: {result}\r\r")), "a result"),
        ("an error with a status", Told::response(400, JSON, error), "refused -32022"),
        ("an error without its type", Told::response(400, "", error), "refused -32022"),
        ("an error of success", Told::response(200, JSON, &error.replace("null", "1")), "refused -32022"),
        ("400 without a body", Told::response(400, "", ""), "http 400 "),
        ("404 with a page", Told::response(404, TEXT, "no such page"), "http 404 no such page"),
        ("an error of somebody else", Told::response(401, JSON, r#"{"error":{"code":1,"message":"x"}}"#), r#"http 401 {"error":{"code":1,"message":"x"}}"#),
        ("401 with an error of the protocol", Told::response(401, JSON, error), r#"http 401 {"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no"}}"#),
        ("CLI-HTTP-09: 413", Told::response(413, "content-type: image/png", "x"), "http 413 "),
        ("503", Told::response(503, TEXT, &"x".repeat(600)), "http 503 xxxxxxxx"),
        ("a redirect", Told::response(307, "location: http://evil.example/secret?token=x", ""), "http 307 a redirect to evil.example, /secret, which is not followed"),
        ("a redirect that may change the method", Told::response(302, "location: /else", ""), "http 302 a redirect to the same host, /else, which is not followed"),
        ("a redirect to the same host", Told::response(308, "location: /else", ""), "a result"),
        ("no JSON", Told::response(200, JSON, "{"), "protocol"),
        ("no UTF-8", Told::raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1\r\n\r\n\xff".as_slice()), "protocol"),
        ("nothing", Told::response(200, JSON, ""), "protocol"),
        ("an answer to another request", Told::response(200, JSON, &result.replace(":1,", ":2,")), "protocol"),
        ("an answer to a text", Told::response(200, JSON, &result.replace(":1,", ":\"1\",")), "protocol"),
        ("a result that is no object", Told::response(200, JSON, &result.replace("{}", "[]")), "protocol"),
        ("an error that is none", Told::response(200, JSON, r#"{"jsonrpc":"2.0","id":1,"error":[]}"#), "protocol"),
        ("a batch", Told::response(200, JSON, &format!("[{result}]")), "protocol"),
        ("too deep", Told::response(200, JSON, &result.replace("{}", &("{\"a\":".repeat(200) + "1" + &"}".repeat(200)))), "protocol"),
        ("too long", Told::response(200, JSON, &long), "protocol"),
        ("too long, without a length", Told::raw(format!("HTTP/1.1 200 OK\r\n{JSON}\r\n\r\n{long}")), "protocol"),
        ("an event that is too long", event(&long), "protocol"),
        ("an event without an end", Told::endless("data: ", [b'x'; 1_000]), "protocol"),
        ("an event that is no message", event("{"), "protocol"),
        ("an event of another kind", Told::stream(&format!("event: x\ndata: {{\n\ndata: {result}\n\n")), "a result"),
        ("a request of the server", Told::stream(&format!("data: {{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}}\n\ndata: {result}\n\n")), "a result"),
        ("a page", Told::response(200, "content-type: text/html", result), "protocol"),
        ("no type", Told::response(200, "", result), "protocol"),
        ("202", Told::accepted(), "protocol"),
        ("a compressed body", Told::response(200, &format!("{JSON}\r\ncontent-encoding: gzip"), result), "protocol"),
        ("CLI-HTTP-07: a stream that ends", Told::stream(": x\n\n"), "closed"),
        ("half an event", Told::stream(&format!("id: 1\ndata: {result}\n")), "closed"),
        ("the answer to another request on a stream", event(&result.replace(":1,", ":2,")), "closed"),
        ("half a body", Told::raw(format!("HTTP/1.1 200 OK\r\n{JSON}\r\ncontent-length: 99\r\n\r\n{result}")), "closed"),
        ("no HTTP", Told::raw("SSH-2.0-x\r\n"), "closed"),
        ("nothing at all", Told::raw(""), "closed"),
        ("a huge header", Told::raw(huge_head), "closed"),
        ("many headers", Told::raw(many_heads), "closed"),
    ]
}

#[tokio::test]
async fn each_response_has_its_outcome() {
    for (name, told, expected) in cases() {
        let mut told = Some(told);
        let script = Script::new(move |asked| match told.take() {
            Some(told) => told,
            None => Told::result(asked, &json!({})),
        });
        let script = script.await;
        let mut dialog = Dialog::within(&script.url, LIMITS());
        let call = modern(1, "tools/call", tool("a", &json!({})));
        let result = dialog.send(call).await;
        let got = outcome(&result);
        let same = got == expected || (expected.ends_with('x') && got.starts_with(expected));
        assert!(same, "{name}: {got}, {result:?}");
        assert!(
            !format!("{result:?}").contains("token"),
            "{name}: {result:?}"
        );
        let next = dialog.send(modern(2, "tools/list", json!({}))).await;
        assert_eq!(outcome(&next), "a result", "after {name}: {next:?}");
        assert!(dialog.is_silent(), "{name}");
    }
}

#[tokio::test]
async fn a_comment_without_an_end_takes_no_memory_and_can_be_left() {
    let mut script = Script::new(|_| Told::endless(": ", [b'x'; 10_000])).await;
    let dialog = Dialog::within(&script.url, LIMITS());
    let call = dialog.begin(modern(1, "tools/list", json!({})));
    script.asked_to("tools/list").await;
    // It is the caller who has no more patience; the server sees that nobody reads.
    let patience = tokio::time::timeout(Duration::from_millis(50), call);
    assert!(patience.await.is_err(), "CLI-HTTP-06");
    dialog.session.close().await.unwrap();
    script.left.notified().await;
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_of() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp?secret=1", listener.local_addr().unwrap());
    drop(listener);
    for request in [modern(1, "a", json!({})), legacy(2, "a", &json!({}))] {
        let error = Dialog::with(&url).send(request).await.unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, ClientError::Closed(_)), "{error:?}");
        assert!(text.contains("no connection to the server"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn a_server_without_tls_is_not_trusted() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let answer = b"HTTP/1.1 400 X\r\ncontent-length: 0\r\n\r\n";
        socket.write_all(answer).await.unwrap();
        // The client is to read that before the connection ends.
        while socket.read_u8().await.is_ok() {}
    });
    let result = Dialog::with(&url).send(modern(1, "a", json!({}))).await;
    assert_eq!(outcome(&result), "closed", "{result:?}");
}

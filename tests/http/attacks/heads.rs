//! Headers that are too long, too many, too slow or invalid.

use std::fmt::Write as _;

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::process::Attacked;
use super::wire::{Good, ask, body, exchange, rest, statuses};
use crate::client::Post;
use crate::sockets::text;

fn add() -> Post {
    Post::tool("add", json!({"a": 2, "b": 3}))
}

#[tokio::test]
async fn headers_of_a_mebibyte_are_rejected_before_they_are_complete() {
    const MANY: usize = 32;
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let many = (0..1 << 16).fold(String::new(), |mut many, index| {
        write!(many, "x-{index}: {index}\r\n").unwrap();
        many
    });
    let long = "y".repeat(1 << 20);
    let heads = [
        format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\n{many}\r\n"),
        format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\nx: {long}\r\n\r\n"),
        format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\n{long}: x\r\n\r\n"),
        format!("POST /mcp?{long} HTTP/1.1\r\nhost: localhost\r\n\r\n"),
    ];
    for head in heads.iter().cycle().take(MANY) {
        let response = exchange(attacked.address, head).await;
        let statuses = statuses(&response);
        let is_rejected = matches!(&statuses[..], [431 | 414]);
        assert!(is_rejected, "SRV-HDR-14: {statuses:?} for {}", &head[..60]);
    }
    good.finish().await;
    memory.check(64 << 10, "the headers of one request");
}

#[tokio::test]
async fn slow_requests_time_out() {
    const MANY: usize = 64;
    let attacked = Attacked::start(&json!({"http.read_timeout": 1_500}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let whole = text(&add(), "/mcp");
    let mut slow = Vec::new();
    for index in 0..MANY {
        let mut socket = TcpStream::connect(attacked.address).await.unwrap();
        // Half of the headers, half of the body, or nothing at all.
        let (part, more, has_head) = match index % 3 {
            0 => ("POST /mcp HTTP/1.1\r\nhost: loc", b"a", false),
            1 => (&whole[..whole.len() - 9], b" ", true),
            _ => ("", b"P", false),
        };
        socket.write_all(part.as_bytes()).await.unwrap();
        slow.push((socket, more, has_head));
    }
    good.is_served().await;
    for (socket, more, has_head) in &mut slow {
        // Sending byte by byte does not extend the timeout.
        let _ = socket.write_all(*more).await;
        let statuses = statuses(&rest(socket).await);
        let timed_out = match has_head {
            true => matches!(&statuses[..], [408]),
            false => matches!(&statuses[..], [] | [408]),
        };
        assert!(timed_out, "{statuses:?}");
    }
    good.finish().await;
    memory.check(MANY * (64 << 10), "the headers of each connection");
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_rejected() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    let base64 = |text: &str| format!("=?base64?{text}?=");
    let cases = [
        (add().with("mcp-name", "MARK"), "SRV-HDR-02"),
        (add().with("mcp-method", "MARK/list"), "SRV-HDR-02"),
        (
            add().with("mcp-protocol-version", "2025-11-25"),
            "SRV-HDR-01",
        ),
        (add().and("mcp-name", "MARK"), "SRV-HDR-02"),
        (add().with("mcp-name", base64("MARK")), "SRV-HDR-04"),
        (add().with("mcp-name", base64("")), "SRV-HDR-04"),
        (add().with("mcp-name", base64("!!!!")), "SRV-HDR-04"),
        (add().with("mcp-name", base64("YWRk=")), "SRV-HDR-04"),
        (add().with("mcp-name", base64("YWR")), "SRV-HDR-04"),
        (add().with("mcp-name", base64("/////w==")), "SRV-HDR-04"),
        (
            add().with("mcp-name", base64(&"YWRk".repeat(15_000))),
            "SRV-HDR-04",
        ),
        (add().with("mcp-name", "=?base64?"), "SRV-HDR-04"),
        (add().with("mcp-name", "=?base64?YWRk"), "SRV-HDR-04"),
    ];
    for (post, requirement) in cases {
        let response = ask(attacked.address, &post).await;
        assert_eq!(statuses(&response), [400], "{requirement}: {response}");
        assert_eq!(
            body(&response)["error"]["code"],
            -32020,
            "{requirement}: {response}"
        );
        assert!(
            !response.contains("MARK"),
            "the input is not repeated: {response}"
        );
    }
    good.finish().await;
}

#[tokio::test]
async fn other_hosts_and_origins_are_rejected_in_every_form() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    let whole = text(&add(), "/mcp");
    let with = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        whole.replace(from, to)
    };
    let cases = [
        (with("host: localhost", "host: evil.example"), 403),
        (
            with(
                "host: localhost",
                "host: localhost\r\norigin: http://evil.example",
            ),
            403,
        ),
        (
            with("host: localhost", "host: localhost\r\norigin: null"),
            403,
        ),
        (with("host: localhost\r\n", ""), 400),
        (
            with("host: localhost", "host: localhost\r\nhost: localhost"),
            400,
        ),
        (with("host: localhost", "host:"), 403),
        // The request target contains a host too.
        (with("POST /mcp", "POST http://evil.example/mcp"), 403),
        (
            with("POST /mcp", "POST http://localhost@evil.example/mcp"),
            403,
        ),
        (with("POST /mcp", "POST http://localhost/mcp"), 200),
        (with("POST /mcp", "OPTIONS *"), 404),
        (with("POST /mcp", "POST *"), 404),
        (with("POST /mcp", "POST mcp"), 404),
        (with("POST /mcp", "POST //mcp"), 404),
        (with("POST /mcp", "POST /%6dcp"), 404),
        (with("POST /mcp", "POST /x/../mcp"), 404),
        (with("POST /mcp", "POST /mcp?x=y"), 200),
        (with("POST /mcp", "CONNECT evil.example:443"), 404),
        (with("POST /mcp", "BREW /mcp"), 405),
        (with("POST /mcp", "TRACE /mcp"), 405),
        (with("POST /mcp", "HEAD /mcp"), 405),
        (with("POST /mcp", "OPTIONS /mcp"), 405),
        (with("POST /mcp", "GET /mcp"), 405),
        (with("POST /mcp", "DELETE /mcp"), 405),
        (with("host:", "content-encoding: gzip\r\nhost:"), 415),
        (with("host:", "content-encoding: identity\r\nhost:"), 200),
        (with("application/json\r\n", "text/plain\r\n"), 415),
    ];
    for (request, status) in cases {
        let response = exchange(attacked.address, &request).await;
        let line = request.lines().next().unwrap();
        assert_eq!(
            statuses(&response),
            [status],
            "SRV-HTTP-02: {line}: {response}"
        );
        assert!(
            !response.contains("evil"),
            "the input is not repeated: {response}"
        );
    }
    good.finish().await;
}

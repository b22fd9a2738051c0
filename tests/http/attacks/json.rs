//! Bodies that are short to send and expensive to parse.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::process::Attacked;
use super::wire::{Good, ask, body, statuses};
use crate::client::Post;

const MESSAGE: usize = 4 << 20;

/// Returns a call of a tool with this text as its arguments.
fn with_arguments(tool: &str, arguments: &str) -> Post {
    let post = Post::tool(tool, json!("HERE"));
    let body = post.body.replace("\"HERE\"", arguments);
    Post { body, ..post }
}

/// Returns as many repetitions as fit into one message.
fn filled(piece: &str) -> String {
    piece.repeat((MESSAGE - 2_000) / piece.len())
}

/// Returns members with distinct names.
fn members() -> String {
    let mut members = String::new();
    for index in 0..200_000 {
        write!(members, "\"k{index}\":0,").unwrap();
    }
    members
}

/// Returns requests with the expected status and error code. The code 0 means a result with `isError`.
fn bombs() -> Vec<(&'static str, Post, u16, i64)> {
    let raw = |body: String| {
        let post = Post::tool("add", json!({}));
        Post { body, ..post }
    };
    let arguments = |text: String| with_arguments("add", &text);
    let list = format!("[{}0]", filled("0,"));
    vec![
        ("deep lists", raw("[".repeat(MESSAGE)), 400, -32600),
        ("deep objects", raw(filled("{\"a\":")), 400, -32600),
        ("deep arguments", arguments(filled("{\"a\":")), 400, -32600),
        (
            "a deep extra member",
            raw(format!("{{\"x\":{}", "[".repeat(1_000_000))),
            400,
            -32600,
        ),
        ("nothing", raw(String::new()), 400, -32700),
        ("white space", raw(" ".repeat(MESSAGE)), 400, -32700),
        (
            "half a message",
            raw("{\"jsonrpc\":\"2.0\",".to_owned()),
            400,
            -32700,
        ),
        (
            "a byte order mark",
            raw("\u{feff}{}".to_owned()),
            400,
            -32700,
        ),
        (
            "a control character",
            arguments("{\"a\":\"\0\"}".to_owned()),
            400,
            -32700,
        ),
        (
            "an id twice",
            raw("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}".to_owned()),
            400,
            -32600,
        ),
        ("a list of numbers", raw(list.clone()), 400, -32600),
        (
            "a long number",
            arguments(format!("{{\"a\":{}}}", filled("9"))),
            200,
            0,
        ),
        (
            "a huge number",
            arguments("{\"a\":1e999999999,\"b\":3}".to_owned()),
            200,
            0,
        ),
        (
            "a small number",
            arguments("{\"a\":1e-999999999,\"b\":3}".to_owned()),
            200,
            0,
        ),
        (
            "half a character",
            arguments("{\"a\":\"\\ud800\"}".to_owned()),
            200,
            0,
        ),
        (
            "an argument twice",
            arguments("{\"a\":1,\"a\":2,\"b\":3}".to_owned()),
            200,
            0,
        ),
        (
            "an argument often",
            arguments(format!("{{{}\"b\":3}}", filled("\"a\":1,"))),
            200,
            0,
        ),
        (
            "unknown arguments",
            arguments(format!("{{{}\"b\":3}}", members())),
            200,
            0,
        ),
        (
            "a long name",
            arguments(format!("{{\"{}\":1}}", filled("k"))),
            200,
            0,
        ),
        (
            "a long text",
            arguments(format!("{{\"a\":\"{}\"}}", filled("x"))),
            200,
            0,
        ),
        (
            "a long list",
            arguments(format!("{{\"a\":{list}}}")),
            200,
            0,
        ),
        (
            "lists in a list",
            arguments(format!("{{\"a\":[{}0]}}", filled("[],"))),
            200,
            0,
        ),
        (
            "many members",
            arguments(format!("{{\"a\":{{{}\"b\":3}}}}", members())),
            200,
            0,
        ),
    ]
}

#[tokio::test]
async fn json_bombs_cost_little_and_get_short_responses() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    for (name, post, status, code) in bombs() {
        let response = ask(attacked.address, &post).await;
        assert_eq!(statuses(&response), [status], "{name}: {response:.300}");
        let message = body(&response);
        if code == 0 {
            assert_eq!(
                message["result"]["isError"], true,
                "{name}: {response:.300}"
            );
        } else {
            assert_eq!(message["error"]["code"], code, "{name}: {response:.300}");
        }
        assert!(response.len() < 8_192, "{name}: {} bytes", response.len());
    }
    good.finish().await;
    memory.check(
        6 * MESSAGE,
        "one growing message buffer and the parsed values",
    );
}

#[tokio::test]
async fn invalid_utf8_is_rejected() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    for bytes in [
        &b"\xff"[..],
        b"\xed\xa0\x80",
        b"\xc0\x80",
        b"{\"a\":\"\xf8\"}",
    ] {
        let mut request = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
            content-type: application/json\r\ncontent-length: "
            .to_vec();
        request.extend_from_slice(format!("{}\r\n\r\n", bytes.len()).as_bytes());
        request.extend_from_slice(bytes);
        let response = super::wire::exchange(attacked.address, request).await;
        assert_eq!(statuses(&response), [400], "{response}");
        assert_eq!(body(&response)["error"]["code"], -32700);
    }
    good.finish().await;
}

#[tokio::test]
async fn many_values_take_the_memory_of_their_type() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let numbers = format!("{{\"numbers\":[{}0]}}", filled("1,"));
    let response = ask(attacked.address, &with_arguments("sum", &numbers)).await;
    assert_eq!(
        body(&response)["result"]["structuredContent"],
        (MESSAGE - 2_000) / 2
    );
    good.finish().await;
    // Two bytes of text become a number of eight bytes, in a list that doubles its capacity.
    memory.check(2 * MESSAGE + MESSAGE / 2 * 8 * 3, "the numbers");
    let memory = attacked.memory();
    let values = format!("{{\"value\":[{}0]}}", filled("[1],"));
    let response = ask(attacked.address, &with_arguments("any", &values)).await;
    assert_eq!(body(&response)["result"]["structuredContent"], true);
    memory.check(100 * MESSAGE, "the values");
}

#[tokio::test]
async fn repeated_and_stored_input_is_bounded() {
    let attacked = Attacked::start(&json!({}));
    let good = Good::start(attacked.address);
    good.is_served().await;
    let memory = attacked.memory();
    let token = "t".repeat(MESSAGE - 2_000);
    let babble = Post::tool("babble", json!({}))
        .change(|body| body["params"]["_meta"]["progressToken"] = token.into());
    let response = ask(attacked.address, &babble).await;
    assert_eq!(body(&response)["error"]["code"], -32602, "{response:.300}");
    let values = vec![0; 1_000_000];
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"experimental": {"x": {"y": values}}},
        "clientInfo": {"name": "test", "version": "1"},
    }});
    for _ in 0..4 {
        let response = ask(attacked.address, &Post::raw(initialize.to_string())).await;
        assert_eq!(body(&response)["error"]["code"], -32602, "{response:.300}");
        assert!(!response.contains("mcp-session-id"));
    }
    let wrong = |name: &str, value: Value| {
        Post::tool("add", json!({"a": 2, "b": 3}))
            .change(|body| body["params"]["_meta"][name] = value)
    };
    let long = "MARK".repeat(100_000);
    let cases = [
        wrong("io.modelcontextprotocol/clientCapabilities", json!(long)),
        wrong(
            "io.modelcontextprotocol/clientCapabilities",
            json!({"elicitation": long}),
        ),
        wrong(
            "io.modelcontextprotocol/clientInfo",
            json!({"name": [long]}),
        ),
        wrong("io.modelcontextprotocol/logLevel", json!(long)),
        wrong("io.modelcontextprotocol/protocolVersion", json!(long)),
        Post::modern(
            "subscriptions/listen",
            json!({"notifications": {"toolsListChanged": long}}),
        ),
        Post::modern("tools/list", json!({"cursor": long})),
        Post::tool("add", json!({"a": 2, "b": 3}))
            .change(|body| body["params"]["requestState"] = long.clone().into()),
        Post::tool("add", json!({"a": 2, "b": 3}))
            .change(|body| body["params"]["inputResponses"] = json!([long])),
        Post::tool(
            "add",
            json!({"a": {(long.clone()): {}}, (long.clone()): {}}),
        ),
    ];
    for post in cases {
        let response = ask(attacked.address, &post).await;
        let message = body(&response);
        let is_rejected = message["error"]["code"].is_i64() || message["result"]["isError"] == true;
        assert!(is_rejected, "{response:.1000}");
        assert!(
            response.len() < 4_096,
            "{} bytes: {response:.1000}",
            response.len()
        );
    }
    good.finish().await;
    memory.check(4 * MESSAGE, "one growing message buffer");
}

//! Headers: standard ones, and those that repeat arguments.

use serde_json::{Value, json};

use super::add;
use super::fixture::service;
use crate::client::Post;

#[tokio::test]
async fn the_standard_headers_are_required() {
    let service = service();
    let read = || Post::modern("resources/read", json!({"uri": "notes://7"}));
    let prompt = || {
        Post::modern(
            "prompts/get",
            json!({"name": "greet", "arguments": {"name": "Ada"}}),
        )
    };
    let cases = [
        (add().without("mcp-protocol-version"), "missing"),
        (add().without("mcp-method"), "missing"),
        (add().without("mcp-name"), "missing"),
        (read().without("mcp-name"), "missing"),
        (prompt().without("mcp-name"), "missing"),
        (add().with("mcp-method", "tools/list"), "unequal"),
        (
            add().with("mcp-method", "Tools/Call"),
            "ALL-HDR-01: values are compared exactly",
        ),
        (add().with("mcp-name", "subtract"), "unequal"),
        (add().with("mcp-name", "Add"), "unequal"),
        (add().with("mcp-name", ""), "empty"),
        (read().with("mcp-name", "notes://8"), "unequal"),
        (prompt().with("mcp-name", "greeting"), "unequal"),
        (add().and("mcp-name", "add"), "twice"),
        (add().and("mcp-method", "tools/call"), "twice"),
        (add().with("mcp-name", "ad\u{e9}"), "not ASCII"),
        (
            add().with("mcp-protocol-version", "2025-11-25"),
            "SRV-HDR-01: unequal",
        ),
        (
            add().with("mcp-protocol-version", "1999-01-01"),
            "SRV-HDR-01: unequal",
        ),
    ];
    for (post, description) in cases {
        post.expect_rejected(
            &service,
            400,
            -32020,
            &format!("SRV-HDR-02, SRV-HTTP-22: {description}"),
        )
        .await;
    }
    for fine in [read(), prompt(), add().with("mcp-name", " add\t")] {
        let response = fine.send(&service).await;
        assert_eq!(response.status, 200, "SRV-HDR-03: {response:?}");
    }
}

#[tokio::test]
async fn names_may_be_encoded_in_base64() {
    let service = service();
    let fine = [
        ("add", "=?base64?YWRk?="),
        ("gr\u{fc}n", "=?base64?Z3LDvG4=?="),
        ("=?BASE64?YWRk?=", "=?BASE64?YWRk?="),
        ("=?base64?YWRk", "=?base64?YWRk"),
        ("=?base64?YWRk?=", "=?base64?PT9iYXNlNjQ/WVdSaz89?="),
    ];
    for (name, header) in fine {
        let response = Post::tool(name, json!({"a": 2, "b": 3}))
            .with("mcp-name", header)
            .send(&service)
            .await;
        assert_eq!(response.status, 200, "SRV-HDR-04, ALL-HDR-02: {response:?}");
    }
    for wrong in [
        "=?base64?YWRk=?=",
        "=?base64?YW Rk?=",
        "=?base64?*?=",
        "=?base64?/w==?=",
        "=?base64?YWRx?=",
    ] {
        add()
            .with("mcp-name", wrong)
            .expect_rejected(&service, 400, -32020, "SRV-HDR-04")
            .await;
    }
}

#[tokio::test]
async fn arguments_are_compared_with_their_headers() {
    let service = service();
    let locate = |place: Value| Post::tool("locate", json!({"place": place}));
    let full = || {
        locate(json!({"region": "Nord\u{f8}st", "level": 42, "roofed": true}))
            .with("mcp-param-region", "=?base64?Tm9yZMO4c3Q=?=")
            .with("mcp-param-level", "42")
            .with("mcp-param-roofed", "true")
    };
    let least = || locate(json!({"region": "west"})).with("mcp-param-region", "west");
    let fine = [
        (full(), "SRV-HDR-04"),
        (full().with("mcp-param-level", "42.0"), "SRV-HDR-12"),
        (least(), "SRV-HDR-09: nothing for what is absent"),
        (
            least().change(|body| body["params"]["arguments"]["place"]["level"] = Value::Null),
            "SRV-HDR-09",
        ),
        (
            least().with("mcp-param-other", "\u{e9}"),
            "INT-HDR-01: unknown ones do not matter",
        ),
    ];
    for (post, description) in fine {
        let response = post.send(&service).await;
        assert_eq!(response.status, 200, "{description}: {response:?}");
        assert_eq!(response.json()["error"], Value::Null, "{description}");
    }
    let wrong = [
        (full().without("mcp-param-region"), "SRV-HDR-10: missing"),
        (full().without("mcp-param-level"), "SRV-HDR-10: missing"),
        (full().with("mcp-param-level", "43"), "SRV-HDR-10: unequal"),
        (
            full().with("mcp-param-roofed", "false"),
            "SRV-HDR-10: unequal",
        ),
        (
            full().with("mcp-param-region", "Nord\u{f8}st"),
            "SRV-HDR-11: not ASCII",
        ),
        (
            full().with("mcp-param-region", "=?base64?%?="),
            "SRV-HDR-04",
        ),
        (full().and("mcp-param-roofed", "true"), "SRV-HDR-10: twice"),
        (
            least().with("mcp-param-level", "1"),
            "SRV-HDR-10: of no argument",
        ),
        (
            locate(json!(["west", null, null])),
            "SRV-HDR-10: a struct given as an array of its fields",
        ),
    ];
    for (post, description) in wrong {
        post.expect_rejected(&service, 400, -32020, description)
            .await;
    }
}

#[tokio::test]
async fn a_tool_has_its_headers_under_each_of_its_names() {
    let service = service();
    for name in ["shelf.find", "shelf_find", "shelf__find"] {
        let post = Post::tool(name, json!({"region": "west"}));
        let request = post.clone().with("mcp-param-region", "west");
        let response = request.send(&service).await.json();
        let text = &response["result"]["content"][0]["text"];
        assert_eq!(text, "west", "{name}: {response}");
        post.expect_rejected(&service, 400, -32020, name).await;
    }
}

//! Outcomes of the modern era: the rows of annex C in its order, and event streams.

use serde_json::{Value, json};
use treenail::context::Principal;
use treenail::prelude::*;

use crate::client::{MODERN, Post, messages, next};
use crate::fixture::{builder, service};

fn add() -> Post {
    Post::tool("add", json!({"a": 2, "b": 3}))
}

#[tokio::test]
async fn the_response_to_a_call_is_json() {
    let response = add().send(&service()).await;
    assert_eq!(response.status, 200, "SRV-HTTP-01: {response:?}");
    assert_eq!(
        response.json()["result"]["structuredContent"],
        5,
        "SRV-HTTP-08"
    );
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let more = add()
        .with("mcp-session-id", "abc")
        .with("last-event-id", "7");
    let response = more.send(&service()).await;
    assert_eq!(
        response.status, 200,
        "SRV-ERA-11, ALL-HTTP-01: {response:?}"
    );
    assert_eq!(response.header("mcp-session-id"), None, "SRV-ERA-11");
}

#[tokio::test]
async fn bodies_that_are_not_json_are_rejected() {
    let service = service();
    let cases = [
        (add().with("content-type", "text/plain"), 415),
        (add().without("content-type"), 415),
        (add().with("accept", "application/json"), 406),
        (add().with("accept", "text/html"), 406),
        (add().method("PUT"), 405),
        (add().method("PATCH"), 405),
        (add().method("OPTIONS"), 405),
        (add().method("GET"), 405),
        (add().method("DELETE"), 405),
    ];
    for (post, status) in cases {
        let response = post.send(&service).await;
        assert_eq!(response.status, status, "{response:?}");
        let allowed = (status == 405).then_some("GET, POST, DELETE");
        assert_eq!(response.header("allow"), allowed, "RFC 9110, 15.5.6");
    }
    let fine = [
        add().with("content-type", "Application/JSON; charset=utf-8"),
        add().with("accept", "*/*"),
        add()
            .with("accept", "text/event-stream;q=0.5")
            .and("accept", "application/*"),
        add().without("accept"),
    ];
    for post in fine {
        assert_eq!(post.send(&service).await.status, 200);
    }
}

#[tokio::test]
async fn malformed_messages_are_rejected() {
    let service = service();
    let post = |body: &str| {
        let mut post = add();
        post.body = body.to_owned();
        post
    };
    let cases = [
        ("{", -32700),
        ("", -32700),
        ("\u{feff}{}", -32700),
        ("3", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"tools/list"}"#, -32600),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]"#,
            -32600,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, -32600),
    ];
    for (body, code) in cases {
        post(body)
            .expect_rejected(&service, 400, code, "AMB-13")
            .await;
    }
    let bomb = "[".repeat(1_000_000);
    post(&bomb)
        .expect_rejected(&service, 400, -32700, "a bomb")
        .await;
    let bomb = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}"#,
        r#"{"a":"#.repeat(100_000)
    );
    post(&bomb)
        .expect_rejected(&service, 400, -32700, "a bomb")
        .await;
}

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
async fn requests_must_identify_their_client() {
    let service = service();
    let version = "io.modelcontextprotocol/protocolVersion";
    let capabilities = "io.modelcontextprotocol/clientCapabilities";
    let without = |key: &'static str| {
        add().change(|body| {
            body["params"]["_meta"].as_object_mut().unwrap().remove(key);
        })
    };
    let cases = [
        without(version),
        without(capabilities),
        add().change(|body| {
            body["params"].as_object_mut().unwrap().remove("_meta");
        }),
        add().change(|body| body["params"]["_meta"] = json!(3)),
        add().change(|body| body["params"]["_meta"][capabilities] = json!([])),
        add().change(|body| body["params"]["_meta"][version] = json!(3)),
    ];
    for post in cases {
        post.expect_rejected(&service, 400, -32602, "SRV-HTTP-23, SRV-META-02")
            .await;
    }
    let unequal = without(capabilities).with("mcp-method", "tools/list");
    unequal
        .expect_rejected(&service, 400, -32602, "annex C: `_meta` precedes equality")
        .await;
    let absent = without(capabilities).without("mcp-method");
    absent
        .expect_rejected(&service, 400, -32020, "annex C: presence precedes `_meta`")
        .await;
}

#[tokio::test]
async fn unknown_revisions_are_rejected() {
    let service = service();
    for version in ["2027-01-01", "1999-01-01", "2025-11-25", "x"] {
        let post = add()
            .change(|body| {
                body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = version.into();
            })
            .with("mcp-protocol-version", version);
        let response = post.send(&service).await;
        assert_eq!(response.status, 400, "SRV-HTTP-21");
        let error = &response.json()["error"];
        assert_eq!(error["code"], -32022, "SRV-VER-01: {error}");
        assert_eq!(error["data"]["requested"], version, "SRV-ERR-02");
        assert_eq!(error["data"]["supported"][0], MODERN, "SRV-ERR-02");
    }
}

#[tokio::test]
async fn unknown_methods_are_not_found() {
    let service = service();
    let unknown = Post::modern("tools/fetch", json!({}));
    unknown
        .expect_rejected(&service, 404, -32601, "SRV-HTTP-20")
        .await;
    let handshake = Post::modern("initialize", json!({"protocolVersion": MODERN}));
    handshake
        .expect_rejected(&service, 404, -32601, "AMB-16")
        .await;
    let gone = Post::modern("logging/setLevel", json!({"level": "info"}));
    gone.expect_rejected(&service, 404, -32601, "SRV-HTTP-20")
        .await;
    let bare = treenail::http::http_service(treenail::server!().build().unwrap());
    let none = Post::modern("prompts/list", json!({}));
    none.expect_rejected(&bare, 404, -32601, "SRV-ERR-01").await;
}

#[tokio::test]
async fn a_missing_capability_is_reported_before_any_message() {
    let service = service();
    let response = Post::tool("ask", json!({})).send(&service).await;
    assert_eq!(
        response.status, 400,
        "SRV-HTTP-24, SRV-META-04: {response:?}"
    );
    assert_eq!(response.json()["error"]["code"], -32021, "SRV-HTTP-24");
    let able = json!({"elicitation": {}});
    let params = json!({"name": "ask", "arguments": {}});
    let response = Post::modern_as("tools/call", params, &able)
        .send(&service)
        .await;
    assert_eq!(response.status, 200, "{response:?}");
    assert_eq!(
        response.json()["result"]["resultType"],
        "input_required",
        "SRV-HTTP-13: a JSON response"
    );
}

#[tokio::test]
async fn capabilities_of_one_client_do_not_apply_to_another() {
    let service = service();
    let params = json!({"name": "ask", "arguments": {}});
    let (able, unable) = (json!({"elicitation": {}}), json!({}));
    // Twice the same client, then the other one: a cached peer is reused only for identical `_meta`.
    for capabilities in [&able, &able, &unable, &unable, &able, &unable] {
        let post = Post::modern_as("tools/call", params.clone(), capabilities);
        let response = post.send(&service.clone()).await;
        let status = if capabilities == &able { 200 } else { 400 };
        assert_eq!(response.status, status, "SRV-META-03: {response:?}");
    }
}

#[tokio::test]
async fn errors_of_functions_are_results() {
    let service = service();
    let unknown = Post::tool("subtract", json!({}));
    unknown
        .expect_rejected(&service, 200, -32602, "AMB-13")
        .await;
    let missing = Post::modern("resources/read", json!({"uri": "notes:none"}));
    missing
        .expect_rejected(&service, 200, -32602, "AMB-13")
        .await;
    let cursor = Post::modern("tools/list", json!({"cursor": "?"}));
    cursor
        .expect_rejected(&service, 200, -32602, "AMB-13")
        .await;
}

#[tokio::test]
async fn notifications_are_accepted() {
    let service = service();
    let notification = |method: &str| {
        Post::raw(json!({"jsonrpc": "2.0", "method": method}).to_string())
            .with("mcp-protocol-version", MODERN)
    };
    let response = notification("notifications/x").send(&service).await;
    assert_eq!(
        (response.status.as_u16(), &*response.body),
        (202, ""),
        "SRV-HTTP-06, AMB-07"
    );
    let wrong = notification("notifications/x").with("mcp-method", "notifications/y");
    wrong
        .expect_rejected(&service, 400, -32020, "SRV-HTTP-07")
        .await;
}

fn counting(to: u32) -> Post {
    Post::tool("count", json!({"to": to})).change(|body| {
        body["params"]["_meta"]["progressToken"] = "t".into();
    })
}

#[tokio::test]
async fn messages_before_the_result_make_the_response_a_stream() {
    let response = counting(3).send(&service()).await;
    assert_eq!(response.status, 200);
    assert_eq!(
        response.header("x-accel-buffering"),
        Some("no"),
        "SRV-HTTP-14"
    );
    let events = response.events();
    let progress: Vec<_> = events
        .iter()
        .map(|event| &event["params"]["progress"])
        .collect();
    assert_eq!(progress[..3], [1, 2, 3], "SRV-HTTP-09: {events:?}");
    assert_eq!(events.len(), 4, "SRV-HTTP-12: the result is the last event");
    assert_eq!(events[3]["id"], 1, "SRV-HTTP-12");
    assert!(
        !response.body.contains("id:"),
        "ALL-HTTP-01: events have no ids"
    );
    let quiet = Post::tool("count", json!({"to": 3})).send(&service()).await;
    assert_eq!(quiet.json()["result"]["content"][0]["text"], "counted");
    // More messages than the queue can hold.
    assert_eq!(counting(1_000).send(&service()).await.events().len(), 1_001);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_streams_until_the_server_closes() {
    let service = service();
    let filter = json!({"notifications": {"resourceSubscriptions": ["notes://7"]}});
    let response = Post::modern("subscriptions/listen", filter)
        .begin(&service)
        .await;
    assert_eq!(
        response.headers()["content-type"],
        "text/event-stream",
        "SRV-HTTP-08"
    );
    let mut body = response.into_body();
    let mut next_text = async || {
        let bytes = next(&mut body).await?;
        Some(String::from_utf8(bytes.to_vec()).unwrap())
    };
    let method = |text: &str| messages(text)[0]["method"].clone();
    let first = next_text().await.unwrap();
    assert_eq!(
        method(&first),
        "notifications/subscriptions/acknowledged",
        "SRV-SUB-02"
    );
    service.server().resource_updated("notes://7");
    let second = next_text().await.unwrap();
    assert_eq!(method(&second), "notifications/resources/updated");
    // The paused clock advances, because all tasks wait.
    assert_eq!(next_text().await.unwrap(), ":\n\n", "SRV-HTTP-15");
    assert_eq!(next_text().await.unwrap(), ":\n\n", "SRV-HTTP-15");
    service.server().close();
    let last = messages(&next_text().await.unwrap());
    assert_eq!(last.len(), 1, "AMB-01: the result alone");
    assert_eq!(last[0]["result"]["resultType"], "complete", "SRV-SUB-07");
    assert_eq!(next_text().await, None, "SRV-SUB-07");
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
    ];
    for (post, description) in wrong {
        post.expect_rejected(&service, 400, -32020, description)
            .await;
    }
}

#[tokio::test]
async fn functions_can_read_the_principal_of_a_layer() {
    let server = builder().build().unwrap();
    let service = treenail::http::http_service(server);
    let post = Post::tool("whoami", json!({})).with("user-agent", "probe");
    let response = post.clone().send(&service).await.json();
    assert_eq!(
        response["result"]["content"][0]["text"],
        r#"None Some("probe")"#
    );
    let response = post.send_as(&service, Principal::new("ada")).await.json();
    assert_eq!(
        response["result"]["content"][0]["text"],
        r#"Some("ada") Some("probe")"#
    );
}

#[derive(Clone)]
struct Tenant(u32);

#[mcp_tool]
async fn tenant(cx: &Context) -> Option<u32> {
    cx.extension::<Tenant>().map(|tenant| tenant.0)
}

#[tokio::test]
async fn functions_can_read_the_request_extensions_of_a_layer() {
    let server = treenail::server!().tools(tools![tenant]).build().unwrap();
    let service = treenail::http::http_service(server);
    let post = Post::tool("tenant", json!({}));
    let response = post.clone().send(&service).await.json();
    assert_eq!(response["result"]["structuredContent"], Value::Null);
    let response = post.send_as(&service, Tenant(7)).await.json();
    assert_eq!(response["result"]["structuredContent"], 7);
}

#[tokio::test]
async fn a_server_that_cannot_listen_names_the_address() {
    let taken = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = taken.local_addr().unwrap();
    let error = treenail::server!().serve_http(address).await.unwrap_err();
    assert!(matches!(error, treenail::Error::Io(_)));
    let debug = format!("{error:?}");
    let expected = format!("cannot listen at {address}: ");
    assert!(debug.starts_with(&expected), "{debug}");
    assert_eq!(debug.lines().count(), 1, "{debug}");
    let error = treenail::server!().serve_http("8080").await.unwrap_err();
    let debug = format!("{error:?}");
    assert!(
        debug.contains("it is written as 127.0.0.1:8080: "),
        "{debug}"
    );
}

struct Shelf;

#[mcp_tool(namespace = "shelf")]
impl Shelf {
    #[tool]
    fn find(#[arg(header = "Region")] region: String) -> String {
        region
    }
}

#[tokio::test]
async fn a_tool_has_its_headers_under_each_of_its_names() {
    let server = treenail::server!().mount(Shelf).build().unwrap();
    let service = treenail::http::http_service(server);
    for name in ["shelf.find", "shelf_find", "shelf__find"] {
        let post = Post::tool(name, json!({"region": "west"}));
        let request = post.clone().with("mcp-param-region", "west");
        let response = request.send(&service).await.json();
        let text = &response["result"]["content"][0]["text"];
        assert_eq!(text, "west", "{name}: {response}");
        post.expect_rejected(&service, 400, -32020, name).await;
    }
}

//! Modern era: stateless requests.

use serde_json::json;
use treenail::client::{ClientError, ClientLimits, Session, SessionNotification};
use treenail::schema::Revision;

use super::listener::{Incoming, TestSession, modern, serve, tool};
use super::scripted_server::{Response, ScriptedServer};
use crate::fixture::{Desk, builder, builder_of};

fn add(id: i64, a: i64) -> treenail::client::SessionRequest {
    modern(id, "tools/call", tool("add", &json!({"a": a, "b": 1})))
}

#[tokio::test]
async fn requests_get_their_results() {
    let (_server, url) = serve(builder()).await;
    let client = TestSession::connect(&url);
    let found = client
        .send(modern(1, "server/discover", json!({})))
        .await
        .unwrap();
    assert!(found["supportedVersions"].is_array(), "{found}");
    let result = client.send(add(2, 4)).await.unwrap();
    assert_eq!(result["structuredContent"], 5, "CLI-HTTP-05: JSON");
    let read = modern(3, "resources/read", json!({"uri": "notes://7"}));
    let result = client.send(read).await.unwrap();
    assert_eq!(result["contents"][0]["text"], "note 7", "CLI-HDR-03");
    let get = modern(
        4,
        "prompts/get",
        json!({"name": "greet", "arguments": {"name": "Ø"}}),
    );
    let result = client.send(get).await.unwrap();
    assert_eq!(
        result["messages"][0]["content"]["text"], "Greet Ø.",
        "CLI-HDR-03"
    );

    let place = json!({"place": {"region": " Ø", "level": -2, "roofed": true}});
    let mut request = modern(5, "tools/call", tool("locate", &place));
    let headers = [("Region", " Ø"), ("Level", "-2"), ("Roofed", "true")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    request.headers = headers.into();
    let result = client.send(request).await.unwrap();
    let text = &result["content"][0]["text"];
    assert_eq!(*text, " Ø Some(-2) Some(true)", "CLI-HDR-05, CLI-HDR-07");

    let mut ping = SessionNotification::new("notifications/x", "{}".to_owned());
    ping.revision = Some(Revision::LATEST);
    client.session.notify(ping).await.unwrap();
    client.session.close().await.unwrap();
    let late = client.send(add(6, 1)).await;
    assert!(matches!(late, Err(ClientError::Closed(_))), "{late:?}");
}

#[tokio::test]
async fn errors_of_the_server_are_returned() {
    let (_server, url) = serve(builder()).await;
    let client = TestSession::connect(&url);
    let mut other = modern(2, "tools/list", json!({}));
    other.params = other.params.replace("2026-07-28", "2099-01-01");
    let place = json!({"place": {"region": "north"}});
    let cases = [
        (modern(1, "no/such", json!({})), -32601, "404"),
        (other, -32020, "CLI-ERA-08: 400"),
        (
            modern(3, "tools/call", tool("locate", &place)),
            -32020,
            "CLI-HDR-13",
        ),
        (
            modern(4, "tools/call", tool("none", &json!({}))),
            -32602,
            "200",
        ),
    ];
    for (request, code, why) in cases {
        let error = client.send(request).await.unwrap_err();
        let refused = error.as_refused().map(|error| error.code);
        assert_eq!(refused, Some(code), "{why}: {error:?}");
    }
}

#[tokio::test]
async fn notifications_arrive_before_the_answer() {
    let (_server, url) = serve(builder()).await;
    let mut client = TestSession::connect(&url);
    let mut params = tool("count", &json!({"to": 3}));
    params["_meta"]["progressToken"] = 9.into();
    let result = client.send(modern(1, "tools/call", params)).await.unwrap();
    assert_eq!(
        result["content"][0]["text"], "counted",
        "CLI-HTTP-05: a stream"
    );
    for step in 1..=3 {
        let incoming = client.next_incoming().await;
        let Incoming::Notification(method, params) = incoming else {
            panic!("{incoming:?}");
        };
        assert_eq!(method, "notifications/progress");
        assert_eq!(params, json!({"progressToken": 9, "progress": step}));
    }
    assert!(client.has_no_incoming());
}

#[tokio::test]
async fn dropping_a_request_closes_its_stream() {
    for name in ["wait", "flood"] {
        let desk = Desk::default();
        let (_server, url) = serve(builder_of(&desk)).await;
        let client = TestSession::connect(&url);
        let mut params = tool(name, &json!({}));
        params["_meta"]["progressToken"] = 1.into();
        let call = client.spawn(modern(1, "tools/call", params));
        desk.begun.notified().await;
        call.abort();
        // SRV-HTTP-17: nothing else would end the call.
        desk.ended.notified().await;
        let result = client.send(add(2, 1)).await.unwrap();
        assert_eq!(
            result["structuredContent"], 2,
            "the session is still usable"
        );
    }
}

#[tokio::test]
async fn closing_fails_pending_requests() {
    let desk = Desk::default();
    let (_server, url) = serve(builder_of(&desk)).await;
    let mut client = TestSession::connect(&url);
    let call = client.spawn(modern(1, "tools/call", tool("wait", &json!({}))));
    desk.begun.notified().await;
    client.session.close().await.unwrap();
    client.session.close().await.unwrap();
    let outcome = call.await.unwrap();
    assert!(
        matches!(outcome, Err(ClientError::Closed(_))),
        "{outcome:?}"
    );
    desk.ended.notified().await;
    assert!(matches!(client.next_incoming().await, Incoming::Closed));
    drop(client.session.close().await);
    assert!(client.has_no_incoming(), "it is closed once");
}

#[tokio::test]
async fn many_requests_share_a_session() {
    let (_server, url) = serve(builder()).await;
    let limits = ClientLimits::default().requests_in_flight(3);
    let client = TestSession::with_limits(&url, limits);
    let calls: Vec<_> = (0..50).map(|a| (a, client.spawn(add(a, a)))).collect();
    for (a, call) in calls {
        let result = call.await.unwrap().unwrap();
        assert!(result.contains(&format!(r#""structuredContent":{}"#, a + 1)));
    }
}

#[tokio::test]
async fn requests_wait_for_a_permit() {
    let desk = Desk::default();
    let (_server, url) = serve(builder_of(&desk)).await;
    let limits = ClientLimits::default().requests_in_flight(1);
    let client = TestSession::with_limits(&url, limits);
    let first = client.spawn(modern(1, "tools/call", tool("wait", &json!({}))));
    desk.begun.notified().await;
    let second = client.spawn(add(2, 1));
    // If the second request had been sent, it would have an answer by now.
    let other = TestSession::connect(&url);
    other.send(add(3, 1)).await.unwrap();
    assert!(!second.is_finished());
    first.abort();
    assert!(second.await.unwrap().unwrap().contains(":2"));
}

#[tokio::test]
async fn requests_have_the_required_headers() {
    let mut server = ScriptedServer::new(|received| Response::result(received, &json!({}))).await;
    let url = server.url.clone();
    let builder = treenail::client::HttpSession::builder(format!("{url}?key=hidden"))
        .header("Authorization", "Bearer secret")
        .header("x-two", "1");
    assert!(!format!("{builder:?}").contains("secret"));
    let client = TestSession::from_builder(builder);
    let shown = format!("{:?}", client.session);
    assert!(
        !shown.contains("secret") && !shown.contains("hidden"),
        "{shown}"
    );
    let mut request = modern(1, "tools/call", tool("=?base64?x?=", &json!({"a": 1})));
    request.headers = vec![("Method".to_owned(), String::new())];
    client.send(request).await.unwrap();
    let received = server.next_request().await;
    assert_eq!(
        (&*received.method, &*received.path),
        ("POST", "/mcp?key=hidden"),
        "CLI-HTTP-01"
    );
    let expected = [
        (
            "accept",
            Some("application/json, text/event-stream"),
            "CLI-HTTP-02",
        ),
        ("content-type", Some("application/json"), "CLI-HTTP-01"),
        ("mcp-protocol-version", Some("2026-07-28"), "CLI-HDR-01"),
        ("mcp-method", Some("tools/call"), "CLI-HDR-02"),
        (
            "mcp-name",
            Some("=?base64?PT9iYXNlNjQ/eD89?="),
            "CLI-HDR-06",
        ),
        ("mcp-param-method", Some(""), "CLI-HDR-12"),
        ("mcp-session-id", None, "no sessions in the modern era"),
        ("last-event-id", None, "ALL-HTTP-01"),
        ("accept-encoding", None, "no compression is accepted"),
        ("authorization", Some("Bearer secret"), "the user's"),
        ("x-two", Some("1"), "the user's"),
    ];
    for (name, value, why) in expected {
        assert_eq!(received.header(name), value, "{why}: {name}");
    }
    assert_eq!(received.body["id"], 1, "CLI-HTTP-04");

    let mut notification = SessionNotification::new("notifications/x", "{}".to_owned());
    notification.revision = Some(Revision::LATEST);
    client.session.notify(notification).await.unwrap();
    let received = server.next_request().await;
    assert_eq!(
        received.header("mcp-method"),
        Some("notifications/x"),
        "AMB-07"
    );
    assert_eq!(
        received.header("mcp-protocol-version"),
        Some("2026-07-28"),
        "CLI-HDR-01"
    );
}

#[test]
fn invalid_urls_and_headers_are_rejected_by_the_builder() {
    let build = |url: &str, header: Option<(&str, &str)>| {
        let mut builder = treenail::client::HttpSession::builder(url);
        if let Some((name, value)) = header {
            builder = builder.header(name, value);
        }
        builder.build()
    };
    let urls = [
        "",
        "x",
        "/mcp",
        "ftp://a/",
        "http://",
        "http://me:pw@a/",
        "http://a b/",
    ];
    for url in urls {
        let error = build(url, None).unwrap_err();
        assert!(matches!(error, ClientError::Invalid(_)), "{url}: {error}");
        assert!(!error.to_string().contains("pw"), "{error}");
    }
    let headers = [
        ("a b", "x"),
        ("x", "secret\r\nb: c"),
        ("Mcp-Session-Id", "x"),
        ("mcp-param-x", "x"),
        ("Host", "x"),
        ("content-length", "3"),
    ];
    for (name, value) in headers {
        let error = build("http://127.0.0.1/", Some((name, value))).unwrap_err();
        assert!(matches!(error, ClientError::Invalid(_)), "{name}: {error}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    assert!(build("https://example.com/mcp#x", None).is_ok());
}

//! The modern era: requests that stand alone.

use serde_json::json;
use treenail::schema::Revision;
use treenail_runtime::client::{ClientError, ClientLimits, Session, SessionNotification};

use super::ears::{Dialog, Heard, modern, serve, tool};
use super::script::{Script, Told};
use crate::fixture::{Desk, builder, builder_of};

fn add(id: i64, a: i64) -> treenail_runtime::client::SessionRequest {
    modern(id, "tools/call", tool("add", &json!({"a": a, "b": 1})))
}

#[tokio::test]
async fn requests_get_their_results() {
    let (_server, url) = serve(builder()).await;
    let dialog = Dialog::with(&url);
    let found = dialog
        .send(modern(1, "server/discover", json!({})))
        .await
        .unwrap();
    assert!(found["supportedVersions"].is_array(), "{found}");
    let result = dialog.send(add(2, 4)).await.unwrap();
    assert_eq!(result["structuredContent"], 5, "CLI-HTTP-05: JSON");
    let read = modern(3, "resources/read", json!({"uri": "notes://7"}));
    let result = dialog.send(read).await.unwrap();
    assert_eq!(result["contents"][0]["text"], "note 7", "CLI-HDR-03");
    let get = modern(
        4,
        "prompts/get",
        json!({"name": "greet", "arguments": {"name": "Ø"}}),
    );
    let result = dialog.send(get).await.unwrap();
    assert_eq!(
        result["messages"][0]["content"]["text"], "Greet Ø.",
        "CLI-HDR-03"
    );

    let place = json!({"place": {"region": " Ø", "level": -2, "roofed": true}});
    let mut request = modern(5, "tools/call", tool("locate", &place));
    let headers = [("Region", " Ø"), ("Level", "-2"), ("Roofed", "true")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    request.headers = headers.into();
    let result = dialog.send(request).await.unwrap();
    let text = &result["content"][0]["text"];
    assert_eq!(*text, " Ø Some(-2) Some(true)", "CLI-HDR-05, CLI-HDR-07");

    let mut ping = SessionNotification::new("notifications/x", "{}".to_owned());
    ping.revision = Some(Revision::LATEST);
    dialog.session.notify(ping).await.unwrap();
    dialog.session.close().await.unwrap();
    let late = dialog.send(add(6, 1)).await;
    assert!(matches!(late, Err(ClientError::Closed(_))), "{late:?}");
}

#[tokio::test]
async fn refusals_come_with_the_words_of_the_server() {
    let (_server, url) = serve(builder()).await;
    let dialog = Dialog::with(&url);
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
        let error = dialog.send(request).await.unwrap_err();
        let refused = error.as_refused().map(|error| error.code);
        assert_eq!(refused, Some(code), "{why}: {error:?}");
    }
}

#[tokio::test]
async fn what_comes_before_the_answer_is_heard_before_it() {
    let (_server, url) = serve(builder()).await;
    let mut dialog = Dialog::with(&url);
    let mut params = tool("count", &json!({"to": 3}));
    params["_meta"]["progressToken"] = 9.into();
    let result = dialog.send(modern(1, "tools/call", params)).await.unwrap();
    assert_eq!(
        result["content"][0]["text"], "counted",
        "CLI-HTTP-05: a stream"
    );
    for step in 1..=3 {
        let heard = dialog.heard().await;
        let Heard::Notification(method, params) = heard else {
            panic!("{heard:?}");
        };
        assert_eq!(method, "notifications/progress");
        assert_eq!(params, json!({"progressToken": 9, "progress": step}));
    }
    assert!(dialog.is_silent());
}

#[tokio::test]
async fn dropping_a_request_closes_its_stream() {
    for name in ["wait", "flood"] {
        let desk = Desk::default();
        let (_server, url) = serve(builder_of(&desk)).await;
        let dialog = Dialog::with(&url);
        let mut params = tool(name, &json!({}));
        params["_meta"]["progressToken"] = 1.into();
        let call = dialog.begin(modern(1, "tools/call", params));
        desk.begun.notified().await;
        call.abort();
        // SRV-HTTP-17: there is nothing else that would end the call.
        desk.ended.notified().await;
        let result = dialog.send(add(2, 1)).await.unwrap();
        assert_eq!(result["structuredContent"], 2, "the session goes on");
    }
}

#[tokio::test]
async fn closing_fails_what_waits() {
    let desk = Desk::default();
    let (_server, url) = serve(builder_of(&desk)).await;
    let mut dialog = Dialog::with(&url);
    let call = dialog.begin(modern(1, "tools/call", tool("wait", &json!({}))));
    desk.begun.notified().await;
    dialog.session.close().await.unwrap();
    dialog.session.close().await.unwrap();
    let outcome = call.await.unwrap();
    assert!(
        matches!(outcome, Err(ClientError::Closed(_))),
        "{outcome:?}"
    );
    desk.ended.notified().await;
    assert!(matches!(dialog.heard().await, Heard::Closed));
    drop(dialog.session.close().await);
    assert!(dialog.is_silent(), "it is closed once");
}

#[tokio::test]
async fn many_requests_share_a_session() {
    let (_server, url) = serve(builder()).await;
    let limits = ClientLimits::default().requests_in_flight(3);
    let dialog = Dialog::within(&url, limits);
    let calls: Vec<_> = (0..50).map(|a| (a, dialog.begin(add(a, a)))).collect();
    for (a, call) in calls {
        let result = call.await.unwrap().unwrap();
        assert!(result.contains(&format!(r#""structuredContent":{}"#, a + 1)));
    }
}

#[tokio::test]
async fn more_requests_than_may_be_in_flight_wait() {
    let desk = Desk::default();
    let (_server, url) = serve(builder_of(&desk)).await;
    let limits = ClientLimits::default().requests_in_flight(1);
    let dialog = Dialog::within(&url, limits);
    let first = dialog.begin(modern(1, "tools/call", tool("wait", &json!({}))));
    desk.begun.notified().await;
    let second = dialog.begin(add(2, 1));
    // The second one would be answered by now if it had been sent.
    let other = Dialog::with(&url);
    other.send(add(3, 1)).await.unwrap();
    assert!(!second.is_finished());
    first.abort();
    assert!(second.await.unwrap().unwrap().contains(":2"));
}

#[tokio::test]
async fn requests_have_the_headers_that_they_should_have() {
    let mut script = Script::new(|asked| Told::result(asked, &json!({}))).await;
    let url = script.url.clone();
    let builder = treenail_runtime::client::HttpSession::builder(format!("{url}?key=hidden"))
        .header("Authorization", "Bearer secret")
        .header("x-two", "1");
    assert!(!format!("{builder:?}").contains("secret"));
    let dialog = Dialog::of(builder);
    let shown = format!("{:?}", dialog.session);
    assert!(
        !shown.contains("secret") && !shown.contains("hidden"),
        "{shown}"
    );
    let mut request = modern(1, "tools/call", tool("=?base64?x?=", &json!({"a": 1})));
    request.headers = vec![("Method".to_owned(), String::new())];
    dialog.send(request).await.unwrap();
    let asked = script.asked().await;
    assert_eq!(
        (&*asked.method, &*asked.path),
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
        ("mcp-session-id", None, "there are no sessions"),
        ("last-event-id", None, "ALL-HTTP-01"),
        ("accept-encoding", None, "nothing is to be compressed"),
        ("authorization", Some("Bearer secret"), "the user's"),
        ("x-two", Some("1"), "the user's"),
    ];
    for (name, value, why) in expected {
        assert_eq!(asked.header(name), value, "{why}: {name}");
    }
    assert_eq!(asked.body["id"], 1, "CLI-HTTP-04");

    let mut notification = SessionNotification::new("notifications/x", "{}".to_owned());
    notification.revision = Some(Revision::LATEST);
    dialog.session.notify(notification).await.unwrap();
    let asked = script.asked().await;
    assert_eq!(
        asked.header("mcp-method"),
        Some("notifications/x"),
        "AMB-07"
    );
    assert_eq!(
        asked.header("mcp-protocol-version"),
        Some("2026-07-28"),
        "CLI-HDR-01"
    );
}

#[test]
fn what_cannot_be_sent_is_refused_when_it_is_built() {
    let build = |url: &str, header: Option<(&str, &str)>| {
        let mut builder = treenail_runtime::client::HttpSession::builder(url);
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

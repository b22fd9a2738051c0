//! Redirects: those that keep the method and the origin are followed, with everything that was sent.

use serde_json::{Value, json};
use treenail_runtime::client::{ClientError, ClientLimits, HttpSession};

use super::ears::{Dialog, modern, tool};
use super::script::{Script, Told};

fn redirect(status: u16, location: &str) -> Told {
    Told::response(status, &format!("location: {location}"), "")
}

/// A session that shows a secret to its server.
fn dialog(script: &Script) -> Dialog {
    let builder = HttpSession::builder(&script.url).header("authorization", "Bearer s3cret");
    Dialog::of(builder)
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed() {
    for status in [307, 308] {
        let mut script = Script::new(move |asked| match asked.path.as_str() {
            "/mcp" => redirect(status, "/mcp/"),
            "/mcp/" => redirect(status, "there?a=b#part"),
            _ => Told::result(asked, &json!({})),
        })
        .await;
        let dialog = dialog(&script);
        let call = modern(1, "tools/call", tool("a", &json!({})));
        dialog.send(call).await.unwrap();
        let first = script.asked().await;
        let again = [script.asked().await, script.asked().await];
        assert_eq!(
            [&*again[0].path, &again[1].path],
            ["/mcp/", "/mcp/there?a=b"]
        );
        for asked in again {
            assert_eq!(asked.method, "POST");
            assert_eq!(asked.body, first.body);
            for header in ["authorization", "mcp-method", "content-type", "accept"] {
                assert!(asked.header(header).is_some(), "{header}");
                assert_eq!(asked.header(header), first.header(header), "{header}");
            }
        }
        // It is not remembered: where the next request leads is for the server to say.
        dialog
            .send(modern(2, "tools/list", json!({})))
            .await
            .unwrap();
        assert_eq!(script.asked().await.path, "/mcp");
    }
}

#[tokio::test]
async fn a_redirect_to_elsewhere_gets_nothing() {
    let elsewhere = Script::new(|asked| Told::result(asked, &json!({}))).await;
    let other_port = elsewhere.url.clone();
    let host = |url: &str| url.replace("127.0.0.1", "localhost");
    for location in [
        other_port.clone(),
        host(&other_port),
        other_port.replace("http", "https"),
        other_port.replace("http:", ""),
        "http://me@127.0.0.1/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "http://[".to_owned(),
        String::new(),
    ] {
        let target = location.clone();
        let script = Script::new(move |asked| match asked.path.as_str() {
            "/mcp" => redirect(307, &target),
            _ => Told::result(asked, &json!({})),
        });
        let dialog = dialog(&script.await);
        let error = dialog.send(modern(1, "tools/list", json!({}))).await;
        let status = match error {
            Err(ClientError::Http { status, .. }) => status,
            other => panic!("{location}: {other:?}"),
        };
        // An empty reference is the same URL, which leads there again and again.
        assert_eq!(status, 307, "{location}");
    }
    let mut elsewhere = elsewhere;
    let dialog = dialog(&elsewhere);
    let sent = dialog.send(modern(9, "tools/list", json!({}))).await;
    sent.unwrap();
    assert_eq!(elsewhere.asked().await.body["id"], 9, "nothing came before");
}

#[tokio::test]
async fn redirects_have_an_end() {
    for (most, sent) in [(None, 6), (Some(0), 1), (Some(1), 2)] {
        let mut limits = ClientLimits::default();
        limits.http.redirects = most.unwrap_or(limits.http.redirects);
        let mut count = 0;
        let mut script = Script::new(move |_| {
            count += 1;
            redirect(308, &format!("/{count}"))
        })
        .await;
        let dialog = Dialog::within(&script.url, limits);
        let error = dialog.send(modern(1, "tools/list", json!({}))).await;
        assert!(matches!(error, Err(ClientError::Http { status: 308, .. })));
        let mut last = String::new();
        for _ in 0..sent {
            last = script.asked().await.path;
        }
        let expected = if sent == 1 {
            "/mcp".to_owned()
        } else {
            format!("/{}", sent - 1)
        };
        assert_eq!(last, expected);
        assert!(script.is_idle(), "{most:?}");
    }
}

#[tokio::test]
async fn a_session_of_the_legacy_era_follows_redirects_too() {
    let mut script = Script::new(|asked| match (&*asked.path, &*asked.method, asked.rpc()) {
        ("/mcp", ..) => redirect(307, "/mcp/"),
        (_, "POST", "initialize") => {
            let result = json!({
                "protocolVersion": "2025-11-25", "capabilities": {},
                "serverInfo": {"name": "script", "version": "1"},
            });
            let body = json!({"jsonrpc": "2.0", "id": asked.body["id"], "result": result});
            let headers = "content-type: application/json\r\nmcp-session-id: s1";
            Told::response(200, headers, &body.to_string())
        }
        (_, "POST", "notifications/initialized") => Told::accepted(),
        (_, "GET", _) => Told::response(405, "", ""),
        (_, "DELETE", _) => Told::response(200, "", ""),
        _ => Told::result(asked, &Value::Object(serde_json::Map::new())),
    })
    .await;
    let dialog = Dialog::legacy(&script.url).await;
    treenail_runtime::client::Session::close(&*dialog.session)
        .await
        .unwrap();
    for method in ["initialize", "notifications/initialized", "GET", "DELETE"] {
        assert_eq!(script.asked_to(method).await.path, "/mcp");
        let again = script.asked_to(method).await;
        assert_eq!(again.path, "/mcp/", "{method}");
        let session = again.header("mcp-session-id");
        assert_eq!(session.is_some(), method != "initialize", "{method}");
    }
}

//! Redirects that preserve the method and the origin are followed, with all headers and the body.

use serde_json::{Value, json};
use treenail::client::{ClientError, ClientLimits, HttpSession};

use super::listener::{TestSession, modern, tool};
use super::scripted_server::{Response, ScriptedServer};

fn redirect(status: u16, location: &str) -> Response {
    Response::complete(status, &format!("location: {location}"), "")
}

/// Session with a secret in a header.
fn client(server: &ScriptedServer) -> TestSession {
    let builder = HttpSession::builder(&server.url).header("authorization", "Bearer s3cret");
    TestSession::from_builder(builder)
}

#[tokio::test]
async fn a_redirect_within_the_origin_is_followed() {
    for status in [307, 308] {
        let mut server = ScriptedServer::new(move |received| match received.path.as_str() {
            "/mcp" => redirect(status, "/mcp/"),
            "/mcp/" => redirect(status, "there?a=b#part"),
            _ => Response::result(received, &json!({})),
        })
        .await;
        let client = client(&server);
        let call = modern(1, "tools/call", tool("a", &json!({})));
        client.send(call).await.unwrap();
        let first = server.next_request().await;
        let again = [server.next_request().await, server.next_request().await];
        assert_eq!(
            [&*again[0].path, &again[1].path],
            ["/mcp/", "/mcp/there?a=b"]
        );
        for received in again {
            assert_eq!(received.method, "POST");
            assert_eq!(received.body, first.body);
            for header in ["authorization", "mcp-method", "content-type", "accept"] {
                assert!(received.header(header).is_some(), "{header}");
                assert_eq!(received.header(header), first.header(header), "{header}");
            }
        }
        // The redirect is not cached: the next request uses the original URL.
        client
            .send(modern(2, "tools/list", json!({})))
            .await
            .unwrap();
        assert_eq!(server.next_request().await.path, "/mcp");
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let elsewhere = ScriptedServer::new(|received| Response::result(received, &json!({}))).await;
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
        let server = ScriptedServer::new(move |received| match received.path.as_str() {
            "/mcp" => redirect(307, &target),
            _ => Response::result(received, &json!({})),
        });
        let client = client(&server.await);
        let error = client.send(modern(1, "tools/list", json!({}))).await;
        let status = match error {
            Err(ClientError::Http { status, .. }) => status,
            other => panic!("{location}: {other:?}"),
        };
        // An empty reference is the same URL, so it redirects until the limit.
        assert_eq!(status, 307, "{location}");
    }
    let mut elsewhere = elsewhere;
    let client = client(&elsewhere);
    let sent = client.send(modern(9, "tools/list", json!({}))).await;
    sent.unwrap();
    assert_eq!(
        elsewhere.next_request().await.body["id"],
        9,
        "no request was redirected there"
    );
}

#[tokio::test]
async fn the_number_of_redirects_is_bounded() {
    for (limit, sent) in [(None, 6), (Some(0), 1), (Some(1), 2)] {
        let mut limits = ClientLimits::default();
        limits.http.redirects = limit.unwrap_or(limits.http.redirects);
        let mut count = 0;
        let mut server = ScriptedServer::new(move |_| {
            count += 1;
            redirect(308, &format!("/{count}"))
        })
        .await;
        let client = TestSession::with_limits(&server.url, limits);
        let error = client.send(modern(1, "tools/list", json!({}))).await;
        assert!(matches!(error, Err(ClientError::Http { status: 308, .. })));
        let mut last = String::new();
        for _ in 0..sent {
            last = server.next_request().await.path;
        }
        let expected = if sent == 1 {
            "/mcp".to_owned()
        } else {
            format!("/{}", sent - 1)
        };
        assert_eq!(last, expected);
        assert!(server.has_no_request(), "{limit:?}");
    }
}

#[tokio::test]
async fn a_legacy_session_follows_redirects() {
    let mut server = ScriptedServer::new(|received| {
        match (&*received.path, &*received.method, received.rpc()) {
            ("/mcp", ..) => redirect(307, "/mcp/"),
            (_, "POST", "initialize") => {
                let result = json!({
                    "protocolVersion": "2025-11-25", "capabilities": {},
                    "serverInfo": {"name": "server", "version": "1"},
                });
                let body = json!({"jsonrpc": "2.0", "id": received.body["id"], "result": result});
                let headers = "content-type: application/json\r\nmcp-session-id: s1";
                Response::complete(200, headers, &body.to_string())
            }
            (_, "POST", "notifications/initialized") => Response::accepted(),
            (_, "GET", _) => Response::complete(405, "", ""),
            (_, "DELETE", _) => Response::complete(200, "", ""),
            _ => Response::result(received, &Value::Object(serde_json::Map::new())),
        }
    })
    .await;
    let client = TestSession::legacy(&server.url).await;
    treenail::client::Session::close(&*client.session)
        .await
        .unwrap();
    for method in ["initialize", "notifications/initialized", "GET", "DELETE"] {
        assert_eq!(server.next_request_with(method).await.path, "/mcp");
        let again = server.next_request_with(method).await;
        assert_eq!(again.path, "/mcp/", "{method}");
        let session = again.header("mcp-session-id");
        assert_eq!(session.is_some(), method != "initialize", "{method}");
    }
}

//! Requests that carry credentials.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::json;
use treenail::client::{ClientError, ClientLimits, HttpClientBuilderExt as _, McpClient, Session};

use super::super::listener::{initialize, legacy, modern};
use super::super::scripted_server::{Response, ScriptedServer};
use super::{Tokens, client, has_token};

#[tokio::test]
async fn all_requests_of_a_legacy_session_are_authorized() {
    let mut server = ScriptedServer::new(|received| {
        if !has_token(received, "t0") {
            return Response::complete(401, "", "");
        }
        match (&*received.method, received.rpc()) {
            ("GET", _) => Response::complete(405, "", ""),
            ("POST", "initialize") => {
                let result = json!({
                    "protocolVersion": "2025-11-25", "capabilities": {},
                    "serverInfo": {"name": "x", "version": "1"},
                });
                let body = json!({"jsonrpc": "2.0", "id": 0, "result": result}).to_string();
                let header = "content-type: application/json\r\nmcp-session-id: s";
                Response::complete(200, header, &body)
            }
            ("POST", "tools/list") => Response::result(received, &json!({"tools": []})),
            _ => Response::accepted(),
        }
    })
    .await;
    let tokens = Arc::<Tokens>::default();
    let session = client(&server, &tokens);
    session.send(initialize()).await.unwrap();
    session.initialized().await.unwrap();
    session
        .send(legacy(1, "tools/list", &json!({})))
        .await
        .unwrap();
    let cancelled = session.spawn(legacy(2, "slow", &json!({})));
    assert!(
        cancelled.await.unwrap().is_err(),
        "it was accepted without an answer"
    );
    session.session.close().await.unwrap();
    let mut kinds = Vec::new();
    while let Some(received) = server.try_next() {
        assert!(has_token(&received, "t0"), "AUTH-C-04: {received:?}");
        kinds.push(format!("{} {}", received.method, received.rpc()));
    }
    for kind in [
        "POST initialize",
        "POST notifications/initialized",
        "GET ",
        "POST tools/list",
        "DELETE ",
    ] {
        assert!(
            kinds.iter().any(|sent| sent == kind),
            "AUTH-C-04: {kind} in {kinds:?}"
        );
    }
    let revisions = tokens.log();
    assert!(
        revisions[0].contains("initialize") && revisions[0].ends_with("Some(V2025_11_25)"),
        "AUTH-C-34: {revisions:?}"
    );
}

#[tokio::test]
async fn credentials_follow_redirects_below_their_path_only() {
    let elsewhere = ScriptedServer::new(|received| Response::result(received, &json!({}))).await;
    let other = elsewhere.url.clone();
    for (target, is_followed) in [
        ("/mcp/", true),
        ("/mcp/v2", true),
        ("/other", false),
        ("/mcp/../other", false),
        (&*other, false),
    ] {
        let location = format!("location: {target}");
        let mut server = ScriptedServer::new(move |received| match &*received.path {
            "/mcp" => Response::complete(307, &location, ""),
            _ => Response::result(received, &json!({})),
        })
        .await;
        let session = client(&server, &Arc::default());
        let sent = session.send(modern(1, "tools/list", json!({})));
        assert_eq!(sent.await.is_ok(), is_followed, "AUTH-X-16: {target}");
        server.next_request().await;
        assert_eq!(server.has_no_request(), !is_followed, "AUTH-C-06: {target}");
    }
    let mut elsewhere = elsewhere;
    assert!(elsewhere.has_no_request(), "AUTH-X-16");
}

#[tokio::test]
async fn oauth_concerns_connections_over_http_only() {
    let server = treenail::Server::builder("x", "1").build().unwrap();
    let client = McpClient::builder()
        .server(&server)
        .authorization(Arc::<Tokens>::default());
    let error = client.build().await.unwrap_err();
    assert!(
        matches!(error, ClientError::Invalid(_)),
        "AUTH-C-02: {error:?}"
    );
}

#[tokio::test]
async fn clients_with_different_tokens_share_no_results() {
    let mut server = ScriptedServer::new(|received| {
        let mut result =
            json!({"resultType": "complete", "ttlMs": 60_000, "cacheScope": "private"});
        if received.rpc() == "server/discover" {
            result["supportedVersions"] = json!(["2026-07-28"]);
            result["capabilities"] = json!({"resources": {}});
        } else {
            let text = received.header("authorization");
            result["contents"] = json!([{"uri": "a://1", "text": text}]);
        }
        Response::result(received, &result)
    })
    .await;
    for token in ["t0", "t1"] {
        let tokens = Arc::new(Tokens::default());
        tokens
            .current
            .store(u32::from(token == "t1"), Ordering::SeqCst);
        let builder = McpClient::builder().url(&server.url).authorization(tokens);
        let client = builder.build().await.unwrap();
        for _ in 0..2 {
            let read = client.read_resource("a://1").await.unwrap();
            let text = &json!(*read)["contents"][0]["text"];
            assert_eq!(*text, format!("Bearer {token}"), "CLI-CACHE-08");
        }
    }
    let mut reads = 0;
    while let Some(received) = server.try_next() {
        reads += usize::from(received.rpc() == "resources/read");
    }
    assert_eq!(reads, 2, "CLI-CACHE-01: one for each client");
}

#[tokio::test]
async fn redirects_of_an_authorized_request_are_bounded() {
    let redirects = ClientLimits::default().http.redirects as usize;
    for refuses_first in [false, true] {
        let mut answers = 0;
        let mut server = ScriptedServer::new(move |received| {
            answers += 1;
            if answers > 10 * redirects {
                return Response::complete(404, "", "");
            }
            if refuses_first && received.path != "/mcp" && has_token(received, "t0") {
                return Response::complete(401, "", "");
            }
            Response::complete(307, "location: /mcp/x", "")
        })
        .await;
        let session = client(&server, &Arc::default());
        let sent = session.send(modern(1, "tools/list", json!({})));
        assert!(sent.await.is_err());
        let mut requests = 0;
        while server.try_next().is_some() {
            requests += 1;
        }
        let refused = if refuses_first { 2 } else { 0 };
        assert_eq!(requests, refused + redirects + 1, "AUTH-C-06");
    }
}

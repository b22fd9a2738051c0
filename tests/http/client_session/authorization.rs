//! Credentials that change while a session runs, and servers that require them.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::json;
use tokio::sync::Notify;
use treenail::client::{
    AuthorizationFuture, ClientError, HttpAttempt, HttpAuthorization, HttpClientBuilderExt as _,
    HttpSession, McpClient, McpClientSession, Refusal, Session, SessionNotification,
};
use treenail::schema::Revision;

use super::listener::{TestSession, initialize, legacy, modern, tool};
use super::scripted_server::{Received, Response, ScriptedServer};

/// Tokens `t0`, `t1`, … The next one is used after each refusal.
#[derive(Debug, Default)]
struct Tokens {
    current: AtomicU32,
    /// Refusals are the result after this many.
    last: Option<u32>,
    log: Mutex<Vec<String>>,
    /// Blocks [`HttpAuthorization::refused`] until it is notified.
    gate: Option<Notify>,
    waiting: AtomicBool,
}

impl Tokens {
    fn log(&self) -> Vec<String> {
        std::mem::take(&mut *self.log.lock().unwrap())
    }
}

impl HttpAuthorization for Tokens {
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        headers: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        let (method, path) = (request.http_method, request.url.path());
        let operation = request
            .operation
            .map_or_else(String::new, |(method, name)| {
                format!(" {method} {}", name.unwrap_or("-"))
            });
        let (previous, revision) = (request.previous, request.revision);
        let state = request.state.is_some();
        let line = format!("{method} {path}{operation} {previous} {state} {revision:?}");
        self.log.lock().unwrap().push(line);
        let token = format!("Bearer t{}", self.current.load(Ordering::SeqCst));
        headers.insert("authorization", HeaderValue::try_from(token).unwrap());
        Box::pin(async { Ok(()) })
    }

    fn refused<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        status: StatusCode,
        response: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal> {
        let challenge = response.get("www-authenticate");
        let challenge = challenge.map_or("", |value| value.to_str().unwrap());
        let peer = request.peer;
        let line = format!("refused {status} {challenge} by {peer:?}");
        self.log.lock().unwrap().push(line);
        request.state = Some(Box::new(7));
        Box::pin(async move {
            self.waiting.store(true, Ordering::SeqCst);
            if let Some(gate) = &self.gate {
                gate.notified().await;
            }
            let count = self.current.fetch_add(1, Ordering::SeqCst) + 1;
            Ok(match self.last {
                Some(last) if count > last => Refusal::Final,
                _ => Refusal::Retry,
            })
        })
    }
}

const CHALLENGE: &str = r#"www-authenticate: Bearer scope="a b", error="invalid_token""#;

fn has_token(received: &Received, token: &str) -> bool {
    received.header("authorization") == Some(&*format!("Bearer {token}"))
}

fn client(server: &ScriptedServer, tokens: &Arc<Tokens>) -> TestSession {
    let builder = HttpSession::builder(&server.url).authorization(Arc::clone(tokens));
    TestSession::from_builder(builder)
}

#[tokio::test]
async fn a_refused_request_is_sent_again_with_other_credentials() {
    for status in [401, 403] {
        let mut server = ScriptedServer::new(move |received| {
            if has_token(received, "t1") {
                Response::result(received, &json!({}))
            } else {
                Response::complete(status, CHALLENGE, "")
            }
        })
        .await;
        let tokens = Arc::<Tokens>::default();
        let call = modern(7, "tools/call", tool("add", &json!({})));
        client(&server, &tokens).send(call).await.unwrap();
        let [first, again] = [server.next_request().await, server.next_request().await];
        assert_eq!(first.body, again.body, "AUTH-C-11: same id, same bytes");
        assert_eq!(again.header("mcp-name"), Some("add"), "AUTH-C-11");
        assert!(server.has_no_request());
        let reason = if status == 401 {
            "Unauthorized"
        } else {
            "Forbidden"
        };
        let revision = format!("{:?}", Some(Revision::LATEST));
        let expected = [
            format!("POST /mcp tools/call add 0 false {revision}"),
            format!(
                "refused {status} {reason} {} by Some(127.0.0.1)",
                &CHALLENGE[18..]
            ),
            format!("POST /mcp tools/call add 1 true {revision}"),
        ];
        assert_eq!(tokens.log(), expected, "AUTH-C-04");
    }
}

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
async fn the_number_of_attempts_is_bounded() {
    let mut server = ScriptedServer::new(|_| {
        let headers = format!("{CHALLENGE}\r\ncontent-type: text/plain");
        Response::complete(401, &headers, "no")
    })
    .await;
    let tokens = Arc::<Tokens>::default();
    let error = client(&server, &tokens)
        .send(modern(1, "tools/list", json!({})))
        .await;
    let Err(ClientError::Unauthorized(error)) = error else {
        panic!("AUTH-C-01: {error:?}");
    };
    let bearer = error.challenges.with_scheme("Bearer").next().unwrap();
    assert_eq!(bearer.parameter("scope"), Some("a b"), "AUTH-C-01");
    assert_eq!((error.status, &*error.body), (401, "no"), "AUTH-C-01");
    let sent = std::iter::from_fn(|| server.try_next()).count();
    assert_eq!(sent, 9, "AUTH-C-12");
}

#[tokio::test]
async fn without_credentials_a_refusal_is_an_error_with_its_challenge() {
    for (status, body, is_typed) in [
        (401, "", true),
        (
            401,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#,
            true,
        ),
        (
            403,
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"x"}}"#,
            true,
        ),
        (400, "", false),
        (503, "", false),
    ] {
        let mut server =
            ScriptedServer::new(move |_| Response::complete(status, CHALLENGE, body)).await;
        let client = TestSession::connect(&server.url);
        let error = client
            .send(modern(1, "tools/list", json!({})))
            .await
            .unwrap_err();
        match &error {
            ClientError::Unauthorized(error) => {
                assert!(is_typed, "AUTH-C-09: {status}");
                assert_eq!(error.challenges.iter().count(), 1, "AUTH-C-01");
            }
            other => assert!(!is_typed, "AUTH-C-01: {status} {other:?}"),
        }
        server.next_request().await;
        assert!(server.has_no_request(), "AUTH-C-01: nothing is fetched");
        assert!(!error.to_string().contains('\n'));
    }
}

#[tokio::test]
async fn the_timeout_does_not_run_while_credentials_are_obtained() {
    let server = ScriptedServer::new(|received| match has_token(received, "t1") {
        true if received.rpc() == "server/discover" => discovered(received),
        true => Response::raw(""),
        false => Response::complete(401, "", ""),
    })
    .await;
    let tokens = Arc::new(Tokens {
        gate: Some(Notify::new()),
        ..Tokens::default()
    });
    let connecting = McpClientSession::builder()
        .oauth(Arc::clone(&tokens))
        .url(&server.url)
        .build();
    let connecting = tokio::spawn(connecting);
    while !tokens.waiting.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(3600)).await;
    tokio::time::resume();
    tokio::task::yield_now().await;
    assert!(!connecting.is_finished(), "AUTH-C-11");
    tokens.gate.as_ref().unwrap().notify_one();
    connecting.await.unwrap().unwrap();
}

fn discovered(received: &Received) -> Response {
    let result = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {},
        "serverInfo": {"name": "x", "version": "1"}, "ttlMs": 0, "cacheScope": "private",
    });
    Response::result(received, &result)
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
async fn a_notification_is_authorized_and_sent_again() {
    let mut server = ScriptedServer::new(|received| {
        if has_token(received, "t1") {
            Response::accepted()
        } else {
            Response::complete(401, "", "")
        }
    })
    .await;
    let session = client(&server, &Arc::default());
    let mut notification = SessionNotification::new("notifications/x", "{}".to_owned());
    notification.revision = Some(Revision::LATEST);
    session.session.notify(notification).await.unwrap();
    let [first, again] = [server.next_request().await, server.next_request().await];
    assert_eq!(first.body, again.body, "AUTH-C-04");
}

#[tokio::test]
async fn oauth_concerns_connections_over_http_only() {
    let server = treenail::Server::builder("x", "1").build().unwrap();
    let client = McpClient::builder()
        .server(&server)
        .oauth(Arc::<Tokens>::default());
    let error = client.build().await.unwrap_err();
    assert!(
        matches!(error, ClientError::Invalid(_)),
        "AUTH-C-02: {error:?}"
    );
}

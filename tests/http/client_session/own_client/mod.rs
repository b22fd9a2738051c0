//! Sessions through an HTTP client of the user, without sockets.

mod bounds;
mod errors;

use std::sync::Arc;

use axum::Router;
use http::Response;
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::Duration;
use tower::{ServiceBuilder, ServiceExt as _, service_fn};
use treenail::client::{
    ClientError, ClientLimits, HttpClient, HttpClientBody, HttpClientBuilderExt as _, HttpSession,
};
use treenail::http::http_service;
use treenail::prelude::*;
use treenail::schema::{ElicitAction, ElicitResult, Revision};

use super::listener::{Incoming, TestSession, legacy, modern, tool};
use crate::fixture::{Desk, OnDrop, builder, builder_of};

const URL: &str = "http://localhost/mcp";

/// Request that an own client gets.
type Request = http::Request<HttpClientBody>;

/// A server behind a router, which is the client.
fn router(desk: &Desk) -> Router {
    let service = http_service(builder_of(desk).build().unwrap());
    Router::new().route_service("/mcp", service)
}

fn session(client: impl HttpClient) -> TestSession {
    TestSession::from_builder(HttpSession::builder(URL).http_client(client))
}

#[tokio::test]
async fn a_router_in_the_same_process_serves_all_revisions() {
    for revision in [
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        let http = HttpSession::builder(URL).http_client(router(&Desk::default()));
        let client = McpClient::builder()
            .http(http)
            .protocol_version(revision)
            .on_elicit(|_| async { Ok(ElicitResult::new(ElicitAction::Accept)) })
            .build()
            .await
            .unwrap();
        assert_eq!(client.session().protocol_version(), revision);
        let sum: i64 = client
            .call_tool_as("add", json!({"a": 2, "b": 3}))
            .await
            .unwrap();
        assert_eq!(sum, 5, "{revision}");
        if revision >= Revision::V2025_06_18 {
            let sure: String = client.call_tool_as("ask", json!({})).await.unwrap();
            assert_eq!(sure, "sure", "{revision}: the server asks the client");
        }
        client.close().await.unwrap();
    }
}

#[tokio::test]
async fn a_service_of_a_server_is_a_client() {
    let service = http_service(builder().build().unwrap());
    let http = HttpSession::builder(URL).http_client(service);
    let client = McpClient::builder().http(http).build().await.unwrap();
    assert_eq!(client.session().protocol_version(), Revision::LATEST);
    assert_eq!(client.tools().await.unwrap()[0].name, "add");
}

#[tokio::test]
async fn a_client_gets_complete_requests() {
    let client = service_fn(|request: Request| async move {
        let bytes = request.body().as_bytes().unwrap().clone();
        let headers = request.headers();
        assert_eq!(request.uri(), URL);
        assert_eq!(headers["authorization"], "Bearer s3cret");
        assert!(headers["authorization"].is_sensitive());
        assert_eq!(headers["mcp-method"], "tools/list");
        let message: Value = serde_json::from_slice(&bytes)?;
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": []}});
        let response = Response::builder().header("content-type", "application/json");
        response
            .body(answer.to_string())
            .map_err(Box::<dyn std::error::Error + Send + Sync>::from)
    });
    let builder = HttpSession::builder(URL).header("authorization", "Bearer s3cret");
    let client = TestSession::from_builder(builder.http_client(client));
    let list = modern(1, "tools/list", json!({}));
    assert_eq!(client.send(list).await.unwrap()["tools"], json!([]));
}

/// Reports progress, and returns when the test has seen that.
#[derive(Clone, Default)]
struct Slow(Arc<Notify>);

#[mcp_tool]
impl Slow {
    #[tool]
    async fn work(&self, cx: &Context) {
        cx.progress(1).await;
        self.0.notified().await;
    }
}

#[tokio::test]
async fn messages_of_a_stream_arrive_as_they_are_produced() {
    let slow = Slow::default();
    let server = Server::builder("slow", "1").mount(slow.clone()).build();
    let mut params = tool("work", &json!({}));
    params["_meta"]["progressToken"] = 1.into();
    let service = http_service(server.unwrap());
    let mut session = session(service);
    session.initialize().await.unwrap();
    session.initialized().await.unwrap();
    for request in [
        legacy(1, "tools/call", &params),
        modern(2, "tools/call", params),
    ] {
        let call = session.spawn(request);
        let incoming = session.next_incoming().await;
        assert!(
            matches!(incoming, Incoming::Notification(..)),
            "{incoming:?}"
        );
        assert!(!call.is_finished());
        slow.0.notify_one();
        call.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn dropping_a_call_drops_the_future_or_the_body_of_the_client() {
    for name in ["wait", "flood"] {
        let desk = Desk::default();
        let session = session(router(&desk));
        let mut params = tool(name, &json!({}));
        params["_meta"]["progressToken"] = 1.into();
        let call = session.spawn(modern(1, "tools/call", params));
        desk.begun.notified().await;
        call.abort();
        desk.ended.notified().await; // SRV-HTTP-17
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_answer_is_bounded_by_the_timeout_of_the_call() {
    let dropped = Arc::<Notify>::default();
    let (router, notify) = (router(&Desk::default()), Arc::clone(&dropped));
    let client = service_fn(move |request: Request| {
        let method = request.headers().get("mcp-method");
        let call = method.is_some_and(|method| method == "tools/call");
        let call = call.then(|| OnDrop(Arc::clone(&notify)));
        let router = router.clone();
        async move {
            if let Some(_call) = call {
                std::future::pending::<()>().await;
            }
            router.oneshot(request).await
        }
    });
    let limit = Duration::from_secs(20);
    let client = McpClient::builder()
        .http(HttpSession::builder(URL).http_client(client))
        .limits(ClientLimits::default().request_timeout(limit))
        .build()
        .await
        .unwrap();
    let error = client.call_tool("add", json!({"a": 2, "b": 3})).await;
    let error = error.unwrap_err();
    assert!(
        matches!(error, ClientError::Timeout(after) if after == limit),
        "{error:?}"
    );
    dropped.notified().await;
}

#[tokio::test]
async fn requests_wait_until_the_service_is_ready() {
    let stack = ServiceBuilder::new().concurrency_limit(1);
    let session = session(stack.service(router(&Desk::default())));
    let calls = (1..=3).map(|id| session.spawn(modern(id, "tools/list", json!({}))));
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn settings_of_connections_are_those_of_the_client() {
    let refused = |builder: treenail::client::HttpSessionBuilder| {
        let client = http_service(Server::builder("none", "1").build().unwrap());
        match builder.http_client(client).build() {
            Err(ClientError::Invalid(reason)) => reason.to_string(),
            other => panic!("{other:?}"),
        }
    };
    let tls = treenail::client::TlsConfig::new();
    let builder = HttpSession::builder("https://mcp.example/mcp");
    assert_eq!(
        refused(builder.tls(tls)),
        "`tls` cannot be combined with `http_client`, which opens its connections itself: configure it there"
    );
    #[cfg(unix)]
    {
        let builder = HttpSession::builder(URL).unix_socket("/run/mcp.sock");
        let reason = refused(builder);
        assert!(reason.starts_with("`unix_socket` cannot"), "{reason}");
    }
    assert!(refused(HttpSession::builder("ftp://a/")).contains("https://"));
}

//! Credentials that are not available for a short time.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use http::{HeaderMap, Method, StatusCode};
use treenail::client::{
    AuthorizationFuture, ClientError, HttpAttempt, HttpAuthorization, HttpSession, Refusal,
};

use super::super::legacy::{add, default_response};
use super::super::listener::TestSession;
use super::super::scripted_server::{Response, ScriptedServer};

/// Fails for one request of a stream after a first one has succeeded.
#[derive(Debug, Default)]
struct Outage {
    begun: AtomicBool,
    ended: AtomicBool,
}

impl HttpAuthorization for Outage {
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        _: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        let is_stream = request.http_method == Method::GET;
        let fails = is_stream
            && self.begun.swap(true, Ordering::SeqCst)
            && !self.ended.swap(true, Ordering::SeqCst);
        Box::pin(async move {
            if fails {
                return Err(ClientError::authorization(io::Error::other("an outage")));
            }
            Ok(())
        })
    }

    fn refused<'a>(
        &'a self,
        _: &'a mut HttpAttempt<'_>,
        _: StatusCode,
        _: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal> {
        Box::pin(async { Ok(Refusal::Final) })
    }
}

async fn session(server: &ScriptedServer) -> TestSession {
    let builder = HttpSession::builder(&server.url).authorization(Outage::default());
    let client = TestSession::from_builder(builder);
    client.initialize().await.unwrap();
    client.initialized().await.unwrap();
    client
}

#[tokio::test]
async fn the_session_stream_is_opened_again_after_an_outage() {
    let mut server = ScriptedServer::new(|received| match &*received.method {
        "GET" => Response::stream("retry: 1\nid: e-1\ndata:\n\n"),
        _ => default_response(received),
    })
    .await;
    let _client = session(&server).await;
    for _ in 0..2 {
        server.next_request_with("GET").await;
    }
}

#[tokio::test]
async fn a_call_that_the_server_has_begun_is_resumed_after_an_outage() {
    let mut server = ScriptedServer::new(|received| match (&*received.method, received.rpc()) {
        ("POST", "tools/call") => Response::stream("id: e-1\nretry: 1\ndata:\n\n"),
        ("GET", _) if received.header("last-event-id").is_some() => {
            Response::stream("data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n\n")
        }
        _ => default_response(received),
    })
    .await;
    let client = session(&server).await;
    client.send(add(1)).await.unwrap();
    server.next_request_with("tools/call").await;
    assert!(
        server
            .next_request()
            .await
            .header("last-event-id")
            .is_some(),
        "the call is sent once"
    );
}

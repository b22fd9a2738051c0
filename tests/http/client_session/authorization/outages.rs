//! Credentials that are not available for a short time.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use http::{HeaderMap, Method, StatusCode};
use serde_json::json;
use treenail::client::{
    AuthorizationFuture, ClientError, HttpAttempt, HttpAuthorization, HttpClientBuilderExt as _,
    HttpSession, McpClient, Refusal,
};

use super::super::legacy::{add, default_response};
use super::super::listener::{Incoming, TestSession};
use super::super::scripted_server::{Response, ScriptedServer};
use super::super::subscriptions::respond;

/// Fails for two requests of streams after a first one has succeeded.
#[derive(Debug, Default)]
struct Outage(AtomicU32);

impl HttpAuthorization for Outage {
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        _: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        let is_stream = request.http_method == Method::GET;
        let fails = is_stream && matches!(self.0.fetch_add(1, Ordering::SeqCst), 1 | 2);
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

/// Records the requests of streams, answers, and their refusals, each with true if the user may be asked.
#[derive(Debug, Default)]
struct Asking(Mutex<Vec<(&'static str, bool)>>);

impl Asking {
    fn record(&self, step: &'static str, request: &HttpAttempt<'_>) {
        let is_recorded = request
            .operation
            .is_none_or(|(method, _)| method == "subscriptions/listen");
        if is_recorded {
            self.0.lock().unwrap().push((step, request.may_ask_user));
        }
    }

    /// Returns the first `count` records.
    fn first(&self, count: usize) -> Vec<(&'static str, bool)> {
        let records = self.0.lock().unwrap();
        records.iter().take(count).copied().collect()
    }
}

impl HttpAuthorization for Asking {
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        _: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        self.record("sent", request);
        Box::pin(async { Ok(()) })
    }

    fn refused<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        _: StatusCode,
        _: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal> {
        self.record("refused", request);
        Box::pin(async { Ok(Refusal::Final) })
    }
}

async fn session(server: &ScriptedServer) -> TestSession {
    session_with(server, Outage::default()).await
}

async fn session_with(
    server: &ScriptedServer,
    authorization: impl HttpAuthorization + 'static,
) -> TestSession {
    let builder = HttpSession::builder(&server.url).authorization(authorization);
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

#[tokio::test]
async fn no_user_is_asked_for_the_session_stream_once_it_was_open() {
    for status in [401, 403] {
        let mut streams = 0;
        let mut server = ScriptedServer::new(move |received| match &*received.method {
            "GET" => {
                streams += 1;
                match streams {
                    1 => Response::stream("retry: 1\nid: e-1\ndata:\n\n"),
                    _ => Response::complete(status, "", ""),
                }
            }
            _ => default_response(received),
        })
        .await;
        let asking = Arc::<Asking>::default();
        let _client = session_with(&server, Arc::clone(&asking)).await;
        for _ in 0..4 {
            server.next_request_with("GET").await;
        }
        let again = [("sent", false), ("refused", false)];
        let expected = [&[("sent", true)], &again[..], &again[..]].concat();
        assert_eq!(asking.first(5), expected, "{status}");
    }
}

#[tokio::test]
async fn no_user_is_asked_for_an_answer_that_the_client_gives_on_its_own() {
    let mut streams = Vec::new();
    let mut server = ScriptedServer::new(move |received| match &*received.method {
        "GET" => {
            let request = |id, method| {
                let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": {}});
                format!("data: {request}\n\n")
            };
            let events = request(1, "ping") + &request(2, "elicitation/create");
            let (response, more) = Response::open_stream(&events);
            streams.push(more);
            response
        }
        "POST" if received.rpc().is_empty() => Response::complete(401, "", ""),
        _ => default_response(received),
    })
    .await;
    let asking = Arc::<Asking>::default();
    let mut client = session_with(&server, Arc::clone(&asking)).await;
    for id in [1, 2] {
        let Incoming::Request(.., responder) = client.next_incoming().await else {
            panic!("the server asks twice");
        };
        responder.respond(Ok("{}".to_owned()));
        while server.next_request().await.body["id"] != id {}
    }
    let mut steps = asking.first(usize::MAX);
    steps.retain(|(step, _)| *step == "sent");
    assert_eq!(steps, [("sent", true), ("sent", false), ("sent", true)]);
}

#[tokio::test]
async fn no_user_is_asked_for_the_subscription_of_a_client() {
    let mut opened = 0;
    let mut server = ScriptedServer::new(move |received| {
        respond(received, |acknowledgement| {
            opened += 1;
            match opened {
                1 => Response::stream(acknowledgement),
                _ => Response::complete(401, "", ""),
            }
        })
    })
    .await;
    let asking = Arc::<Asking>::default();
    let builder = McpClient::builder().url(&*server.url);
    let builder = builder.authorization(Arc::clone(&asking));
    let _client = builder.build().await.unwrap();
    for _ in 0..3 {
        server.next_request_with("subscriptions/listen").await;
    }
    let expected = ["sent", "sent", "refused", "sent"].map(|step| (step, false));
    assert_eq!(asking.first(4), expected);
}

#[tokio::test]
async fn a_call_whose_stream_is_refused_twice_fails_and_asks_the_user_once() {
    for status in [401, 403] {
        let server =
            ScriptedServer::new(move |received| match (&*received.method, received.rpc()) {
                ("POST", "tools/call") => Response::stream("id: e-1\nretry: 1\ndata:\n\n"),
                ("GET", _) if received.header("last-event-id").is_some() => {
                    Response::complete(status, "", "")
                }
                _ => default_response(received),
            })
            .await;
        let asking = Arc::<Asking>::default();
        let client = session_with(&server, Arc::clone(&asking)).await;
        let of_session = asking.first(usize::MAX).len();
        let lost = client.send(add(1)).await;
        let Err(ClientError::Closed(reason)) = lost else {
            panic!("{status}: {lost:?}");
        };
        assert!(reason.contains(&status.to_string()), "{reason}");
        let expected = [
            ("sent", true),
            ("refused", true),
            ("sent", false),
            ("refused", false),
        ];
        assert_eq!(asking.first(usize::MAX)[of_session..], expected, "{status}");
    }
}

//! Limits of responses, which are the same for all clients.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame};
use serde_json::json;
use tokio::sync::Notify;
use tower::service_fn;
use treenail::client::{ClientError, ClientLimits, HttpClientLimits, HttpSession};

use super::super::listener::{TestSession, modern};
use super::{Request, URL};
use crate::fixture::OnDrop;

/// Body with a start, and the same chunk without end after it.
struct Endless {
    start: Option<&'static str>,
    chunk: &'static str,
    _dropped: OnDrop,
}

impl Body for Endless {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        let chunk = self.start.take().unwrap_or(self.chunk);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(chunk.as_bytes())))))
    }
}

#[tokio::test]
async fn an_endless_body_or_event_is_too_long() {
    for (media_type, start) in [
        (
            "application/json",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"",
        ),
        (
            "text/event-stream",
            "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"",
        ),
    ] {
        let dropped = Arc::<Notify>::default();
        let notify = Arc::clone(&dropped);
        let client = service_fn(move |_: Request| {
            let body = Endless {
                start: Some(start),
                chunk: "xxxxxxxxxxxxxxxx",
                _dropped: OnDrop(Arc::clone(&notify)),
            };
            let response = Response::builder().header("content-type", media_type);
            std::future::ready(response.body(body))
        });
        let limits = ClientLimits::default().message_bytes(4096);
        let builder = HttpSession::builder(URL).limits(limits);
        let session = TestSession::from_builder(builder.http_client(client));
        let error = session
            .send(modern(1, "tools/list", json!({})))
            .await
            .unwrap_err();
        assert!(
            matches!(error, ClientError::TooLong(4096)),
            "{media_type}: {error:?}"
        );
        dropped.notified().await;
    }
}

#[tokio::test]
async fn headers_are_bounded() {
    for (length, is_allowed) in [(10_000, true), (20_000, false)] {
        let client = service_fn(move |_: Request| {
            let response = Response::builder().header("content-type", "application/json");
            let response = response.header("x-long", "a".repeat(length));
            std::future::ready(response.body(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned()))
        });
        let http = HttpClientLimits::default().header_bytes(16 * 1024);
        let builder = HttpSession::builder(URL).limits(ClientLimits::default().http(http));
        let session = TestSession::from_builder(builder.http_client(client));
        let outcome = session.send(modern(1, "tools/list", json!({}))).await;
        let is_violation = matches!(outcome, Err(ClientError::Protocol(_)));
        assert_eq!(is_violation, !is_allowed, "{outcome:?}");
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_reported_with_its_cause() {
    struct Broken;

    impl Body for Broken {
        type Data = Bytes;
        type Error = io::Error;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<io::Result<Frame<Bytes>>>> {
            Poll::Ready(Some(Err(io::Error::other("the tunnel collapsed"))))
        }
    }

    let client = service_fn(|_: Request| {
        let response = Response::builder().header("content-type", "application/json");
        std::future::ready(response.body(Broken))
    });
    let session = TestSession::from_builder(HttpSession::builder(URL).http_client(client));
    let outcome = session.send(modern(1, "tools/list", json!({}))).await;
    let error = outcome.unwrap_err();
    assert!(matches!(error, ClientError::Closed(_)), "{error:?}");
    assert!(error.to_string().contains("the tunnel collapsed"));
}

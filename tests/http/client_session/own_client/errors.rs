//! Errors of a client, and the requests that are sent again.

use std::error::Error;
use std::future::Pending;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use http::{Response, StatusCode};
use serde_json::{Value, json};
use tower::load_shed::error::Overloaded;
use tower::{Service, ServiceBuilder, service_fn};
use treenail::client::{ClientError, HttpClient, NotSent};

use super::super::listener::{TestSession, modern};
use super::{Request, session};

type BoxError = Box<dyn Error + Send + Sync>;

#[derive(Debug, thiserror::Error)]
#[error("the gateway failed")]
struct Gateway(#[source] io::Error);

fn gateway() -> BoxError {
    Gateway(io::Error::other("line 1\nline 2")).into()
}

fn not_sent() -> BoxError {
    NotSent::new(gateway()).into()
}

/// The same within another error, which does not name it as its source.
fn nested() -> BoxError {
    io::Error::other(not_sent()).into()
}

/// Client whose first requests end with these errors, and a counter of its requests.
fn failing(errors: &'static [fn() -> BoxError]) -> (impl HttpClient, Arc<AtomicUsize>) {
    let count = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&count);
    let client = service_fn(move |request: Request| {
        let number = counted.fetch_add(1, Ordering::SeqCst);
        async move {
            if let Some(error) = errors.get(number) {
                return Err(error());
            }
            let bytes = request.body().as_bytes().unwrap();
            let message: Value = serde_json::from_slice(bytes)?;
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {}});
            let response = Response::builder().header("content-type", "application/json");
            Ok(response.body(answer.to_string())?)
        }
    });
    (client, count)
}

async fn list(session: &TestSession) -> Result<Value, ClientError> {
    session.send(modern(1, "tools/list", json!({}))).await
}

#[tokio::test]
async fn a_request_that_may_have_been_processed_is_not_sent_again() {
    let (client, count) = failing(&[gateway]);
    let error = list(&session(client)).await.unwrap_err();
    assert!(matches!(error, ClientError::Closed(_)), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the connection is closed: the HTTP client of this program failed to send a request to localhost: \
         the gateway failed: line 1\\nline 2"
    );
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_request_that_was_not_sent_is_sent_once_more() {
    let (client, count) = failing(&[not_sent]);
    list(&session(client)).await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 2);

    let twice: [&'static [fn() -> BoxError]; 2] = [&[not_sent, not_sent], &[nested, nested]];
    for errors in twice {
        let (client, count) = failing(errors);
        let error = list(&session(client)).await.unwrap_err();
        assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
        let text = error.to_string();
        assert!(text.contains("not sent: the gateway failed"), "{text}");
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    // The second attempt may have been processed.
    let (client, count) = failing(&[not_sent, gateway]);
    let error = list(&session(client)).await.unwrap_err();
    assert!(matches!(error, ClientError::Closed(_)), "{error:?}");
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

/// Service that is never ready.
#[derive(Clone)]
struct Unready(Arc<AtomicUsize>);

impl Service<Request> for Unready {
    type Response = Response<String>;
    type Error = BoxError;
    type Future = Pending<Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Poll::Ready(Err(gateway()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        panic!("the service is not ready for {}", request.uri());
    }
}

#[tokio::test]
async fn a_service_that_is_not_ready_has_not_sent_the_request() {
    let count = Arc::<AtomicUsize>::default();
    let session = session(Unready(Arc::clone(&count)));
    let error = list(&session).await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

/// The example of the guide.
#[tokio::test]
async fn a_layer_that_refuses_a_request_can_report_that_it_was_not_sent() {
    let client = service_fn(|request: Request| async move {
        let sent = format!("{} was sent", request.uri());
        Err::<Response<String>, BoxError>(sent.into())
    });
    let stack = ServiceBuilder::new()
        .map_err(|e: BoxError| {
            if e.is::<Overloaded>() {
                NotSent::new(e).into()
            } else {
                e
            }
        })
        .load_shed()
        .concurrency_limit(0)
        .service(client);
    let error = list(&session(stack)).await.unwrap_err();
    assert!(matches!(error, ClientError::Unreachable(_)), "{error:?}");
}

#[tokio::test]
async fn statuses_and_redirects_follow_the_same_rules() {
    for (status, target, is_followed) in [
        (307, "/elsewhere", true),
        (307, "http://other.example/mcp", false),
        (302, "/elsewhere", false),
    ] {
        let client = service_fn(move |request: Request| async move {
            assert_eq!(request.uri().host(), Some("localhost"));
            let is_first = request.uri().path() == "/mcp";
            let status = if is_first { status } else { 503 };
            let response = Response::builder()
                .status(status)
                .header("retry-after", "7");
            response.header("location", target).body(String::new())
        });
        let error = list(&session(client)).await.unwrap_err();
        let ClientError::Http { url, status, .. } = &error else {
            panic!("{error:?}");
        };
        let status = StatusCode::from_u16(*status).unwrap();
        assert_eq!(status == StatusCode::SERVICE_UNAVAILABLE, is_followed);
        assert_eq!(url.ends_with("/elsewhere"), is_followed, "{url}");
        if is_followed {
            assert_eq!(error.retry_after().map(|delay| delay.as_secs()), Some(7));
        }
    }
}

//! Interface of HTTP clients that the user provides.

use std::error::Error;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use crate::client_body::HttpClientBody;
use crate::error::BoxError;

/// Future of a response, see [`HttpClient::send`].
pub type HttpClientFuture<'a> = Pin<
    Box<
        dyn Future<Output = Result<Response<HttpClientBody>, Box<dyn Error + Send + Sync>>>
            + Send
            + 'a,
    >,
>;

/// HTTP client of your own, in place of the built-in one: a shared `reqwest::Client`, a `tower` stack with metrics, a client behind a
/// SOCKS proxy, one that signs requests, or an in-process `axum::Router`. `HttpSessionBuilder::http_client` sets it.
///
/// Each `tower_service::Service<http::Request<HttpClientBody>>` is an `HttpClient` if
///
/// - it is `Clone + Send + Sync + 'static`: each request is sent by a clone of its own;
/// - its future is `Send`. It must not hold a `&Request` across an `await`, because [`HttpClientBody`] is not `Sync`. An
///   implementation of [`send`](Self::send) can: its `Request<Bytes>` is `Sync`;
/// - its error converts to `Box<dyn Error + Send + Sync>`;
/// - its response body is an [`http_body::Body`] of [`Bytes`], with such an error.
///
/// Treenail bounds the sizes and times of messages, follows redirects, resumes streams, and adds credentials before the client gets the
/// request. The client
///
/// - opens connections: TLS, proxies, pooling, and the timeout of a connection are its own;
/// - returns the response as soon as its head has arrived. The body of an event stream has no end, so a timeout of the client must not
///   include the body;
/// - follows no redirects. Otherwise it could send the headers of a session to another server;
/// - stops when the future, or the body of the response, is dropped.
///
/// # Errors
///
/// The error and its causes become the text of `ClientError::Closed`: the server may have processed the request. A request of MCP is not
/// sent again then.
///
/// [`NotSent`] among the causes guarantees that the HTTP request was not processed, and so do the errors of `hyper-util` about requests that
/// a server over HTTP/2 has refused. It is sent once more, and a second such error becomes `ClientError::Unreachable`. Errors of
/// `hyper-util` about connections that could not be opened become `ClientError::Unreachable` at once.
///
/// A layer that repeats requests must return neither `NotSent` nor an error of `hyper-util` after an attempt that may have been processed.
/// It returns the error of that attempt, or the text of the last error.
///
/// ```
/// use bytes::Bytes;
/// use http::Request;
/// use treenail::client::{HttpClient, HttpClientFuture, HttpSession};
///
/// /// Adds a signature of each request.
/// #[derive(Debug)]
/// struct Signed<C>(C);
///
/// impl<C: HttpClient> HttpClient for Signed<C> {
///     fn send(&self, mut request: Request<Bytes>) -> HttpClientFuture<'_> {
///         let signature = request.body().len(); // of the final headers and the body
///         request.headers_mut().insert("x-signature", signature.into());
///         self.0.send(request)
///     }
/// }
///
/// # fn connect(client: impl HttpClient) {
/// let http = HttpSession::builder("https://mcp.example.com/mcp").http_client(Signed(client));
/// # }
/// ```
///
/// A client that several sessions share, or that is chosen at run time:
///
/// ```
/// # use bytes::Bytes;
/// # use http::Request;
/// # use treenail::client::{HttpClient, HttpClientFuture};
/// use std::sync::Arc;
///
/// #[derive(Clone)]
/// struct Shared(Arc<dyn HttpClient>);
///
/// impl HttpClient for Shared {
///     fn send(&self, request: Request<Bytes>) -> HttpClientFuture<'_> {
///         self.0.send(request)
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no HTTP client",
    label = "this type is no `HttpClient`",
    note = "implement `treenail::client::HttpClient`, or use a `tower_service::Service<http::Request<HttpClientBody>>` \
            that is `Clone + Send + Sync + 'static`, whose future is `Send`, whose error is `Into<Box<dyn Error + Send + Sync>>`, and whose \
            response body is an `http_body::Body<Data = Bytes>`",
    note = "the future of a service is not `Send` if it holds a `&Request` across an `await`",
    note = "an `Arc` or a `Box` of a client is none itself: wrap it in a type that implements `HttpClient`"
)]
pub trait HttpClient: Send + Sync + 'static {
    /// Sends a request, and returns the response without waiting for its body.
    ///
    /// The URL is absolute, and the headers are complete except those of the connection, such as `Host` and `Content-Length`.
    fn send(&self, request: Request<Bytes>) -> HttpClientFuture<'_>;
}

#[diagnostic::do_not_recommend]
impl<S, B> HttpClient for S
where
    S: Service<Request<HttpClientBody>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    fn send(&self, request: Request<Bytes>) -> HttpClientFuture<'_> {
        let mut service = self.clone();
        Box::pin(async move {
            let ready = poll_fn(|context| service.poll_ready(context)).await;
            ready.map_err(NotSent::new)?;
            let response = service.call(request.map(HttpClientBody::from)).await;
            Ok(response.map_err(Into::into)?.map(HttpClientBody::new))
        })
    }
}

/// Error of an [`HttpClient`] that has certainly not sent the request, or knows that the server has not processed it.
///
/// It is found as the error itself, and behind `source()`. An error with `#[error(transparent)]`, and an `anyhow::Error` without a context,
/// hide what they contain: return `NotSent` itself, or put it behind `#[source]`.
///
/// ```
/// use treenail::client::NotSent;
///
/// # fn convert(error: std::io::Error, is_connect: bool) -> Box<dyn std::error::Error + Send + Sync> {
/// if is_connect { NotSent::new(error).into() } else { error.into() }
/// # }
/// ```
#[derive(Debug)]
pub struct NotSent(BoxError);

impl NotSent {
    /// Creates the error, with its cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

impl fmt::Display for NotSent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the request was not sent")
    }
}

impl Error for NotSent {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

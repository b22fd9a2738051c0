//! The service: what HTTP asks of a request before its message is looked at.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::header::{CONNECTION, TRANSFER_ENCODING};
use http::request::Parts;
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use tower_service::Service;

use crate::server::Server;
use crate::transport::http::checks::{check_accept, check_content, check_size};
use crate::transport::http::cors::Cors;
use crate::transport::http::legacy::{Legacy, Sessions, SsePaths};
use crate::transport::http::modern::{LastPeer, Modern};
use crate::transport::http::origin::Guard;
use crate::transport::http::reply::{HttpBody, Refusal};
use crate::transport::http::slots::StreamSlots;
use crate::transport::http::{body, cors, modern};
use crate::wire::{self, Invalid, parse};

/// Makes a server a service for `axum`, `hyper` or any stack of `tower`; see [`HttpService`].
pub fn http_service(server: Server) -> HttpService {
    HttpService::new(server)
}

/// A server as a `tower` service over the types of the crate `http`: one endpoint of the Streamable HTTP transport.
///
/// It answers every request, whatever its path (but for those of [`legacy_sse`](HttpService::legacy_sse)), so where it is found is for the router to say; `/mcp` is usual. It never
/// fails. Any type of request body will do. It needs a tokio runtime with time enabled.
///
/// Requests are refused that a web page could send to a server of the local network through a browser: those for a host,
/// or from an origin, that is neither this computer nor allowed by [`allow_host`](HttpService::allow_host) or
/// [`allow_origin`](HttpService::allow_origin). Pages of other origins can use the server in a browser with
/// [`allow_cors_origin`](HttpService::allow_cors_origin).
///
/// Each request of the modern era stands for itself, so replicas of a server need nothing in common but, if functions ask
/// their clients, [`ServerBuilder::request_state_key`](crate::ServerBuilder::request_state_key), and if clients subscribe to
/// what changes, [`ServerBuilder::event_bus`](crate::ServerBuilder::event_bus). A session of the legacy era belongs to one
/// replica: requests with the same `Mcp-Session-Id` have to come to the same one.
///
/// The bounds are those of [`Limits`](crate::Limits). What only a listener can bound, connections and slow readers,
/// is bounded by [`HttpServer`](crate::HttpServer); in a stack of your own it is your listener's part. A reader that stalls
/// there holds its call, with at most [`Limits::queued_messages`](crate::Limits::queued_messages), until its connection is
/// dropped; what goes on in sessions of the legacy era is taken from it after
/// [`HttpLimits::write_timeout`](crate::HttpLimits::write_timeout).
///
/// Functions find the [`Principal`](crate::Principal) that a layer has put into the extensions of the request with
/// [`Context::principal`](crate::Context::principal), and all else of the request but its body with
/// `cx.extension::<http::request::Parts>()`.
///
/// # Cancellation
///
/// Dropping the response, or its future, cancels the call.
///
/// ```
/// use http::{Request, StatusCode};
/// use tower_service::Service;
/// use treenail_runtime::{HttpBody, Server, http_service};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::builder("demo", "1.0.0").build()?;
/// let mut service = http_service(server).allow_host("mcp.example.com");
///
/// let request = Request::put("https://mcp.example.com/mcp").body(String::new())?;
/// let response = service.call(request).await?;
/// assert_eq!(response.status(), StatusCode::METHOD_NOT_ALLOWED);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct HttpService {
    server: Server,
    guard: Arc<Guard>,
    sessions: Arc<Sessions>,
    pub(super) slots: StreamSlots,
    pub(super) sse: Option<Arc<SsePaths>>,
    pub(super) cors: Option<Arc<Cors>>,
    last: Arc<LastPeer>,
}

impl HttpService {
    /// A service for which only requests to this computer are allowed.
    pub fn new(server: Server) -> Self {
        Self {
            server,
            guard: Arc::default(),
            sessions: Arc::default(),
            slots: StreamSlots::default(),
            sse: None,
            cors: None,
            last: Arc::default(),
        }
    }

    /// Allows requests for a host beside `localhost`, `127.0.0.1` and `[::1]`: a name such as `mcp.example.com`, for every
    /// port, or with one, `mcp.example.com:8080`.
    #[must_use]
    pub fn allow_host(mut self, host: impl AsRef<str>) -> Self {
        Arc::make_mut(&mut self.guard).allow_host(host.as_ref());
        self
    }

    /// Allows requests for any host. Right behind a proxy that checks it, or where every request is authenticated by more
    /// than being able to reach the server.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        Arc::make_mut(&mut self.guard).allow_any_host();
        self
    }

    /// Allows requests of pages from an origin, such as `https://app.example.com`, beside those of this computer. Requests
    /// without an `Origin` come from no page and are allowed. A browser lets the page read the answers only with
    /// [`allow_cors_origin`](HttpService::allow_cors_origin).
    #[must_use]
    pub fn allow_origin(mut self, origin: impl AsRef<str>) -> Self {
        Arc::make_mut(&mut self.guard).allow_origin(origin.as_ref());
        self
    }

    /// Allows requests of pages from any origin. Every page that a user visits can use the server then.
    #[must_use]
    pub fn allow_any_origin(mut self) -> Self {
        Arc::make_mut(&mut self.guard).allow_any_origin();
        self
    }

    /// The server behind it.
    pub fn server(&self) -> &Server {
        &self.server
    }

    async fn answer<B: Body>(self, request: Request<B>) -> Response<HttpBody> {
        // A proxy that reads another length than we do could take what follows for a part of this request, or the other
        // way round (RFC 9112, section 6.1). Nothing follows then.
        let alone = request.headers().contains_key(TRANSFER_ENCODING);
        let cors = self.cors.as_ref();
        let origin = cors.map(|cors| cors.origin_of(request.headers()));
        let mut response = match self.accept(request).await {
            Ok(response) => response,
            Err(refusal) => refusal.into_response(),
        };
        if let Some(origin) = origin {
            cors::expose(&mut response, origin);
        }
        if alone {
            let close = HeaderValue::from_static("close");
            response.headers_mut().insert(CONNECTION, close);
        }
        response
    }

    async fn accept<B: Body>(&self, request: Request<B>) -> Result<Response<HttpBody>, Refusal> {
        let (parts, body) = request.into_parts();
        let limits = self.server.limits();
        check_size(&parts.headers, limits.http.header_bytes)?;
        self.guard.check(&parts)?;
        if let Some(answer) = self.cors.as_ref().and_then(|cors| cors.preflight(&parts)) {
            return Ok(answer);
        }
        if let Some((paths, place)) = self.sse(parts.uri.path()) {
            return self.accept_sse(parts, body, paths, place).await;
        }
        match parts.method {
            Method::POST => {}
            Method::GET if !modern::is_modern_version(&parts.headers) => {
                check_accept(&parts.headers, &["text/event-stream"])?;
                return self.legacy(parts).get();
            }
            Method::DELETE if !modern::is_modern_version(&parts.headers) => {
                return self.legacy(parts).delete();
            }
            _ => return Err(Refusal::method("GET, POST, DELETE")),
        }
        check_content(&parts.headers)?;
        check_accept(&parts.headers, &["application/json", "text/event-stream"])?;
        let bytes = body::read(body, limits).await?;
        match parse(&bytes, limits) {
            wire::Body::One(Ok(message)) if modern::is_modern(&parts.headers, &message) => {
                self.modern().answer(parts, message).await
            }
            wire::Body::One(Err(Invalid { id, error })) => {
                Err(Refusal::of(StatusCode::BAD_REQUEST, id, error))
            }
            wire::Body::Batch(_) if modern::is_modern_version(&parts.headers) => {
                let why = "batches belong to revision 2025-03-26 only";
                Err(Refusal::new(StatusCode::BAD_REQUEST, why))
            }
            body => self.legacy(parts).post(body).await,
        }
    }

    fn modern(&self) -> Modern<'_> {
        Modern {
            server: &self.server,
            last: &self.last,
            sessions: &self.sessions,
            slots: &self.slots,
        }
    }

    pub(super) fn legacy(&self, parts: Parts) -> Legacy<'_> {
        Legacy {
            server: &self.server,
            sessions: &self.sessions,
            slots: &self.slots,
            parts,
        }
    }
}

impl<B> Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Send,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = HttpFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> HttpFuture {
        HttpFuture(Box::pin(self.clone().answer(request)))
    }
}

/// The response of an [`HttpService`] in the making. Dropping it cancels the call.
#[must_use = "a request goes on only while it is polled"]
pub struct HttpFuture(Pin<Box<dyn Future<Output = Response<HttpBody>> + Send>>);

impl fmt::Debug for HttpFuture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("HttpFuture").finish_non_exhaustive()
    }
}

impl Future for HttpFuture {
    type Output = Result<Response<HttpBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(context).map(Ok)
    }
}

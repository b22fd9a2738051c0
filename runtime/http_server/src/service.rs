//! HTTP service and its settings.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;
use treenail_runtime::Server;

use crate::authorize::HttpAuthorizer;
use crate::cors::Cors;
use crate::legacy::{Sessions, SsePaths};
use crate::modern::PeerCache;
use crate::origin::Guard;
use crate::read_timeout::ReadTimeout;
use crate::response::HttpBody;
use crate::stream_permits::StreamPermits;

/// Creates a service for `axum`, `hyper` or any `tower` stack, see [`HttpService`].
pub fn http_service(server: Server) -> HttpService {
    HttpService::new(server)
}

/// `tower` service over the types of the crate `http`: one endpoint of the Streamable HTTP transport.
///
/// It handles requests for every path (except those of [`legacy_sse`](HttpService::legacy_sse)), so the router selects its
/// path; `/mcp` is usual. It never fails, accepts any type of request body, and needs a tokio runtime with time enabled.
///
/// It rejects requests for a host or from an origin that is neither this computer nor allowed by
/// [`allow_host`](HttpService::allow_host) or [`allow_origin`](HttpService::allow_origin). Otherwise a web page could
/// attack a server of the local network through a browser. [`allow_cors_origin`](HttpService::allow_cors_origin) permits
/// pages of other origins to use the server.
///
/// Requests of the modern era are independent, so replicas of a server share no state. Two settings are needed for some
/// servers: [`ServerBuilder::request_state_key`](treenail_runtime::ServerBuilder::request_state_key) if functions send requests to
/// their clients, and [`ServerBuilder::event_bus`](treenail_runtime::ServerBuilder::event_bus) if clients subscribe to changes. A
/// session of the legacy era belongs to one replica: requests with the same `Mcp-Session-Id` must be routed to the same
/// one. [`without_sessions`](HttpService::without_sessions) serves that era without them.
///
/// Clones of a service share its sessions. To serve one [`Server`](treenail_runtime::Server) at several addresses, clone one service:
/// a service frees call permits by ending the abandoned calls of its own sessions only.
///
/// The service enforces [`Limits`](treenail_runtime::Limits). Only a listener can limit connections and slow readers, as
/// [`HttpServer`](crate::HttpServer) does; in your own stack your listener must do so. There, a stalled reader holds its
/// call and at most [`Limits::queued_messages`](treenail_runtime::Limits::queued_messages) messages until its connection is dropped.
/// In sessions of the legacy era, it loses the stream of its call after
/// [`HttpLimits::write_timeout`](treenail_runtime::HttpLimits::write_timeout). The stream of a GET blocks no call, and stays with it
/// until its connection is dropped or its client resumes the stream.
///
/// [`Context::principal`](treenail_runtime::Context::principal) returns the [`Principal`](treenail_runtime::Principal) that a layer has added to
/// the extensions of the request, and `cx.extension::<http::request::Parts>()` the request without its body.
///
/// # Cancellation
///
/// Dropping the response, or its future, cancels the call in the modern era and [without
/// sessions](HttpService::without_sessions). A call of a legacy session continues, and its client may resume its stream.
///
/// ```
/// use http::{Request, StatusCode};
/// use tower_service::Service;
/// use treenail::Server;
/// use treenail::http::{HttpBody, http_service};
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
pub struct HttpService(Arc<ServiceParts>);

/// Settings and state of a service. Each request clones the service, so all of it has one reference count.
#[derive(Clone, Debug)]
pub(super) struct ServiceParts {
    pub(super) server: Server,
    pub(super) guard: Guard,
    pub(super) authorizer: Option<Arc<dyn HttpAuthorizer>>,
    pub(super) sessions: Arc<Sessions>,
    /// True if `initialize` starts a session.
    pub(super) has_sessions: bool,
    pub(super) stream_permits: StreamPermits,
    pub(super) sse: Option<SsePaths>,
    pub(super) cors: Option<Cors>,
    pub(super) peer_cache: Arc<PeerCache>,
    pub(super) read_timeout: Arc<ReadTimeout>,
}

impl HttpService {
    /// Creates a service that allows only requests to this computer.
    pub fn new(server: Server) -> Self {
        let read_timeout = ReadTimeout::new(server.limits().http.read_timeout);
        Self(Arc::new(ServiceParts {
            server,
            guard: Guard::default(),
            authorizer: None,
            sessions: Arc::default(),
            has_sessions: true,
            stream_permits: StreamPermits::default(),
            sse: None,
            cors: None,
            peer_cache: Arc::default(),
            read_timeout,
        }))
    }

    pub(super) fn parts(&self) -> &ServiceParts {
        &self.0
    }

    /// Returns the settings for a change, which earlier clones do not see.
    pub(super) fn parts_mut(&mut self) -> &mut ServiceParts {
        Arc::make_mut(&mut self.0)
    }

    /// Allows requests for a host in addition to `localhost`, `127.0.0.1` and `[::1]`.
    ///
    /// A name such as `mcp.example.com` allows every port, `mcp.example.com:8080` only that one.
    #[must_use]
    pub fn allow_host(mut self, host: impl AsRef<str>) -> Self {
        self.parts_mut().guard.allow_host(host.as_ref());
        self
    }

    /// Allows requests for any host. Use it only behind a proxy that checks the host, or if every request is authenticated
    /// by more than network access.
    #[must_use]
    pub fn allow_any_host(mut self) -> Self {
        self.parts_mut().guard.allow_any_host();
        self
    }

    /// Allows requests from pages of an origin, such as `https://app.example.com`, in addition to those of this computer.
    ///
    /// Requests without an `Origin` do not originate from a page and are allowed. Pages can read the responses only with
    /// [`allow_cors_origin`](HttpService::allow_cors_origin).
    #[must_use]
    pub fn allow_origin(mut self, origin: impl AsRef<str>) -> Self {
        self.parts_mut().guard.allow_origin(origin.as_ref());
        self
    }

    /// Allows requests from pages of any origin. Every page that a user visits can then use the server.
    #[must_use]
    pub fn allow_any_origin(mut self) -> Self {
        self.parts_mut().guard.allow_any_origin();
        self
    }

    /// Serves the legacy era without sessions: each request is handled on its own, by any replica, as in the modern era.
    ///
    /// Default: `initialize` starts a session. Without sessions, its response has no `Mcp-Session-Id`, and these features do not
    /// exist for clients of the legacy era:
    ///
    /// - Requests to the client: elicitation, sampling and roots are [unsupported](treenail_runtime::AskError::Unsupported),
    ///   because a request does not repeat the capabilities of its client.
    /// - Subscriptions, notifications of changed lists, and log messages. They are not among the declared capabilities.
    /// - Extensions with a method that only clients with the extension can call. They are not declared either.
    /// - Streams that are resumed: a call is cancelled when its connection closes.
    ///
    /// A client of 2025-03-26 or earlier is served as one of 2025-03-26, because its requests do not name a revision. Clients of
    /// HTTP+SSE have sessions nevertheless, see [`legacy_sse`](HttpService::legacy_sse).
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::http::HttpService;
    ///
    /// # fn main() -> treenail::Result<()> {
    /// let server = Server::builder("demo", "1.0.0").build()?;
    /// let service = HttpService::new(server).without_sessions();
    /// # let _ = service;
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn without_sessions(mut self) -> Self {
        self.parts_mut().has_sessions = false;
        self
    }

    /// Limits its listening streams as a bound listener does.
    #[doc(hidden)]
    #[must_use]
    pub fn with_stream_permits(mut self) -> Self {
        let stream_permits = StreamPermits::new(self.server().limits());
        self.parts_mut().stream_permits = stream_permits;
        self
    }

    /// Returns the server.
    pub fn server(&self) -> &Server {
        &self.0.server
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
        HttpFuture::new(self.clone().respond(request))
    }
}

/// Response future of an [`HttpService`]. Dropping it cancels the call, unless it belongs to a legacy session, whose client may
/// resume it.
#[must_use = "futures do nothing unless polled"]
pub struct HttpFuture(Pin<Box<dyn Future<Output = Response<HttpBody>> + Send>>);

impl HttpFuture {
    pub(super) fn new(response: impl Future<Output = Response<HttpBody>> + Send + 'static) -> Self {
        Self(Box::pin(response))
    }
}

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

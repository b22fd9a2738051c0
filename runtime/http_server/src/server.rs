//! HTTP listener, for programs without an HTTP stack of their own.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use http::header::TRANSFER_ENCODING;
use http::{Request, Response, StatusCode};
use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;
use treenail_runtime::internal::listen_error;
use treenail_runtime::{HttpLimits, Result, Server};

use crate::accept::{ConnectionLimiter, ConnectionPermit, limit_unacknowledged};
use crate::body::discard_body;
use crate::head_timeout::HeadTimeout;
use crate::legacy::SsePaths;
use crate::read_ahead::ReadAhead;
use crate::respond::close_connection;
use crate::response::Rejection;
use crate::self_wake::SelfWake;
use crate::service::{HttpFuture, HttpService};
use crate::without_slash;
use crate::write_timeout::WriteTimeout;

impl HttpService {
    /// Binds to `address` without serving yet. Port 0 selects a free port.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](treenail_runtime::Error::Io) if binding fails; it names the address.
    pub async fn bind(self, address: impl ToSocketAddrs) -> Result<HttpServer> {
        let addresses = lookup_host(address).await;
        let addresses: Vec<_> = addresses
            .map_err(|error| listen_error(&[], &error))?
            .collect();
        let listener = TcpListener::bind(&*addresses)
            .await
            .map_err(|error| listen_error(&addresses, &error))?;
        Ok(HttpServer {
            address: listener.local_addr()?,
            listener,
            service: self.with_stream_permits(),
            path: "/mcp".into(),
        })
    }
}

/// HTTP/1.1 server that is bound to an address.
///
/// It serves at most [`HttpLimits::connections`](treenail_runtime::HttpLimits::connections) connections at once. Further clients wait
/// until they are accepted. The number of [listening streams](treenail_runtime::HttpLimits::listen_streams) and of connections
/// [per client address](treenail_runtime::HttpLimits::connections_per_address) is limited too.
///
/// A client that sends its headers or body too slowly is disconnected after
/// [`HttpLimits::read_timeout`](treenail_runtime::HttpLimits::read_timeout), and one that reads too slowly after
/// [`HttpLimits::write_timeout`](treenail_runtime::HttpLimits::write_timeout).
///
/// ```
/// use treenail::Server;
/// use treenail::http::ServeHttp;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> treenail::Result<()> {
/// let server = Server::builder("demo", "1.0.0").build()?;
/// let http = server.bind_http("127.0.0.1:0").await?;
/// println!("http://{}/mcp", http.local_addr());
/// # server.close();
/// http.serve().await
/// # }
/// ```
#[derive(Debug)]
#[must_use = "the server does nothing until `serve` is awaited"]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    pub(super) service: HttpService,
    path: Arc<str>,
}

impl HttpServer {
    /// Returns the local address.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Sets the path of the endpoint. Default `/mcp`.
    ///
    /// A missing leading slash is added, and a trailing slash is ignored. All other paths are not found, except those of [`legacy_sse`](HttpServer::legacy_sse).
    pub fn path(mut self, path: impl AsRef<str>) -> Self {
        let path = path.as_ref();
        self.path = match path.strip_prefix('/') {
            Some(_) => path.into(),
            None => format!("/{path}").into(),
        };
        self
    }

    /// Replaces the service with a reconfigured one.
    pub(super) fn map_service(mut self, change: impl FnOnce(HttpService) -> HttpService) -> Self {
        self.service = change(self.service);
        self
    }

    /// Allows requests for a further host, see [`HttpService::allow_host`].
    pub fn allow_host(self, host: impl AsRef<str>) -> Self {
        self.map_service(|service| service.allow_host(host))
    }

    /// Allows requests for any host, see [`HttpService::allow_any_host`].
    pub fn allow_any_host(self) -> Self {
        self.map_service(HttpService::allow_any_host)
    }

    /// Allows requests from pages of an origin, see [`HttpService::allow_origin`].
    pub fn allow_origin(self, origin: impl AsRef<str>) -> Self {
        self.map_service(|service| service.allow_origin(origin))
    }

    /// Allows requests from pages of any origin, see [`HttpService::allow_any_origin`].
    pub fn allow_any_origin(self) -> Self {
        self.map_service(HttpService::allow_any_origin)
    }

    /// Enables HTTP+SSE at two more paths, see [`HttpService::legacy_sse`].
    pub fn legacy_sse(self, paths: SsePaths) -> Self {
        self.map_service(|service| service.legacy_sse(paths))
    }

    /// Serves the legacy era without sessions, see [`HttpService::without_sessions`].
    pub fn without_sessions(self) -> Self {
        self.map_service(HttpService::without_sessions)
    }

    /// Serves until the server [closes](treenail_runtime::Server::close).
    ///
    /// It then finishes the requests in flight, within
    /// [`Limits::shutdown_timeout`](treenail_runtime::Limits::shutdown_timeout): a call that waits for an answer of its client
    /// (legacy era) usually lasts until then, because the answer needs a further connection. It also
    /// [publishes](treenail_runtime::Server::flush_events) the last events to other replicas, within
    /// [`EventLimits::flush_timeout`](treenail_runtime::EventLimits::flush_timeout).
    ///
    /// # Errors
    ///
    /// Currently none. Errors of one connection do not affect others.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends all connections.
    pub async fn serve(self) -> Result<()> {
        let limits = self.service.server().limits().clone();
        let limiter = ConnectionLimiter::new(&limits);
        limit_unacknowledged(&self.listener, limits.http.write_timeout);
        let mut connections = JoinSet::new();
        let server = self.service.server().clone();
        let mut closed = pin!(server.closed());
        loop {
            let mut accepted = pin!(limiter.accept(&self.listener));
            let accepted = poll_fn(|context| {
                while let Poll::Ready(Some(_)) = connections.poll_join_next(context) {}
                match closed.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(None),
                    Poll::Pending => accepted.as_mut().poll(context).map(Some),
                }
            });
            let Some((socket, permit)) = accepted.await else {
                break;
            };
            connections.spawn(self.serve_connection(socket, permit));
        }
        drop(self.listener);
        let finished = async { while connections.join_next().await.is_some() {} };
        if timeout(limits.shutdown_timeout, finished).await.is_err() {
            tracing::warn!("aborted requests in flight after the shutdown timeout");
        }
        server.flush_last_events().await;
        Ok(())
    }

    /// Serves one connection until it ends, or until the server closes and the request in flight is finished.
    fn serve_connection(
        &self,
        socket: TcpStream,
        permit: ConnectionPermit,
    ) -> impl Future<Output = ()> + Send + 'static + use<> {
        let (service, path) = (self.service.clone(), Arc::clone(&self.path));
        async move {
            let server = service.server().clone();
            let routed = move |request| route_request(&service, &path, request);
            serve_stream(&server, socket, routed).await;
            drop(permit);
        }
    }
}

/// Serves one connection over a byte stream until it ends, or until the server closes and the request in flight is finished.
pub async fn serve_stream<T, F, A, B>(server: &Server, stream: T, respond: F)
where
    T: AsyncRead + AsyncWrite + Unpin,
    F: Fn(Request<Incoming>) -> A,
    A: Future<Output = Result<Response<B>, Infallible>>,
    B: Body + Unpin + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let http = &server.limits().http;
    let mut head_timeout = HeadTimeout::new(http.read_timeout);
    let requests = head_timeout.counter();
    let respond = service_fn(move |request| {
        let active = requests.start();
        let response = respond(request);
        async move { Ok::<_, Infallible>(active.attach(response.await?)) }
    });
    let stream = ReadAhead::new(stream, http.read_timeout, head_timeout.counter());
    let stream = WriteTimeout::new(stream, http.write_timeout, head_timeout.write_flag());
    let stream = TokioIo::new(stream);
    let mut serving = pin!(http1_builder(http).serve_connection(stream, respond));
    let (mut closed, mut is_shutting_down) = (pin!(server.closed()), false);
    let mut self_wake = SelfWake::new();
    let ended = poll_fn(|context| {
        if !is_shutting_down && closed.as_mut().poll(context).is_ready() {
            is_shutting_down = true;
            serving.as_mut().graceful_shutdown();
        }
        match self_wake.poll(context, |context| serving.as_mut().poll(context)) {
            Poll::Ready(ended) => Poll::Ready(Some(ended)),
            // hyper waits for the rest of a first head.
            Poll::Pending if is_shutting_down && head_timeout.is_idle() => Poll::Ready(None),
            Poll::Pending => head_timeout.poll(context).map(|()| None),
        }
    });
    match ended.await {
        Some(Ok(())) => {}
        Some(Err(error)) => tracing::debug!(%error, "a connection failed"),
        None => tracing::debug!("a connection was idle for too long, or when the server closed"),
    }
}

/// Configures HTTP/1.1 with the limits of the server. The timeout of heads is that of [`HeadTimeout`].
fn http1_builder(limits: &HttpLimits) -> http1::Builder {
    // Minimum that hyper accepts.
    const MIN_BUFFER_BYTES: usize = 8 * 1024;
    let mut builder = http1::Builder::new();
    builder
        .header_read_timeout(None)
        .max_buf_size(limits.header_bytes.max(MIN_BUFFER_BYTES));
    builder
}

/// Passes requests for the endpoints to the service, and rejects others.
fn route_request(service: &HttpService, path: &str, request: Request<Incoming>) -> HttpFuture {
    let requested = request.uri().path();
    let is_served = without_slash(requested) == without_slash(path)
        || service.sse_endpoint(requested).is_some()
        || service
            .parts()
            .authorizer
            .as_ref()
            .is_some_and(|one| one.serves(requested));
    if is_served {
        HttpFuture::new(service.clone().respond(request))
    } else {
        let max_bytes = service.server().limits().message_bytes;
        HttpFuture::new(async move {
            let (parts, body) = request.into_parts();
            let mut response = Rejection::empty(StatusCode::NOT_FOUND).into_response();
            // See `HeadFacts::must_close`.
            if !discard_body(&parts, pin!(body), max_bytes).await
                || parts.headers.contains_key(TRANSFER_ENCODING)
            {
                close_connection(&mut response);
            }
            response
        })
    }
}

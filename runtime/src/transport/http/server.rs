//! A listener of our own, for servers that are nothing but a server.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream, ToSocketAddrs};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tower_service::Service as _;

use crate::deadline;
use crate::error::Result;
use crate::limits::Limits;
use crate::server::Server;
use crate::transport::http::accept::{Admission, Admissions};
use crate::transport::http::legacy::SsePaths;
use crate::transport::http::reply::{HttpBody, Refusal};
use crate::transport::http::service::HttpService;
use crate::transport::http::slots::StreamSlots;
use crate::transport::http::stall::Impatient;
use crate::transport::http::without_slash;

#[cfg(feature = "http-server")]
impl Server {
    /// Serves HTTP at `address`, such as `127.0.0.1:8080`, with the endpoint `/mcp`, until the server
    /// [closes](Server::close).
    ///
    /// It is [`bind_http`](Server::bind_http) and [`HttpServer::serve`] in one.
    ///
    /// # Errors
    ///
    /// As those two.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends all connections.
    pub async fn serve_http(&self, address: impl ToSocketAddrs) -> Result<()> {
        self.bind_http(address).await?.serve().await
    }

    /// Takes `address` for the server without serving yet. Port 0 is one that is free.
    ///
    /// Who listens at an address that other computers can reach has to say by which names, with
    /// [`HttpService::allow_host`] and [`HttpService::bind`].
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if the address cannot be had.
    pub async fn bind_http(&self, address: impl ToSocketAddrs) -> Result<HttpServer> {
        HttpService::new(self.clone()).bind(address).await
    }
}

impl HttpService {
    /// Takes `address` for this service without serving yet. Port 0 is one that is free.
    ///
    /// # Errors
    ///
    /// [`Error::Io`](crate::Error::Io) if the address cannot be had.
    pub async fn bind(mut self, address: impl ToSocketAddrs) -> Result<HttpServer> {
        let listener = TcpListener::bind(address).await?;
        self.slots = StreamSlots::within(self.server().limits());
        Ok(HttpServer {
            address: listener.local_addr()?,
            listener,
            service: self,
            path: "/mcp".into(),
        })
    }
}

/// A server that has an address and serves HTTP/1.1 there.
///
/// It has at most [`HttpLimits::connections`](crate::HttpLimits::connections) at once; clients beyond that wait to be accepted. Not all of them may be
/// [streams that only listen](crate::HttpLimits::listen_streams), nor come
/// [from one address](crate::HttpLimits::connections_per_address). A client that is slow to
/// send its headers or a body, or to read an answer, is dropped after [`HttpLimits::read_timeout`](crate::HttpLimits::read_timeout) or
/// [`HttpLimits::write_timeout`](crate::HttpLimits::write_timeout).
///
/// ```
/// use treenail_runtime::Server;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> treenail_runtime::Result<()> {
/// let server = Server::builder("demo", "1.0.0").build()?;
/// let http = server.bind_http("127.0.0.1:0").await?;
/// println!("http://{}/mcp", http.local_addr());
/// # server.close();
/// http.serve().await
/// # }
/// ```
#[derive(Debug)]
#[must_use = "it serves nothing until `serve` is awaited"]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    service: HttpService,
    path: Arc<str>,
}

impl HttpServer {
    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// The path of the endpoint, in place of `/mcp`; a slash at its end makes no difference. All others are not found, but for those of
    /// [`legacy_sse`](HttpServer::legacy_sse).
    pub fn path(mut self, path: impl AsRef<str>) -> Self {
        self.path = path.as_ref().into();
        self
    }

    /// The same with a service that is set up further.
    pub(super) fn map_service(mut self, change: impl FnOnce(HttpService) -> HttpService) -> Self {
        self.service = change(self.service);
        self
    }

    /// Serves old clients at two more paths; see [`HttpService::legacy_sse`].
    pub fn legacy_sse(self, paths: SsePaths) -> Self {
        self.map_service(|service| service.legacy_sse(paths))
    }

    /// Serves until the server [closes](Server::close). Then requests in flight are finished, within
    /// [`Limits::shutdown_timeout`], and other replicas [told](Server::flush_events) of the last changes, within
    /// [`EventLimits::flush_timeout`](crate::EventLimits::flush_timeout).
    ///
    /// # Errors
    ///
    /// None today; a connection that fails concerns its client only.
    ///
    /// # Cancellation
    ///
    /// Dropping the future ends all connections.
    pub async fn serve(self) -> Result<()> {
        let limits = self.service.server().limits().clone();
        let admissions = Admissions::within(&limits);
        let mut connections = JoinSet::new();
        let server = self.service.server().clone();
        let mut closed = pin!(server.closed());
        loop {
            let mut accepted = pin!(admissions.accept(&self.listener));
            let accepted = poll_fn(|context| {
                while let Poll::Ready(Some(_)) = connections.poll_join_next(context) {}
                match closed.as_mut().poll(context) {
                    Poll::Ready(()) => Poll::Ready(None),
                    Poll::Pending => accepted.as_mut().poll(context).map(Some),
                }
            });
            let Some((socket, admission)) = accepted.await else {
                break;
            };
            connections.spawn(self.connection(socket, admission));
        }
        drop(self.listener);
        let finished = async { while connections.join_next().await.is_some() {} };
        if timeout(limits.shutdown_timeout, finished).await.is_err() {
            tracing::warn!("requests were given up after the server was closed");
        }
        // Other replicas hear of what the last calls have changed.
        if timeout(limits.events.flush_timeout, server.flush_events())
            .await
            .is_err()
        {
            tracing::warn!("the event bus has not published the last changes");
        }
        Ok(())
    }

    /// Serves one connection until it ends, or until the server closes and the request in flight has its answer.
    fn connection(
        &self,
        socket: TcpStream,
        admission: Admission,
    ) -> impl Future<Output = ()> + Send + 'static + use<> {
        let (service, path) = (self.service.clone(), Arc::clone(&self.path));
        async move {
            let server = service.server().clone();
            let limits = server.limits();
            let socket = TokioIo::new(Impatient::new(socket, limits.http.write_timeout));
            let answer = service_fn(move |request| route(service.clone(), &path, request));
            let mut serving = pin!(protocol(limits).serve_connection(socket, answer));
            let (mut closed, mut told) = (pin!(server.closed()), false);
            let ended = poll_fn(|context| {
                // It is told of the end once, and finishes what it is about.
                if !told && closed.as_mut().poll(context).is_ready() {
                    told = true;
                    serving.as_mut().graceful_shutdown();
                }
                serving.as_mut().poll(context)
            });
            if let Err(error) = ended.await {
                tracing::debug!(%error, "a connection failed");
            }
            drop(admission);
        }
    }
}

/// HTTP/1.1 within bounds.
fn protocol(limits: &Limits) -> http1::Builder {
    // The least that hyper takes.
    const LEAST: usize = 8 * 1024;
    let mut protocol = http1::Builder::new();
    protocol
        .timer(TokioTimer::new())
        // hyper adds it to the current time, which must not overflow.
        .header_read_timeout(limits.http.read_timeout.min(deadline::NEVER))
        .max_buf_size(limits.http.header_bytes.max(LEAST));
    protocol
}

/// Answers what goes to the endpoint.
fn route(
    mut service: HttpService,
    path: &str,
    request: Request<Incoming>,
) -> impl Future<Output = Result<Response<HttpBody>, Infallible>> + Send + 'static + use<> {
    let asked = request.uri().path();
    let served = without_slash(asked) == without_slash(path) || service.sse(asked).is_some();
    let answer = served.then(|| service.call(request));
    async move {
        match answer {
            Some(answer) => answer.await,
            None => Ok(Refusal::bare(StatusCode::NOT_FOUND).into_response()),
        }
    }
}

//! Connection pool with limits, TLS and proxies, or a client of the user in its place.

mod hyper_client;

use std::fmt;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
#[cfg(unix)]
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use bytes::Bytes;
use http::header::PROXY_AUTHORIZATION;
use http::{HeaderValue, Request, Response, StatusCode, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Builder;
use hyper_util::client::legacy::connect::HttpInfo;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::Notify;
use treenail_schema::internal::HttpClientLimits;

use crate::body::FullBody;
use crate::client::HttpClient;
use crate::client_body::HttpClientBody;
use crate::connector::{Bounded, Connector};
use crate::error::HttpError;
use crate::failure::{RequestPath, is_unprocessed, request_error};
use crate::guard::DialGuard;
use crate::idle::{Connections, HTTP1_IDLE_TIMEOUT, HTTP2_IDLE_TIMEOUT};
use crate::keep_alive::ping_http2;
use crate::own_client::OwnClient;
use crate::pool::hyper_client::HyperClient;
use crate::route::{Route, Via};
use crate::tls::TlsConfig;

/// Maximum number of idle connections.
const MAX_IDLE_CONNECTIONS: usize = 32;
/// Minimum size of the header buffer that hyper accepts, in bytes.
const MIN_HEADER_BYTES: usize = 8 * 1024;

/// Pool of connections to one origin.
pub struct Pool {
    client: Client,
    via: Option<Via>,
    /// Value of `Proxy-Authorization` for a proxy that forwards requests.
    proxy_authorization: Option<HeaderValue>,
}

/// Sender of the requests.
#[allow(
    clippy::large_enum_variant,
    reason = "almost all pools have the large variant, and an indirection would cost each request"
)]
enum Client {
    Hyper(HyperClient),
    Own(OwnClient),
}

/// Options of a [`Pool`].
#[derive(Debug, Default)]
pub struct PoolOptions<'a> {
    /// Settings of `https`, which are an error for another URL. The certificates of the system are trusted by default.
    pub tls: Option<&'a TlsConfig>,
    /// Control over the addresses of a URL that a peer has named: others are not dialled, and requests to them fail with
    /// [`HttpError::Invalid`].
    pub guard: Option<Arc<dyn DialGuard>>,
    /// A socket that the user has named, in place of the address in the URL, of a proxy and of `guard`.
    #[cfg(unix)]
    pub unix_socket: Option<Arc<Path>>,
}

impl<'a> PoolOptions<'a> {
    /// Sets the settings of `https`.
    #[must_use]
    pub fn tls(mut self, tls: Option<&'a TlsConfig>) -> Self {
        self.tls = tls;
        self
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    /// Creates a pool for the origin of `url`. No connection is opened yet.
    pub fn new(url: &Uri, limits: &HttpClientLimits) -> Result<Self, HttpError> {
        Self::with_options(url, limits, PoolOptions::default())
    }

    /// As [`new`](Self::new), with options.
    pub fn with_options(
        url: &Uri,
        limits: &HttpClientLimits,
        options: PoolOptions<'_>,
    ) -> Result<Self, HttpError> {
        #[cfg(unix)]
        if let Some(path) = options.unix_socket {
            return Self::along(Route::UnixSocket(path), url, limits, (options.tls, None));
        }
        Self::along(Route::to(url)?, url, limits, (options.tls, options.guard))
    }

    /// As [`new`](Self::new), over connections that `dial` opens in place of sockets.
    #[cfg(feature = "dial")]
    pub fn dialed(limits: &HttpClientLimits, dial: Arc<dyn crate::dial::Dial>) -> Self {
        let dialer = crate::dial::Dialer(dial);
        let connections = Connections::new(client_builder(limits), dialer, HTTP1_IDLE_TIMEOUT);
        Self {
            client: Client::Hyper(HyperClient::Dialed(connections)),
            via: None,
            proxy_authorization: None,
        }
    }

    /// Creates a pool that has no connections of its own: `client` sends the requests. Its limits are those above connections.
    pub fn with_client(limits: &HttpClientLimits, client: Arc<dyn HttpClient>) -> Self {
        let max_header_bytes = limits.header_bytes.max(MIN_HEADER_BYTES);
        let client = OwnClient {
            client,
            max_header_bytes,
        };
        Self {
            client: Client::Own(client),
            via: None,
            proxy_authorization: None,
        }
    }

    fn along(
        route: Route,
        url: &Uri,
        limits: &HttpClientLimits,
        (tls, guard): (Option<&TlsConfig>, Option<Arc<dyn DialGuard>>),
    ) -> Result<Self, HttpError> {
        let (via, proxy_authorization) = (route.via(), route.request_authorization());
        let timeout = limits.connect_timeout;
        let connector = Connector::new(route, timeout).guarded(guard);
        let builder = client_builder(limits);
        let client = if url.scheme_str() == Some("https") {
            let config = match tls {
                Some(tls) => tls.client_config()?,
                None => TlsConfig::new().client_config()?,
            };
            let mut connector = HttpsConnector::from((connector, config));
            connector.enforce_https();
            let connector = Bounded { connector, timeout };
            HyperClient::Tls(Connections::new(builder, connector, HTTP2_IDLE_TIMEOUT))
        } else if tls.is_some() {
            return Err(HttpError::invalid("`tls` needs a URL with `https`"));
        } else {
            let connector = Bounded { connector, timeout };
            HyperClient::Plain(Connections::new(builder, connector, HTTP1_IDLE_TIMEOUT))
        };
        Ok(Self {
            client: Client::Hyper(client),
            via,
            proxy_authorization,
        })
    }

    /// Returns the address of the server that sent a response; `None` behind a proxy, over a Unix socket, and from a client of the user,
    /// which may use a proxy.
    pub fn peer_address<B>(&self, response: &Response<B>) -> Option<IpAddr> {
        let is_direct = self.via.is_none() && matches!(self.client, Client::Hyper(_));
        let info = response.extensions().get::<HttpInfo>();
        let info = info.filter(|_| is_direct)?;
        Some(info.remote_addr().ip())
    }

    /// Sends a request and waits for the head of its response. If the server guarantees over HTTP/2 that it has not processed the
    /// request, it is sent once more, over another connection.
    pub async fn send(
        &self,
        mut request: Request<Bytes>,
    ) -> Result<Response<HttpClientBody>, HttpError> {
        let client = match &self.client {
            Client::Hyper(client) => client,
            // Boxed: it must not enlarge the future of requests over connections.
            Client::Own(client) => return Box::pin(client.send(request)).await,
        };
        if let Some(value) = &self.proxy_authorization {
            let headers = request.headers_mut();
            headers.insert(PROXY_AUTHORIZATION, value.clone());
        }
        let server = request.uri().authority().cloned();
        let is_plain = matches!(client, HyperClient::Plain(_));
        // Boxed, because each future of a request has the room for it several times.
        let again = (!is_plain).then(|| Box::new(request.clone()));
        let mut sent = client.request(request.map(FullBody::new)).await;
        if let (Err(error), Some(request)) = (&sent, again) {
            if is_unprocessed(error) {
                if let Some(connection) = error.connect_info() {
                    connection.poison();
                }
                sent = client.request(request.map(FullBody::new)).await;
            }
        }
        let path = RequestPath {
            server: server.as_ref(),
            via: self.via.as_ref(),
            is_plain,
        };
        let response = sent.map_err(|error| request_error(&error, &path))?;
        if is_plain
            && matches!(self.via, Some(Via::Proxy(_)))
            && response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED
        {
            let reason = format!(
                "{path} did not answer: the proxy requires valid credentials (HTTP status 407)"
            );
            return Err(HttpError::unreachable(reason));
        }
        client.observe(&response);
        Ok(response.map(HttpClientBody::incoming))
    }

    /// As [`send`](Self::send), for a request without a timeout. It fails after more than `max_informational` informational
    /// responses (1xx), which a server could otherwise send without end.
    pub async fn send_without_timeout(
        &self,
        mut request: Request<Bytes>,
        max_informational: u32,
    ) -> Result<Response<HttpClientBody>, HttpError> {
        let exceeded = Arc::new(Notify::new());
        let (seen, signal) = (AtomicU32::new(0), Arc::clone(&exceeded));
        hyper::ext::on_informational(&mut request, move |_| {
            if seen.fetch_add(1, Ordering::Relaxed) >= max_informational {
                signal.notify_one();
            }
        });
        let (mut sent, mut exceeded) = (pin!(self.send(request)), pin!(exceeded.notified()));
        poll_fn(|context| {
            if exceeded.as_mut().poll(context).is_ready() {
                let reason = format!(
                    "the server sent more than {max_informational} informational responses"
                );
                return Poll::Ready(Err(HttpError::protocol(reason)));
            }
            sent.as_mut().poll(context)
        })
        .await
    }
}

pub(crate) fn client_builder(limits: &HttpClientLimits) -> Builder {
    let header_bytes = limits.header_bytes.max(MIN_HEADER_BYTES);
    let mut builder = hyper_util::client::legacy::Client::builder(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .http1_max_buf_size(header_bytes)
        .http2_max_header_list_size(header_bytes.try_into().unwrap_or(u32::MAX));
    ping_http2(&mut builder);
    builder
}

#[cfg(all(test, feature = "dial"))]
mod tests;
#[cfg(test)]
mod tls_tests;

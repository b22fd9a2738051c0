//! Connection pool with limits, TLS and proxies.

use std::error::Error as _;
use std::fmt;
use std::future::{Future, poll_fn};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use bytes::Bytes;
use http::header::PROXY_AUTHORIZATION;
use http::uri::Authority;
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpInfo;
use hyper_util::client::legacy::{Builder, Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::Notify;
use treenail_schema::internal::HttpClientLimits;

use crate::body::FullBody;
use crate::error::HttpError;
use crate::guard::{DialGuard, NotAllowed};
use crate::keep_alive::ping_http2;
use crate::proxy::{Connector, Route};

/// Maximum number of idle connections.
const MAX_IDLE_CONNECTIONS: usize = 32;
/// Minimum size of the header buffer that hyper accepts, in bytes.
const MIN_HEADER_BYTES: usize = 8 * 1024;

/// Pool of connections to one origin.
pub struct Pool {
    client: HyperClient,
    /// True if connections lead to the server itself, not to a proxy.
    is_direct: bool,
    /// Value of `Proxy-Authorization` for a proxy that forwards requests.
    proxy_authorization: Option<HeaderValue>,
}

/// The hyper client. Without TLS, the certificates of the system are not read.
enum HyperClient {
    Plain(Client<Connector, FullBody>),
    Tls(Client<HttpsConnector<Connector>, FullBody>),
    #[cfg(feature = "dial")]
    Dialed(Client<crate::dial::Dialer, FullBody>),
}

impl fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Pool").finish_non_exhaustive()
    }
}

impl Pool {
    /// Creates a pool for the origin of `url`. No connection is opened yet.
    pub fn new(url: &Uri, limits: &HttpClientLimits) -> Result<Self, HttpError> {
        Self::with_guard(url, limits, None)
    }

    /// As [`new`](Self::new), for a URL that a peer has named: only addresses that `guard` allows are dialled. Requests to
    /// others fail with [`HttpError::Invalid`].
    pub fn guarded(
        url: &Uri,
        limits: &HttpClientLimits,
        guard: Arc<dyn DialGuard>,
    ) -> Result<Self, HttpError> {
        Self::with_guard(url, limits, Some(guard))
    }

    /// As [`new`](Self::new), over connections that `dial` opens in place of sockets.
    #[cfg(feature = "dial")]
    pub fn dialed(limits: &HttpClientLimits, dial: Arc<dyn crate::dial::Dial>) -> Self {
        let client = client_builder(limits).build(crate::dial::Dialer(dial));
        Self {
            client: HyperClient::Dialed(client),
            is_direct: false,
            proxy_authorization: None,
        }
    }

    fn with_guard(
        url: &Uri,
        limits: &HttpClientLimits,
        guard: Option<Arc<dyn DialGuard>>,
    ) -> Result<Self, HttpError> {
        let route = Route::to(url)?;
        let is_direct = matches!(route, Route::Direct);
        let proxy_authorization = route.request_authorization();
        let connector = Connector::new(route, limits.connect_timeout).guarded(guard);
        let builder = client_builder(limits);
        let client = if url.scheme_str() == Some("https") {
            let provider = rustls::crypto::ring::default_provider();
            let tls = HttpsConnectorBuilder::new()
                .with_provider_and_native_roots(provider)
                .map_err(|error| {
                    let error = format!("could not read the certificates of this system: {error}");
                    HttpError::unreachable(error)
                })?;
            let tls = tls.https_only().enable_all_versions();
            HyperClient::Tls(builder.build(tls.wrap_connector(connector)))
        } else {
            HyperClient::Plain(builder.build(connector))
        };
        Ok(Self {
            client,
            is_direct,
            proxy_authorization,
        })
    }

    /// Returns the address of the server that sent a response; `None` behind a proxy.
    pub fn peer_address<B>(&self, response: &Response<B>) -> Option<IpAddr> {
        let info = response.extensions().get::<HttpInfo>();
        let info = info.filter(|_| self.is_direct)?;
        Some(info.remote_addr().ip())
    }

    /// Sends a request and waits for the head of its response.
    pub async fn send(&self, mut request: Request<Bytes>) -> Result<Response<Incoming>, HttpError> {
        if let Some(value) = &self.proxy_authorization {
            let headers = request.headers_mut();
            headers.insert(PROXY_AUTHORIZATION, value.clone());
        }
        let authority = request.uri().authority().cloned();
        let request = request.map(FullBody::new);
        let sent = match &self.client {
            HyperClient::Plain(client) => client.request(request),
            HyperClient::Tls(client) => client.request(request),
            #[cfg(feature = "dial")]
            HyperClient::Dialed(client) => client.request(request),
        };
        let is_plain = !matches!(self.client, HyperClient::Tls(_));
        sent.await
            .map_err(|error| connection_error(&error, authority.as_ref(), is_plain))
    }

    /// As [`send`](Self::send), for a request without a timeout. It fails after more than `max_informational` informational
    /// responses (1xx), which a server could otherwise send without end.
    pub async fn send_without_timeout(
        &self,
        mut request: Request<Bytes>,
        max_informational: u32,
    ) -> Result<Response<Incoming>, HttpError> {
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
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_max_idle_per_host(MAX_IDLE_CONNECTIONS)
        .http1_max_buf_size(header_bytes)
        .http2_max_header_list_size(header_bytes.try_into().unwrap_or(u32::MAX));
    ping_http2(&mut builder);
    builder
}

/// Converts an error of hyper with all its sources. None of them contains text from the server.
fn connection_error(error: &Error, authority: Option<&Authority>, is_plain: bool) -> HttpError {
    // The port, but no user name and no password.
    let address = authority.map_or("", |authority| {
        let text = authority.as_str();
        text.rsplit_once('@').map_or(text, |(_, address)| address)
    });
    let (mut reason, kind): (_, fn(String) -> HttpError) = if error.is_connect() {
        let reason = format!("no connection to the server at {address}");
        (reason, HttpError::unreachable)
    } else {
        let reason = format!("the server at {address} did not answer");
        (reason, HttpError::closed)
    };
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(NotAllowed(reason)) = cause.downcast_ref() {
            return HttpError::invalid(&**reason);
        }
        if is_invalid_tls(cause) {
            return kind(format!(
                "{reason}: its answer is not TLS; use `http://` in the URL if it serves plain HTTP"
            ));
        }
        reason = format!("{reason}: {cause}");
        if is_plain && is_invalid_http(cause) {
            reason.push_str("; use `https://` in the URL if it serves TLS");
        }
        source = cause.source();
    }
    kind(reason)
}

/// Returns true if the peer has sent something that is not TLS, for example a response of plain HTTP.
fn is_invalid_tls(cause: &(dyn std::error::Error + 'static)) -> bool {
    let mut cause = cause;
    // I/O errors are nested, and do not name the inner one as their source.
    while let Some(error) = cause.downcast_ref::<std::io::Error>() {
        match error.get_ref() {
            Some(inner) => cause = inner,
            None => return false,
        }
    }
    matches!(cause.downcast_ref(), Some(rustls::Error::InvalidMessage(_)))
}

/// Returns true if the peer has sent something that is not HTTP, for example an alert of TLS.
fn is_invalid_http(cause: &(dyn std::error::Error + 'static)) -> bool {
    let error = cause.downcast_ref::<hyper::Error>();
    error.is_some_and(hyper::Error::is_parse)
}

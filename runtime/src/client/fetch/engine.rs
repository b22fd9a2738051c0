//! The HTTP library, set up with bounds: connections that are kept, TLS, proxies.

use std::error::Error as _;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Poll;

use bytes::Bytes;
use http::header::PROXY_AUTHORIZATION;
use http::{HeaderValue, Request, Response, Uri};
use hyper::body::Incoming;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::{Builder, Client, Error};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tokio::sync::Notify;

use crate::client::fetch::body::Whole;
use crate::client::fetch::proxy::{Connector, Route};
use crate::client::{ClientError, ClientLimits};

/// Connections that are idle are kept up to this number.
const IDLE: usize = 32;
/// The least that the library takes.
const LEAST: usize = 8 * 1024;

/// Sends requests to one origin.
pub struct Engine {
    client: Connections,
    /// What a proxy that gets whole requests wants to see in each.
    proxy_authorization: Option<HeaderValue>,
}

/// Without TLS, nobody has to be trusted: then the certificates of the system are not read.
enum Connections {
    Plain(Client<Connector, Whole>),
    Tls(Client<HttpsConnector<Connector>, Whole>),
}

impl fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Engine").finish_non_exhaustive()
    }
}

impl Engine {
    /// Connections to the origin of `url`, of which none is opened yet.
    pub fn new(url: &Uri, limits: &ClientLimits) -> Result<Self, ClientError> {
        let route = Route::to(url)?;
        let proxy_authorization = route.authorization_of_requests();
        let connector = Connector::new(route, limits.http.connect_timeout);
        let builder = bounded(limits);
        let client = if url.scheme_str() == Some("https") {
            let provider = rustls::crypto::ring::default_provider();
            let tls = HttpsConnectorBuilder::new()
                .with_provider_and_native_roots(provider)
                .map_err(|error| {
                    let error = format!("the certificates of this system cannot be read: {error}");
                    ClientError::closed(error)
                })?;
            let tls = tls.https_only().enable_all_versions();
            Connections::Tls(builder.build(tls.wrap_connector(connector)))
        } else {
            Connections::Plain(builder.build(connector))
        };
        Ok(Self {
            client,
            proxy_authorization,
        })
    }

    /// Sends a request, and waits for the head of its response.
    pub async fn send(
        &self,
        mut request: Request<Bytes>,
    ) -> Result<Response<Incoming>, ClientError> {
        if let Some(value) = &self.proxy_authorization {
            let headers = request.headers_mut();
            headers.insert(PROXY_AUTHORIZATION, value.clone());
        }
        let request = request.map(Whole::new);
        let sent = match &self.client {
            Connections::Plain(client) => client.request(request),
            Connections::Tls(client) => client.request(request),
        };
        sent.await.map_err(|error| failure(&error))
    }
}

impl Engine {
    /// [`send`](Self::send) for a request that no time bounds: it fails after more than `most` informational responses (1xx),
    /// which a server could send without end.
    pub(crate) async fn send_patiently(
        &self,
        mut request: Request<Bytes>,
        most: u32,
    ) -> Result<Response<Incoming>, ClientError> {
        let exceeded = Arc::new(Notify::new());
        let (seen, signal) = (AtomicU32::new(0), Arc::clone(&exceeded));
        hyper::ext::on_informational(&mut request, move |_| {
            if seen.fetch_add(1, Ordering::Relaxed) >= most {
                signal.notify_one();
            }
        });
        let (mut sent, mut exceeded) = (pin!(self.send(request)), pin!(exceeded.notified()));
        poll_fn(|context| {
            if exceeded.as_mut().poll(context).is_ready() {
                let why = format!("the server has sent more than {most} informational responses");
                return Poll::Ready(Err(ClientError::protocol(why)));
            }
            sent.as_mut().poll(context)
        })
        .await
    }
}

fn bounded(limits: &ClientLimits) -> Builder {
    let header_bytes = limits.http.header_bytes.max(LEAST);
    let mut builder = Client::builder(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_max_idle_per_host(IDLE)
        .http1_max_buf_size(header_bytes)
        .http2_max_header_list_size(header_bytes.try_into().unwrap_or(u32::MAX));
    builder
}

/// Why there is no response, with all that the library says of it, which is no text of the server.
fn failure(error: &Error) -> ClientError {
    let what = if error.is_connect() {
        "no connection to the server"
    } else {
        "the server did not answer"
    };
    let mut reason = what.to_owned();
    let mut source = error.source();
    while let Some(cause) = source {
        reason = format!("{reason}: {cause}");
        source = cause.source();
    }
    ClientError::closed(reason)
}

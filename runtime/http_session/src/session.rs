//! Session over Streamable HTTP.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use tokio::runtime::Handle;
use treenail_runtime::client::{
    ClientError, HttpAuthorization, IncomingHandler, Session, SessionFuture, SessionNotification,
    SessionRequest, TransportKind,
};
use treenail_runtime::internal::timeout::timeout;
use treenail_schema::{JsonObject, Revision};

use crate::builder::HttpSessionBuilder;
use crate::inner::{Inner, closed};
use crate::response::HttpResponse;
use crate::sender::Parts;
use crate::{exchange, get_stream, headers, message};

/// A session over HTTP: Streamable HTTP of every revision, and HTTP+SSE of 2024-11-05 for servers that support nothing else.
///
/// - Each message is a separate HTTP request. Connections are pooled, and HTTP/2 is used where the server supports it.
/// - *Modern era*: the session is stateless. Dropping the future of a request closes its stream, which cancels the request.
///   A stream that breaks off fails its request.
/// - *Legacy era*: the client sends the session id of the server, and keeps a stream open for messages that belong to no
///   request. Streams that break off are resumed ([`HttpClientLimits::resume_attempts`]). The answer of
///   a user or a model to the server is sent again as often, if a failure may pass; the call that waits for it fails if it does not arrive.
///   Dropping the future of a request sends `notifications/cancelled`. After the end of the session (status 404, or 400 for a ping too), messages fail with
///   [`ClientError::SessionExpired`] until `initialize` and `notifications/initialized` have started another one. With HTTP+SSE, the
///   session ends with its stream. A session that is dropped without `close` is deleted in the background, if a Tokio runtime is there.
/// - Connections are those of the built-in client, or of one that [`HttpSessionBuilder::http_client`] sets. The other items about connections
///   concern the former.
/// - TLS trusts the certificates of the system, or those in `SSL_CERT_FILE`. [`HttpSessionBuilder::tls`] sets others.
/// - The environment variables `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` configure a proxy. Loopback addresses
///   never use one.
/// - Redirects within the origin that preserve the method (307, 308) are followed, up to [`HttpClientLimits::redirects`].
///   Other redirects are errors.
/// - Compressed responses are rejected. Of a compressed error, only the status and the headers are read.
/// - A connection whose path has vanished ends 50 s after its last byte: HTTP/2 connections are pinged, and sockets are probed
///   by TCP. Streams on it break off, and further requests open another one.
///
/// The server must accept a notification within [`ClientLimits::request_timeout`]. The caller bounds the duration of a
/// request.
///
/// Requests need a Tokio runtime with IO and time.
///
/// ```
/// use treenail::Server;
/// use treenail::client::{HttpSession, Session, SessionRequest};
/// use treenail::http::ServeHttp;
/// use treenail::schema::Revision;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::builder("demo", "1.0.0").build()?;
/// let http = server.bind_http("127.0.0.1:0").await?;
/// let url = format!("http://{}/mcp", http.local_addr());
/// tokio::spawn(http.serve());
///
/// let session = HttpSession::builder(url).header("authorization", "Bearer secret").build()?;
/// let params = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
///     "io.modelcontextprotocol/clientCapabilities":{}}}"#;
/// let mut request = SessionRequest::new(1, "server/discover", params.to_owned());
/// request.revision = Some(Revision::LATEST);
/// let result = session.request(request).await?;
/// assert!(result.contains("supportedVersions"));
/// session.close().await?;
/// # Ok(())
/// # }
/// ```
///
/// [`HttpClientLimits::redirects`]: treenail_runtime::client::HttpClientLimits::redirects
/// [`HttpClientLimits::resume_attempts`]: treenail_runtime::client::HttpClientLimits::resume_attempts
/// [`ClientLimits::request_timeout`]: treenail_runtime::client::ClientLimits::request_timeout
pub struct HttpSession(pub(crate) Arc<Inner>);

impl fmt::Debug for HttpSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl HttpSession {
    /// Returns a builder of a session with the server at `url`, such as `https://example.com/mcp`.
    pub fn builder(url: impl Into<String>) -> HttpSessionBuilder {
        HttpSessionBuilder::new(url.into())
    }
}

impl Session for HttpSession {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.0.dispatcher.set_handler(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        let exchange = async move {
            let _permit = if request.counts_as_in_flight() {
                Some(self.0.permits.acquire().await.map_err(|_| closed())?)
            } else {
                None
            };
            match request.revision.filter(|revision| revision.is_modern()) {
                Some(revision) => exchange::send_modern(&self.0, &request, revision).await,
                // Boxed, because it is larger than that of the modern era.
                None => Box::pin(exchange::send_legacy(&self.0, &request)).await,
            }
        };
        Box::pin(async move {
            let answer = self.0.state.while_open(exchange).await;
            answer.unwrap_or_else(|| Err(closed()))
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            let limit = self.0.limits.request_timeout;
            // Boxed, because it has the whole exchange.
            let sent = timeout(limit, Box::pin(send_notification(&self.0, notification)));
            match self.0.state.while_open(sent).await {
                Some(sent) => sent?,
                None => Err(closed()),
            }
        })
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Http
    }

    fn credentials_version(&self) -> u64 {
        let authorization = self.0.sender.authorization.as_ref();
        authorization.map_or(0, HttpAuthorization::version)
    }

    fn extensions(&self) -> BTreeMap<String, JsonObject> {
        self.0.sender.extensions()
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            self.0.end().await;
            Ok(())
        })
    }
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        match Handle::try_current() {
            Ok(runtime) => drop(self.0.end_in_background(|| runtime)),
            // Without a runtime, the server learns nothing of it.
            Err(_) => drop(self.0.close()),
        }
    }
}

async fn send_notification(
    inner: &Arc<Inner>,
    notification: SessionNotification,
) -> Result<(), ClientError> {
    let method = &notification.method;
    let subject = (&notification).into();
    if let Some(revision) = notification
        .revision
        .filter(|one| Revision::is_modern(*one))
    {
        let response = inner.sender.post(&inner.sender.url, subject, || {
            let headers = headers::of_notification(method, revision)?;
            let body = message::notification(&notification);
            Ok(Parts { headers, body })
        });
        return Ok(HttpResponse::expect_success(response.await?).await?);
    }
    let state = inner.state.update_revision(notification.revision);
    let body = message::notification(&notification);
    inner.deliver(&state, subject, &body).await?;
    if method == "notifications/initialized" {
        let handshake = state.handshake;
        if !state.is_http_sse() {
            get_stream::open(inner, state).await;
        }
        inner.state.complete_handshake(handshake);
    }
    Ok(())
}

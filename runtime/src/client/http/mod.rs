//! A session over Streamable HTTP, for servers of all eras.
//!
//! A message goes through `message` (its body), `headers`, `send` and `engine` (the HTTP library); its response through `reply`
//! (status and type) and, if it is a stream, `events` and `sse`; and what comes out of those through `hear`, which finds out
//! whom it concerns. `exchange` is one request from its beginning to its end. What only the legacy era has is in `legacy`
//! (what is remembered), `standalone` (the stream of a session) and `older` (HTTP+SSE of 2024-11-05).

mod backoff;
mod builder;
mod events;
mod exchange;
mod headers;
mod hear;
mod legacy;
mod message;
mod older;
mod reply;
mod send;
mod shared;
mod standalone;

use std::fmt;
use std::sync::Arc;

use tokio::time::timeout;
use treenail_schema::Revision;

pub use self::builder::HttpSessionBuilder;
use self::reply::Reply;
use self::send::Parts;
use self::shared::{Shared, closed};
use crate::client::{
    ClientError, IncomingHandler, Session, SessionFuture, SessionNotification, SessionRequest,
    TransportKind,
};

/// A session over HTTP: Streamable HTTP of every revision, and HTTP+SSE of 2024-11-05 for servers that have nothing else.
///
/// - Each message is a request of its own; connections are kept and shared, HTTP/2 is spoken where the server can.
/// - *Modern era*: there is nothing to keep between requests. Dropping the future of a request closes its stream, which
///   cancels it. A stream that breaks off fails its request.
/// - *Legacy era*: the session that the server has begun is kept, and the stream of what it sends of its own accord is held
///   open. Streams that break off are taken up again where they were ([`HttpClientLimits::resume_attempts`]). Dropping the future
///   of a request sends `notifications/cancelled`. When the server does not know the session any more, requests fail with
///   [`ClientError::SessionExpired`] until `initialize` begins another one.
/// - TLS trusts whom the system trusts (`SSL_CERT_FILE` names others). `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and
///   `NO_PROXY` are heeded, but not for loopback addresses. Redirects within the origin
///   that keep the method (307, 308) are followed, up to [`HttpClientLimits::redirects`]; others are not. Compressed responses are refused.
///
/// A notification has to be accepted within [`ClientLimits::request_timeout`]; how long a request may take is for its caller
/// to say.
///
/// Requests need a Tokio runtime with IO and time.
///
/// ```
/// use treenail_runtime::Server;
/// use treenail_runtime::client::{HttpSession, Session, SessionRequest};
/// use treenail_runtime::schema::Revision;
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
/// [`HttpClientLimits::redirects`]: crate::client::HttpClientLimits::redirects
/// [`HttpClientLimits::resume_attempts`]: crate::client::HttpClientLimits::resume_attempts
/// [`ClientLimits::request_timeout`]: crate::client::ClientLimits::request_timeout
#[cfg(feature = "http-client")]
pub struct HttpSession(Arc<Shared>);

impl fmt::Debug for HttpSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl HttpSession {
    /// Describes a session with the server at `url`, such as `https://example.com/mcp`.
    pub fn builder(url: impl Into<String>) -> HttpSessionBuilder {
        HttpSessionBuilder::new(url.into())
    }
}

impl Session for HttpSession {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.0.listen(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        let exchange = async move {
            let _turn = self.0.turns.acquire().await.map_err(|_| closed())?;
            match request.revision.filter(|revision| revision.is_modern()) {
                Some(revision) => exchange::modern(&self.0, &request, revision).await,
                None => exchange::legacy(&self.0, &request).await,
            }
        };
        Box::pin(async move {
            let answer = self.0.while_open(exchange).await;
            answer.unwrap_or_else(|| Err(closed()))
        })
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            let limit = self.0.limits.request_timeout;
            let sent = timeout(limit, notify(&self.0, notification));
            match self.0.while_open(sent).await {
                Some(sent) => sent.unwrap_or(Err(ClientError::Timeout(limit))),
                None => Err(closed()),
            }
        })
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Http
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async move {
            if let Some(standing) = self.0.end() {
                if standing.session.is_some() {
                    self.0.delete(&standing).await;
                }
            }
            Ok(())
        })
    }
}

impl Drop for HttpSession {
    fn drop(&mut self) {
        self.0.end();
    }
}

async fn notify(
    shared: &Arc<Shared>,
    notification: SessionNotification,
) -> Result<(), ClientError> {
    let method = &notification.method;
    if let Some(revision) = notification
        .revision
        .filter(|one| Revision::is_modern(*one))
    {
        let response = shared.post(&shared.url, || {
            let headers = headers::of_notification(method, revision)?;
            let body = message::notification(&notification);
            Ok(Parts { headers, body })
        });
        return Ok(Reply::accepted(response.await?).await?);
    }
    let standing = shared.standing(notification.revision);
    let body = message::notification(&notification);
    shared.deliver(&standing, body).await?;
    if method == "notifications/initialized" && !standing.is_older() {
        standalone::begin(shared, standing).await;
    }
    Ok(())
}

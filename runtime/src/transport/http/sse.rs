//! HTTP+SSE at its two paths, beside the endpoint: what HTTP asks of a request there.

use std::sync::Arc;

use http::request::Parts;
use http::{Method, Response, StatusCode};
use http_body::Body;
use treenail_schema::Revision;
use treenail_schema::method::{self, Direction};

use crate::transport::http::checks::{check_accept, check_content};
use crate::transport::http::legacy::{Place, SsePaths};
use crate::transport::http::reply::{HttpBody, Refusal};
use crate::transport::http::service::HttpService;
use crate::transport::http::{body, modern};
use crate::wire::{self, Invalid, Message, RpcError, parse};

impl HttpService {
    /// Serves clients that know only the transport of revision 2024-11-05, HTTP+SSE, at two paths beside the endpoint. Off
    /// unless it is called: the protocol has deprecated that transport, and all newer clients use the endpoint.
    ///
    /// The client opens the stream, is told there where to post its messages, and gets the answers on the stream; closing
    /// that ends the session and its calls. Any revision with a handshake will do. The paths are those that the service
    /// sees, and they must not be that of the endpoint.
    ///
    /// ```
    /// use treenail_runtime::{HttpService, SsePaths, Server};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> treenail_runtime::Result<()> {
    /// let server = Server::builder("demo", "1.0.0").build()?;
    /// let service = HttpService::new(server.clone()).legacy_sse(SsePaths::default());
    /// // `/mcp`, and for old clients `/sse` and `/messages`.
    /// let http = service.bind("127.0.0.1:0").await?;
    /// # server.close();
    /// http.serve().await
    /// # }
    /// ```
    #[must_use]
    pub fn legacy_sse(mut self, paths: SsePaths) -> Self {
        self.sse = Some(Arc::new(paths));
        self
    }

    pub(super) async fn accept_sse<B: Body>(
        &self,
        parts: Parts,
        body: B,
        paths: &SsePaths,
        place: Place,
    ) -> Result<Response<HttpBody>, Refusal> {
        match (place, &parts.method) {
            (Place::Stream, &Method::GET) => {
                check_accept(&parts.headers, &["text/event-stream"])?;
                return self.legacy(parts).open_sse(paths);
            }
            (Place::Messages, &Method::POST) => {}
            (Place::Stream, _) => return Err(Refusal::method("GET")),
            (Place::Messages, _) => return Err(Refusal::method("POST")),
        }
        check_content(&parts.headers)?;
        let limits = self.server().limits();
        let bytes = body::read(body, limits).await?;
        match parse(&bytes, limits) {
            wire::Body::One(Err(Invalid { id, error })) => {
                Err(Refusal::of(StatusCode::BAD_REQUEST, id, error))
            }
            // A client that finds out which era the server speaks; this transport has the methods of the legacy era only.
            wire::Body::One(Ok(Message::Request(id, envelope))) if !is_legacy(&envelope.method) => {
                let error = RpcError::method_not_found(&envelope.method, Revision::LATEST_LEGACY);
                self.legacy(parts).refuse_sse(id, &error).await
            }
            wire::Body::One(Ok(message)) if modern::is_modern(&parts.headers, &message) => {
                let why = "this transport has a handshake; the modern era is served at the endpoint of Streamable HTTP";
                Err(Refusal::new(StatusCode::BAD_REQUEST, why))
            }
            body => self.legacy(parts).post_sse(body).await,
        }
    }

    /// What of HTTP+SSE is at a path.
    pub(super) fn sse(&self, path: &str) -> Option<(&SsePaths, Place)> {
        let paths = self.sse.as_deref()?;
        Some((paths, paths.place(path)?))
    }
}

/// Whether a method can be called on this transport at all.
fn is_legacy(method: &str) -> bool {
    let exists = |revision: &Revision| {
        !revision.is_modern() && method::exists(method, Direction::ClientToServer, *revision)
    };
    let modern = method::exists(method, Direction::ClientToServer, Revision::LATEST);
    !modern || Revision::ALL.iter().any(exists)
}

//! HTTP+SSE at its two paths: HTTP checks of its requests.

use std::pin::Pin;

use http::StatusCode;
use http::request::Parts;
use http_body::Body;
use treenail_runtime::internal::{Message, parse};
use treenail_runtime::{RpcError, internal};
use treenail_schema::Revision;
use treenail_schema::method::{self, Direction};

use crate::body::{BodyError, read_body};
use crate::checks::check_accept;
use crate::legacy::{SseEndpoint, SsePaths};
use crate::modern;
use crate::request_headers::RequestHeaders;
use crate::response::{Rejection, Reply};
use crate::service::HttpService;

impl HttpService {
    /// Serves clients that only support HTTP+SSE, the transport of revision 2024-11-05, at two paths beside the endpoint.
    ///
    /// Off by default: the protocol has deprecated that transport, and all newer clients use the endpoint.
    ///
    /// The client opens the stream, receives the path for its messages there, and gets all responses on the stream. Closing
    /// the stream ends the session and its calls. All revisions with a handshake are supported. The paths are those that the
    /// service receives, and must differ from that of the endpoint.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::http::{HttpService, SsePaths};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> treenail::Result<()> {
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
        self.parts_mut().sse = Some(paths);
        self
    }

    /// Handles a request at one of the two paths.
    pub(super) async fn handle_sse<B: Body>(
        &self,
        parts: Parts,
        body: Pin<&mut B>,
        (paths, endpoint): (&SsePaths, SseEndpoint),
    ) -> Result<Reply, Rejection> {
        let headers = RequestHeaders::read(&parts.headers);
        if endpoint == SseEndpoint::Stream {
            check_accept(&headers, &["text/event-stream"])?;
            self.check_scopes(&parts, None)?;
            return self.legacy(parts, None).open_sse(paths).map(Reply::Ready);
        }
        let revision = headers.revision();
        let limits = self.server().limits();
        let bytes = match read_body(body, limits, &self.parts().read_timeout, || true).await {
            Ok(bytes) => bytes,
            Err(BodyError::TooLong(head)) => {
                return Err(self.legacy(parts, revision).reject_oversized_sse(&head));
            }
            Err(BodyError::Rejected(rejection)) => return Err(rejection),
        };
        let body = parse(&bytes, limits);
        self.check_scopes(&parts, Some(&body))?;
        match body {
            internal::Body::One(Err(invalid)) => {
                Err(self.legacy(parts, revision).reject_invalid_sse(invalid))
            }
            // A client that probes the era of the server. This transport supports only methods of the legacy era.
            internal::Body::One(Ok(Message::Request(id, envelope)))
                if !is_legacy(&envelope.method) =>
            {
                let error = RpcError::method_not_found(&envelope.method, Revision::LATEST_LEGACY);
                self.legacy(parts, None).reject_sse(id, &error)
            }
            internal::Body::One(Ok(message))
                if revision.is_some_and(Revision::is_modern)
                    || modern::states_version(&message) =>
            {
                let message = "HTTP+SSE requires a handshake; modern requests are served at the endpoint of Streamable HTTP";
                Err(Rejection::new(StatusCode::BAD_REQUEST, message))
            }
            body => self.legacy(parts, None).post_sse(body),
        }
    }

    /// Returns the HTTP+SSE endpoint at a path, if there is one.
    pub(super) fn sse_endpoint(&self, path: &str) -> Option<(&SsePaths, SseEndpoint)> {
        let paths = self.parts().sse.as_ref()?;
        Some((paths, paths.endpoint_at(path)?))
    }
}

/// Returns true unless a method exists only in the modern era.
fn is_legacy(method: &str) -> bool {
    let exists = |revision: &Revision| {
        !revision.is_modern() && method::exists(method, Direction::ClientToServer, *revision)
    };
    let modern = method::exists(method, Direction::ClientToServer, Revision::LATEST);
    !modern || Revision::ALL.iter().any(exists)
}

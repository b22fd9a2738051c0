//! Cross-origin requests (CORS): pages of listed origins may use the server in a browser.

use std::sync::Arc;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use crate::transport::http::origin::normalized_origin;
use crate::transport::http::reply::{HttpBody, json};
use crate::transport::http::server::HttpServer;
use crate::transport::http::service::HttpService;

/// Headers that a page may send, beside all that start with `mcp-`.
const REQUEST_HEADERS: [&str; 4] = ["accept", "authorization", "content-type", "last-event-id"];
/// Headers that a page may read, beside those that every page may.
const RESPONSE_HEADERS: &str =
    "mcp-session-id, mcp-protocol-version, www-authenticate, retry-after";
const METHODS: &str = "GET, POST, DELETE";
/// Seconds for which a browser may remember the answer to a preflight request; browsers allow no more.
const MAX_AGE: &str = "7200";

/// The origins whose pages may use the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Cors {
    /// As browsers write them.
    origins: Vec<String>,
}

impl HttpService {
    /// Lets pages of an origin, such as `https://app.example.com`, use the server in a browser: answers their preflight
    /// requests, and lets them read the answers (CORS). No page may unless this is called; it can be called for several
    /// origins. The origin is compared as a whole, with its scheme and port, so there are no wildcards.
    ///
    /// It includes [`allow_origin`](HttpService::allow_origin). Pages may send `Authorization`, `Content-Type`, `Accept`,
    /// `Last-Event-ID` and all headers that start with `Mcp-`, and read `Mcp-Session-Id`, `Mcp-Protocol-Version`,
    /// `WWW-Authenticate` and `Retry-After`; cookies are neither sent nor taken.
    ///
    /// Preflight requests carry no credentials. A layer around the service that authenticates has to let requests with the
    /// method `OPTIONS` pass; what it answers itself has no headers for browsers. If that matters, use a CORS layer outside
    /// of it, and [`allow_origin`](HttpService::allow_origin) here.
    ///
    /// ```
    /// use treenail_runtime::{Server, http_service};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> treenail_runtime::Result<()> {
    /// let server = Server::builder("demo", "1.0.0").build()?;
    /// let service = http_service(server.clone()).allow_cors_origin("https://app.example.com");
    /// # server.close();
    /// service.bind("127.0.0.1:0").await?.serve().await
    /// # }
    /// ```
    #[must_use]
    pub fn allow_cors_origin(self, origin: impl AsRef<str>) -> Self {
        let origin = origin.as_ref();
        let Some(normalized) = normalized_origin(origin) else {
            tracing::warn!(origin, "not an origin such as `https://app.example.com`");
            return self;
        };
        let mut service = self.allow_origin(&normalized);
        let cors = service.cors.get_or_insert_default();
        Arc::make_mut(cors).origins.push(normalized);
        service
    }
}

impl HttpServer {
    /// Lets pages of an origin use the server in a browser; see [`HttpService::allow_cors_origin`].
    pub fn allow_cors_origin(self, origin: impl AsRef<str>) -> Self {
        self.map_service(|service| service.allow_cors_origin(origin))
    }
}

impl Cors {
    /// The origin of a request, if its pages may use the server.
    pub(super) fn origin_of(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none())?;
        let known = |one: &String| one.as_bytes() == origin.as_bytes();
        self.origins.iter().any(known).then(|| origin.clone())
    }

    /// Answers the question of a browser whether a page may send a request, if it is one.
    pub(super) fn preflight(&self, parts: &Parts) -> Option<Response<HttpBody>> {
        let headers = &parts.headers;
        let asks =
            parts.method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        (asks && self.origin_of(headers).is_some()).then(|| preflight(headers))
    }
}

fn preflight(headers: &HeaderMap) -> Response<HttpBody> {
    let mut response = json(StatusCode::NO_CONTENT, Vec::new());
    let answer = response.headers_mut();
    answer.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(METHODS),
    );
    answer.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    let varies = "access-control-request-method, access-control-request-headers";
    answer.append(VARY, HeaderValue::from_static(varies));
    // The arguments that are repeated in headers differ from tool to tool, so the names are those of the request.
    let wanted = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
    let wanted = wanted.filter_map(|names| names.to_str().ok());
    let allowed = wanted.flat_map(|names| names.split(',')).map(str::trim);
    let allowed: Vec<&str> = allowed.filter(|name| may_send(name)).collect();
    if let Ok(allowed) = HeaderValue::from_str(&allowed.join(", ")) {
        if !allowed.is_empty() {
            answer.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        }
    }
    response
}

/// Lets the page of `origin`, if there is one that may, read a response. Without one the response says still that it would be
/// another one for another origin, for caches.
pub(super) fn expose(response: &mut Response<HttpBody>, origin: Option<HeaderValue>) {
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static(RESPONSE_HEADERS),
        );
    }
}

/// Whether a page may send a header of this name.
fn may_send(name: &str) -> bool {
    let is_ours = name
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("mcp-"));
    let known = || {
        let mut names = REQUEST_HEADERS.iter();
        names.any(|known| known.eq_ignore_ascii_case(name))
    };
    (is_ours && http::HeaderName::from_bytes(name.as_bytes()).is_ok()) || known()
}

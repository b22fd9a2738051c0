//! Cross-origin resource sharing (CORS): web pages of allowed origins can use the server from a browser.

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode};

use crate::origin::normalized_origin;
use crate::response::{HttpBody, json_response};
use crate::server::HttpServer;
use crate::service::HttpService;

/// Request headers that a page may send, in addition to all that start with `mcp-`.
const REQUEST_HEADERS: [&str; 5] = [
    "accept",
    "authorization",
    "content-type",
    "dpop",
    "last-event-id",
];
/// Response headers that a page may read, in addition to the CORS-safelisted ones.
const RESPONSE_HEADERS: &str =
    "mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce, retry-after";
const METHODS: &str = "GET, POST, DELETE";
/// Seconds for which a browser may cache a preflight response. Chrome allows no more.
const PREFLIGHT_MAX_AGE: &str = "7200";

/// Origins whose pages may use the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Cors {
    /// Normalized as in the `Origin` header of browsers.
    origins: Vec<String>,
}

impl HttpService {
    /// Enables CORS for an origin such as `https://app.example.com`: its pages can use the server from a browser.
    ///
    /// The service responds to their preflight requests and permits them to read its responses. By default no origin is
    /// allowed. Call it once per origin. Origins are compared exactly, including scheme and port, without wildcards.
    ///
    /// It includes [`allow_origin`](HttpService::allow_origin). Pages may send `Authorization`, `DPoP`, `Content-Type`,
    /// `Accept`, `Last-Event-ID` and all headers that start with `Mcp-`, and read `Mcp-Session-Id`, `Mcp-Protocol-Version`,
    /// `WWW-Authenticate`, `DPoP-Nonce` and `Retry-After`. Cookies are not supported.
    ///
    /// Preflight requests carry no credentials, so an authentication layer around the service must let `OPTIONS` requests
    /// pass. Responses of that layer itself have no CORS headers. If pages need to read them, put a CORS layer outside of the
    /// authentication layer and use [`allow_origin`](HttpService::allow_origin) here.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::http::http_service;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> treenail::Result<()> {
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
            tracing::warn!(
                origin,
                "ignored an invalid origin; expected the form `https://app.example.com`"
            );
            return self;
        };
        let mut service = self.allow_origin(&normalized);
        let cors = service.parts_mut().cors.get_or_insert_default();
        cors.origins.push(normalized);
        service
    }
}

impl HttpServer {
    /// Enables CORS for an origin, see [`HttpService::allow_cors_origin`].
    pub fn allow_cors_origin(self, origin: impl AsRef<str>) -> Self {
        self.map_service(|service| service.allow_cors_origin(origin))
    }
}

impl Cors {
    /// Returns the origin of a request if it is an allowed one.
    pub(super) fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = origins.next().filter(|_| origins.next().is_none())?;
        let is_same = |allowed: &String| allowed.as_bytes() == origin.as_bytes();
        self.origins.iter().any(is_same).then(|| origin.clone())
    }

    /// Returns the response to a preflight request, if it is one from an allowed origin.
    pub(super) fn preflight(&self, parts: &Parts) -> Option<Response<HttpBody>> {
        let headers = &parts.headers;
        let is_preflight =
            parts.method == Method::OPTIONS && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD);
        (is_preflight && self.allowed_origin(headers).is_some())
            .then(|| preflight_response(headers))
    }
}

fn preflight_response(headers: &HeaderMap) -> Response<HttpBody> {
    let mut response = json_response(StatusCode::NO_CONTENT, Bytes::new());
    let response_headers = response.headers_mut();
    response_headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(METHODS),
    );
    response_headers.insert(
        ACCESS_CONTROL_MAX_AGE,
        HeaderValue::from_static(PREFLIGHT_MAX_AGE),
    );
    let varies = "access-control-request-method, access-control-request-headers";
    response_headers.append(VARY, HeaderValue::from_static(varies));
    // Header parameters differ from tool to tool, so the response repeats the allowed names of the request.
    let requested = headers.get_all(ACCESS_CONTROL_REQUEST_HEADERS).iter();
    let requested = requested.filter_map(|names| names.to_str().ok());
    let requested = requested.flat_map(|names| names.split(',')).map(str::trim);
    let allowed: Vec<&str> = requested.filter(|name| is_allowed_header(name)).collect();
    if let Ok(allowed) = HeaderValue::from_str(&allowed.join(", ")) {
        if !allowed.is_empty() {
            response_headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
        }
    }
    response
}

/// Adds the CORS headers for `origin` to a response.
///
/// Without an allowed origin it only adds `Vary`, because caches must not reuse the response for another origin.
pub(super) fn add_cors_headers(response: &mut Response<HttpBody>, origin: Option<HeaderValue>) {
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

/// Returns true if a page may send a header of this name.
fn is_allowed_header(name: &str) -> bool {
    let is_mcp_header = name
        .get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("mcp-"));
    let is_listed = || {
        let mut names = REQUEST_HEADERS.iter();
        names.any(|listed| listed.eq_ignore_ascii_case(name))
    };
    (is_mcp_header && http::HeaderName::from_bytes(name.as_bytes()).is_ok()) || is_listed()
}

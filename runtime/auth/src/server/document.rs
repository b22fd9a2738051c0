//! Metadata document of a protected resource (RFC 9728), and its service.

use std::convert::Infallible;
use std::fmt;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW,
    CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use serde_json::{Map, Value, json};
use tower_service::Service;
use treenail_http_server::HttpBody;

use super::dpop::Dpop;
use super::public_url::PublicUrl;
use super::resource_server::ResourceServer;
use crate::Scopes;

/// A change of the authorization server is seen after 5 minutes.
const CACHING: &str = "public, max-age=300";

const METHODS: &str = "GET, HEAD, OPTIONS";

/// Metadata document with its paths.
#[derive(Debug)]
pub(super) struct Document {
    resource: PublicUrl,
    json: Bytes,
}

impl Document {
    pub(super) fn new(resource: &PublicUrl, metadata: &Value) -> Self {
        Self {
            resource: resource.clone(),
            json: metadata.to_string().into(),
        }
    }

    /// Returns true if the document is at `path`.
    pub(super) fn is_at(&self, path: &str) -> bool {
        self.resource.is_metadata_path(path)
    }

    /// Responds to a request for the document.
    pub(super) fn respond(&self, method: &Method) -> Response<Bytes> {
        let (status, body) = match *method {
            Method::GET => (StatusCode::OK, self.json.clone()),
            Method::HEAD => (StatusCode::OK, Bytes::new()),
            Method::OPTIONS => (StatusCode::NO_CONTENT, Bytes::new()),
            _ => (StatusCode::METHOD_NOT_ALLOWED, Bytes::new()),
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        let headers = response.headers_mut();
        let mut set =
            |name: HeaderName, value| headers.insert(name, HeaderValue::from_static(value));
        set(ACCESS_CONTROL_ALLOW_ORIGIN, "*");
        if status == StatusCode::OK {
            set(CONTENT_TYPE, "application/json");
            set(CACHE_CONTROL, CACHING);
            set(X_CONTENT_TYPE_OPTIONS, "nosniff");
        } else {
            set(ALLOW, METHODS);
            set(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
            set(ACCESS_CONTROL_ALLOW_HEADERS, "*");
        }
        response
    }
}

/// Returns the metadata of a resource.
pub(super) fn metadata(config: &ResourceServer, resource: &PublicUrl, basic: &Scopes) -> Value {
    let mut members = Map::new();
    let mut set = |name: &str, value: Value| members.insert(name.to_owned(), value);
    set("resource", resource.url.as_str().into());
    set("authorization_servers", json!(config.issuers));
    if !basic.is_empty() {
        set("scopes_supported", basic.iter().collect());
    }
    set("bearer_methods_supported", json!(["header"]));
    if let Some(name) = &config.name {
        set("resource_name", name.as_str().into());
    }
    if let Some(url) = &config.documentation {
        set("resource_documentation", url.as_str().into());
    }
    if let Some(dpop) = &config.dpop {
        set(
            "dpop_signing_alg_values_supported",
            json!(Dpop::algorithms()),
        );
        set(
            "dpop_bound_access_tokens_required",
            dpop.is_required().into(),
        );
    }
    members.into()
}

/// `tower` service for the metadata document of a resource, see
/// [`ResourceServer::metadata_service`](crate::ResourceServer::metadata_service).
///
/// It answers every path, never fails, and needs no token: the document is public.
#[cfg(feature = "authorization")]
#[derive(Clone)]
pub struct MetadataService(Arc<Document>);

impl MetadataService {
    pub(super) fn new(document: Arc<Document>) -> Self {
        Self(document)
    }

    /// Returns the path of the document, such as `/.well-known/oauth-protected-resource/mcp`.
    pub fn path(&self) -> &str {
        &self.0.resource.metadata_path
    }
}

impl fmt::Debug for MetadataService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MetadataService")
            .field("path", &self.path())
            .finish_non_exhaustive()
    }
}

impl<B> Service<Request<B>> for MetadataService {
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Ready<Result<Response<HttpBody>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        ready(Ok(self.0.respond(request.method()).map(HttpBody::from)))
    }
}

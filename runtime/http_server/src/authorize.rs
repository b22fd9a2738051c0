//! Interface of authorizers of HTTP requests.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::{HeaderName, Response};
use tokio::time::Instant;
use treenail_runtime::{Access, Extensions, Principal, Result, Server};

/// Headers with credentials. Functions and layers do not see them.
const CREDENTIALS: [HeaderName; 3] = [
    AUTHORIZATION,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("dpop"),
];

/// Future of [`HttpAuthorizer::authorize`]: the caller, or the complete response to a request that is refused.
pub type AuthorizeFuture<'a> =
    Pin<Box<dyn Future<Output = std::result::Result<Authorized, Response<Bytes>>> + Send + 'a>>;

/// Authorizer of all requests of an [`HttpService`](crate::HttpService), such as an OAuth resource server.
///
/// The service checks the host and the origin of a request before, and reads its body after it.
pub trait HttpAuthorizer: fmt::Debug + Send + Sync + 'static {
    /// Returns the public host of the endpoint. The service allows requests for it.
    fn host(&self) -> &str;

    /// Returns true if a public document of the authorizer is at `path`.
    fn serves(&self, path: &str) -> bool;

    /// Responds to a request at one of these paths. The request needs no credentials, and may be from any origin.
    fn document(&self, parts: &Parts) -> Response<Bytes>;

    /// Authorizes a request by its headers.
    fn authorize<'a>(&'a self, parts: &'a Parts) -> AuthorizeFuture<'a>;

    /// Responds to a request that needs more scopes than its caller has. `scopes` are all that it needs, sorted and separated
    /// by spaces.
    fn forbid(&self, caller: &Authorized, scopes: &str) -> Response<Bytes>;
}

/// A value that configures an authorizer, see [`HttpService::authorize`](crate::HttpService::authorize).
pub trait IntoHttpAuthorizer {
    /// Creates the authorizer of `server`.
    ///
    /// # Errors
    ///
    /// [`Error::Build`](treenail_runtime::Error::Build) if the configuration is invalid, or does not fit the server.
    fn into_authorizer(self, server: &Server) -> Result<Arc<dyn HttpAuthorizer>>;
}

/// Caller of an authorized request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Authorized {
    /// The identity of the caller. Sessions, subscriptions and request states of other callers are unknown to it.
    pub principal: Principal,
    /// The scopes of the caller.
    pub access: Access,
    /// Further values for the functions.
    pub extensions: Extensions,
    /// The time at which streams of the caller end, unless a later request extends it.
    pub expires: Option<Instant>,
}

impl Authorized {
    /// Returns a caller without an expiry and further values.
    pub fn new(principal: Principal, access: Access) -> Self {
        Self {
            principal,
            access,
            extensions: Extensions::new(),
            expires: None,
        }
    }
}

/// Authorizes a request, and removes its credentials. The error is the response to a request that is refused.
pub(super) async fn authorize_request(
    authorizer: &dyn HttpAuthorizer,
    parts: &mut Parts,
) -> std::result::Result<Authorized, Response<Bytes>> {
    let mut caller = authorizer.authorize(parts).await?;
    for name in &CREDENTIALS {
        parts.headers.remove(name);
    }
    caller.extensions.insert(caller.principal.clone());
    caller.extensions.insert(caller.access.clone());
    parts.extensions.insert(caller.principal.clone());
    parts.extensions.insert(caller.clone());
    Ok(caller)
}

/// Returns the time at which streams of the caller of a request end.
pub(super) fn expiry(parts: &Parts) -> Option<Instant> {
    parts.extensions.get::<Authorized>()?.expires
}

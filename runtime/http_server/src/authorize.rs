//! Interface of authorizers of HTTP requests.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use http::header::{AUTHORIZATION, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::{HeaderName, Response};
use tokio::time::Instant;
use treenail_runtime::internal::{deadline, system_time};
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
///
/// ```
/// use bytes::Bytes;
/// use http::header::AUTHORIZATION;
/// use http::request::Parts;
/// use http::{Response, StatusCode};
/// use treenail::context::Principal;
/// use treenail::http::{AuthorizeFuture, Authorized, HttpAuthorizer, http_service};
/// use treenail::scope::{Access, Authority, RequiredScopes};
/// use treenail::{Server, Value, json};
///
/// /// Accepts one key.
/// #[derive(Debug)]
/// struct ApiKey(&'static str);
///
/// /// Grants all scopes.
/// #[derive(Debug, Default)]
/// struct All(RequiredScopes);
///
/// impl Authority for All {
///     fn has_scope(&self, _: &str) -> bool {
///         true
///     }
///
///     fn base(&self) -> &RequiredScopes {
///         &self.0
///     }
///
///     fn refusal(&self, _: &str) -> Value {
///         json!({})
///     }
/// }
///
/// fn respond(status: StatusCode) -> Response<Bytes> {
///     let mut response = Response::default();
///     *response.status_mut() = status;
///     response
/// }
///
/// impl HttpAuthorizer for ApiKey {
///     fn host(&self) -> &str {
///         "mcp.example.com"
///     }
///
///     fn serves(&self, _: &str) -> bool {
///         false
///     }
///
///     fn document(&self, _: &Parts) -> Response<Bytes> {
///         respond(StatusCode::NOT_FOUND)
///     }
///
///     fn authorize<'a>(&'a self, parts: &'a Parts) -> AuthorizeFuture<'a> {
///         let header = parts.headers.get(AUTHORIZATION);
///         let caller = header.filter(|header| *header == self.0);
///         let access = Access::new(All::default());
///         let caller = caller.map(|_| Authorized::new(Principal::new("alice"), access));
///         Box::pin(async { caller.ok_or_else(|| respond(StatusCode::UNAUTHORIZED)) })
///     }
///
///     fn forbid(&self, _: &Authorized, _: &str) -> Response<Bytes> {
///         respond(StatusCode::FORBIDDEN)
///     }
/// }
///
/// let server = Server::builder("demo", "1.0.0").build()?;
/// let service = http_service(server).authorize(ApiKey("ApiKey secret"))?;
/// # let _ = service;
/// # Ok::<(), treenail::Error>(())
/// ```
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

impl<T: HttpAuthorizer + ?Sized> HttpAuthorizer for Arc<T> {
    fn host(&self) -> &str {
        (**self).host()
    }

    fn serves(&self, path: &str) -> bool {
        (**self).serves(path)
    }

    fn document(&self, parts: &Parts) -> Response<Bytes> {
        (**self).document(parts)
    }

    fn authorize<'a>(&'a self, parts: &'a Parts) -> AuthorizeFuture<'a> {
        (**self).authorize(parts)
    }

    fn forbid(&self, caller: &Authorized, scopes: &str) -> Response<Bytes> {
        (**self).forbid(caller, scopes)
    }
}

/// A value that configures an authorizer, see [`HttpService::authorize`](crate::HttpService::authorize).
///
/// An [`HttpAuthorizer`] is one, too.
pub trait IntoHttpAuthorizer {
    /// Creates the authorizer of `server`.
    ///
    /// # Errors
    ///
    /// [`Error::Build`](treenail_runtime::Error::Build) if the configuration is invalid, or does not fit the server.
    fn into_authorizer(self, server: &Server) -> Result<Arc<dyn HttpAuthorizer>>;
}

impl<A: HttpAuthorizer> IntoHttpAuthorizer for A {
    fn into_authorizer(self, _: &Server) -> Result<Arc<dyn HttpAuthorizer>> {
        Ok(Arc::new(self))
    }
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
    /// The time at which streams of the caller end, unless a later request extends it. The rest of the time is measured when the
    /// request is handled, after its body has been read. Later changes of the system clock have no effect.
    pub expires_at: Option<SystemTime>,
}

impl Authorized {
    /// Returns a caller without an expiry and further values.
    pub fn new(principal: Principal, access: Access) -> Self {
        Self {
            principal,
            access,
            extensions: Extensions::new(),
            expires_at: None,
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
    let expires_at = parts.extensions.get::<Authorized>()?.expires_at?;
    let left = expires_at.duration_since(system_time());
    Some(deadline::after(left.unwrap_or_default()))
}

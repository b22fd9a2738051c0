//! Authorization of requests: the interface of an authorizer, and its place among the checks of the service.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::{HeaderName, Response, StatusCode};
use http_body::Body;
use tokio::time::Instant;

use crate::error::{Error, Result};
use crate::extensions::{Extensions, Principal};
use crate::scope::{Access, INSUFFICIENT_SCOPE};
use crate::server::Server;
use crate::transport::http::response::{HttpBody, Rejection};
use crate::transport::http::server::HttpServer;
use crate::transport::http::service::HttpService;
use crate::wire::{self, Message, parse_element};

/// Headers with credentials. Functions and layers do not see them.
const CREDENTIALS: [HeaderName; 3] = [
    AUTHORIZATION,
    PROXY_AUTHORIZATION,
    HeaderName::from_static("dpop"),
];

/// Future of [`HttpAuthorizer::authorize`]: the caller, or the complete response to a request that is refused.
pub type AuthorizeFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Authorized, Response<Bytes>>> + Send + 'a>>;

/// Authorizer of all requests of an [`HttpService`], such as an OAuth resource server.
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

/// A value that configures an authorizer, see [`HttpService::authorize`].
pub trait IntoHttpAuthorizer {
    /// Creates the authorizer of `server`.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if the configuration is invalid, or does not fit the server.
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

impl HttpService {
    /// Requires authorization for all requests.
    ///
    /// A request is authorized after the check of its host and origin, and before its body is read. The headers with
    /// credentials are removed from the request that functions and layers see. Requests for the public host of the
    /// authorizer are allowed, and its documents are served at their paths.
    ///
    /// # Errors
    ///
    /// [`Error::Build`] if the authorizer cannot be created, or if the server lets users share cached lists, see
    /// [`ServerBuilder::cache_lists`](crate::ServerBuilder::cache_lists).
    pub fn authorize(mut self, authorization: impl IntoHttpAuthorizer) -> Result<Self> {
        let server = self.server();
        if server.shares_lists() {
            let message = "lists behind an authorization are private; build the server with `cache_lists(…, CacheScope::Private)`";
            return Err(Error::Build(message.to_owned()));
        }
        let authorizer = authorization.into_authorizer(server)?;
        self = self.allow_host(authorizer.host());
        self.authorizer = Some(authorizer);
        Ok(self)
    }

    /// Responds to a request for a public document of the authorizer.
    pub(super) fn document(&self, parts: &Parts) -> Result<Option<Response<HttpBody>>, Rejection> {
        let Some(authorizer) = &self.authorizer else {
            return Ok(None);
        };
        if !authorizer.serves(parts.uri.path()) {
            return Ok(None);
        }
        self.guard.check_host(&parts.headers, &parts.uri)?;
        Ok(Some(authorizer.document(parts).map(HttpBody::whole)))
    }

    /// Authorizes a request, and handles it.
    pub(super) async fn handle_authorized<B: Body>(
        &self,
        authorizer: &dyn HttpAuthorizer,
        mut parts: Parts,
        body: B,
    ) -> Result<Response<HttpBody>, Rejection> {
        let mut caller = match authorizer.authorize(&parts).await {
            Ok(caller) => caller,
            Err(response) => return Ok(response.map(HttpBody::whole)),
        };
        for name in &CREDENTIALS {
            parts.headers.remove(name);
        }
        caller.extensions.insert(caller.principal.clone());
        caller.extensions.insert(caller.access.clone());
        parts.extensions.insert(caller.principal.clone());
        parts.extensions.insert(caller.clone());
        let result = self.handle_checked(parts, body).await;
        let is_refusal = match &result {
            Ok(response) => response.body().error_code() == Some(INSUFFICIENT_SCOPE),
            Err(rejection) => rejection.status() == StatusCode::FORBIDDEN,
        };
        match caller.access.refused_scopes().filter(|_| is_refusal) {
            Some(scopes) => Ok(authorizer.forbid(&caller, &scopes).map(HttpBody::whole)),
            None => result,
        }
    }

    /// Checks the scopes that the messages of a body need, all of them at once.
    pub(super) fn check_scopes(
        &self,
        parts: &Parts,
        body: Option<&wire::Body<'_>>,
    ) -> Result<(), Rejection> {
        let Some(caller) = parts.extensions.get::<Authorized>() else {
            return Ok(());
        };
        let snapshot = self.server().snapshot();
        let required = |message: &Message<'_>| match message {
            Message::Request(_, envelope) => snapshot.required_scopes(envelope),
            Message::Notification(_) | Message::Response(..) => Vec::new(),
        };
        let required = match body {
            Some(wire::Body::One(Ok(message))) => required(message),
            Some(wire::Body::Batch(messages)) => {
                let limits = self.server().limits();
                // More messages are rejected.
                let messages = messages.iter().take(limits.batch_messages);
                let messages = messages.filter_map(|message| parse_element(message, limits).ok());
                messages.flat_map(|message| required(&message)).collect()
            }
            Some(wire::Body::One(Err(_))) => return Ok(()),
            None => Vec::new(),
        };
        let checked = caller.access.check_request(required);
        checked.map_err(|error| Rejection::with_error(StatusCode::FORBIDDEN, None, error))
    }
}

impl HttpServer {
    /// Requires authorization for all requests, see [`HttpService::authorize`].
    ///
    /// # Errors
    ///
    /// As that method.
    pub fn authorize(mut self, authorization: impl IntoHttpAuthorizer) -> Result<Self> {
        self.service = self.service.authorize(authorization)?;
        Ok(self)
    }
}

/// Returns the time at which streams of the caller of a request end.
pub(super) fn expiry(parts: &Parts) -> Option<Instant> {
    parts.extensions.get::<Authorized>()?.expires
}

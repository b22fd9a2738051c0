//! Requests of an HTTP service with an authorizer: their place among the checks, and the scopes that they need.

use http::request::Parts;
use http::{Response, StatusCode};

use crate::error::Error;
use crate::scope::INSUFFICIENT_SCOPE;
use crate::transport::http::authorize::{Authorized, IntoHttpAuthorizer};
use crate::transport::http::response::{HttpBody, Rejection};
use crate::transport::http::server::HttpServer;
use crate::transport::http::service::HttpService;
use crate::wire::{self, Message, parse_element, quoted, shortened};

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
    pub fn authorize(mut self, authorization: impl IntoHttpAuthorizer) -> crate::Result<Self> {
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
        Ok(Some(authorizer.document(parts).map(HttpBody::from)))
    }

    /// Replaces the error of a request whose caller lacks scopes by the response of the authorizer.
    pub(super) fn refuse_scopes(
        &self,
        caller: &Authorized,
        result: Result<Response<HttpBody>, Rejection>,
    ) -> Result<Response<HttpBody>, Rejection> {
        let is_refusal = match &result {
            Ok(response) => response.body().error_code() == Some(INSUFFICIENT_SCOPE),
            Err(rejection) => rejection.status() == StatusCode::FORBIDDEN,
        };
        let scopes = caller.access.refused_scopes().filter(|_| is_refusal);
        match (scopes, &self.authorizer) {
            (Some(scopes), Some(authorizer)) => {
                Ok(authorizer.forbid(caller, &scopes).map(HttpBody::from))
            }
            _ => result,
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
        // Scopes of hidden items must not be named; the connection checks those of items that the caller sees.
        let is_filtered = self.server().has_private_items();
        let required = |message: &Message<'_>| match message {
            Message::Request(_, envelope) if !is_filtered => snapshot.required_scopes(envelope),
            _ => Vec::new(),
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
        checked.map(drop).map_err(|error| {
            let (principal, operation) = (&caller.principal, body.map(operation));
            tracing::info!(%principal, operation, scopes = %error.message, "refused a request");
            Rejection::with_error(StatusCode::FORBIDDEN, None, error)
        })
    }
}

impl HttpServer {
    /// Requires authorization for all requests, see [`HttpService::authorize`].
    ///
    /// # Errors
    ///
    /// As that method.
    pub fn authorize(mut self, authorization: impl IntoHttpAuthorizer) -> crate::Result<Self> {
        self.service = self.service.authorize(authorization)?;
        Ok(self)
    }
}

/// Returns the method and the name of a request, for logs.
fn operation(body: &wire::Body<'_>) -> String {
    match body {
        wire::Body::One(Ok(Message::Request(_, envelope))) => {
            let name = envelope.params.name.map(shortened);
            format!("{} {}", quoted(&envelope.method), name.unwrap_or_default())
        }
        wire::Body::One(_) => "a message".to_owned(),
        wire::Body::Batch(_) => "a batch".to_owned(),
    }
}

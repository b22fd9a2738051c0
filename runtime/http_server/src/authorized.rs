//! Requests of an HTTP service with an authorizer: their place among the checks, and the scopes that they need.

use http::header::HOST;
use http::request::Parts;
use http::{Response, StatusCode};
use treenail_runtime::Error;
use treenail_runtime::internal::{Body, INSUFFICIENT_SCOPE, Message, parse_element};
use treenail_schema::internal::{quoted, shortened};

use crate::authorize::{Authorized, IntoHttpAuthorizer};
use crate::request_headers::Field;
use crate::response::{HttpBody, Rejection};
use crate::server::HttpServer;
use crate::service::HttpService;

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
    /// [`ServerBuilder::cache_lists`](treenail_runtime::ServerBuilder::cache_lists).
    pub fn authorize(
        mut self,
        authorization: impl IntoHttpAuthorizer,
    ) -> treenail_runtime::Result<Self> {
        let server = self.server();
        if server.shares_lists() {
            let message = "lists behind an authorization are private; build the server with `cache_lists(…, CacheScope::Private)`";
            return Err(Error::Build(message.to_owned()));
        }
        let authorizer = authorization.into_authorizer(server)?;
        self = self.allow_host(authorizer.host());
        self.parts_mut().authorizer = Some(authorizer);
        Ok(self)
    }

    /// Responds to a request for a public document of the authorizer.
    pub(super) fn document(&self, parts: &Parts) -> Result<Option<Response<HttpBody>>, Rejection> {
        let Some(authorizer) = &self.parts().authorizer else {
            return Ok(None);
        };
        if !authorizer.serves(parts.uri.path()) {
            return Ok(None);
        }
        let host = Field::find(&parts.headers, &HOST);
        self.parts().guard.check_host(host, &parts.uri)?;
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
        match (scopes, &self.parts().authorizer) {
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
        body: Option<&Body<'_>>,
    ) -> Result<(), Rejection> {
        let Some(caller) = parts.extensions.get::<Authorized>() else {
            return Ok(());
        };
        let limits = self.server().limits();
        let batch;
        let messages = match body {
            Some(Body::One(Ok(message))) => std::slice::from_ref(message),
            Some(Body::Batch(messages)) => {
                // More messages are rejected.
                let messages = messages.iter().take(limits.batch_messages);
                let messages = messages.filter_map(|message| parse_element(message, limits).ok());
                batch = messages.collect::<Vec<_>>();
                &batch
            }
            Some(Body::One(Err(_))) => return Ok(()),
            None => &[],
        };
        let requests = messages.iter().filter_map(|message| match message {
            Message::Request(_, envelope) => Some(envelope),
            _ => None,
        });
        let checked = self.server().check_scopes(&caller.access, requests);
        checked.map_err(|error| {
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
    pub fn authorize(
        mut self,
        authorization: impl IntoHttpAuthorizer,
    ) -> treenail_runtime::Result<Self> {
        self.service = self.service.authorize(authorization)?;
        Ok(self)
    }
}

/// Returns the method and the name of a request, for logs.
fn operation(body: &Body<'_>) -> String {
    match body {
        Body::One(Ok(Message::Request(_, envelope))) => {
            let name = envelope.params.name.map(shortened);
            format!("{} {}", quoted(&envelope.method), name.unwrap_or_default())
        }
        Body::One(_) => "a message".to_owned(),
        Body::Batch(_) => "a batch".to_owned(),
    }
}

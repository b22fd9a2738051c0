//! Credentials of sessions: the implementation of [`HttpAuthorization`], and the state of each server.
//!
//! `server` holds the tokens of one server. `attempt` reacts to the refusal of a request, within limits. `renew` refreshes tokens,
//! `authorize` obtains them by a grant after `discover` has found the authorization server, `authorized` is the outcome of that, and
//! `logout` revokes them. `status` and `report` describe them and the server.

mod attempt;
mod authorize;
mod authorized;
mod discover;
mod logout;
mod need;
mod network;
mod planned_scopes;
mod renew;
mod report;
mod server;
mod status;
mod step_ups;
mod tokens;
mod tries;

use std::collections::BTreeMap;

use http::{HeaderMap, StatusCode};
use treenail_http_client::response::is_unauthorized;
use treenail_runtime::client::{
    AuthorizationFuture, ClientError, HttpAttempt, HttpAuthorization, Refusal,
};

use treenail_schema::JsonObject;

pub use self::report::{AuthorizationReport, Finding, FindingLevel};
pub(super) use self::server::{Server, Servers};
pub use self::status::AuthorizationStatus;
use self::tries::Tries;
use super::dpop;
use super::oauth::OAuth;
use super::settings::Method;
use super::urls::may_receive_tokens;
use crate::AuthError;

impl HttpAuthorization for OAuth {
    fn authorize<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        headers: &'a mut HeaderMap,
    ) -> AuthorizationFuture<'a, ()> {
        Box::pin(async move {
            let authorized = self.add_token(request, headers).await;
            authorized.map_err(ClientError::authorization)
        })
    }

    fn observe(&self, request: &HttpAttempt<'_>, status: StatusCode, response: &HeaderMap) {
        if let Some(dpop) = &self.settings.dpop {
            dpop.nonces.observe(request.url, response);
        }
        let is_refused = is_unauthorized(status);
        let used = Tries::read(request).and_then(|tries| tries.used);
        if let (false, Some(used), Ok(server)) = (is_refused, used, self.server(request.server)) {
            server.accepted(used);
            if status.is_success() {
                server.succeeded(request.operation);
            }
        }
    }

    fn version(&self) -> u64 {
        self.servers.version()
    }

    fn refused<'a>(
        &'a self,
        request: &'a mut HttpAttempt<'_>,
        status: StatusCode,
        response: &'a HeaderMap,
    ) -> AuthorizationFuture<'a, Refusal> {
        Box::pin(async move {
            let reaction = self.react(request, status, response).await;
            reaction.map_err(ClientError::authorization)
        })
    }

    fn extensions(&self) -> BTreeMap<String, JsonObject> {
        let grant = match &self.settings.method {
            Method::Grant(grant) => grant.extension(),
            Method::Source(_) => None,
        };
        let dpop = self.settings.dpop.as_ref().map(|_| dpop::EXTENSION);
        let names = grant.into_iter().chain(dpop);
        names
            .map(|name| (name.to_owned(), JsonObject::new()))
            .collect()
    }
}

impl OAuth {
    async fn add_token(
        &self,
        request: &mut HttpAttempt<'_>,
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        match &self.settings.method {
            // The server may require no authorization. If it does, `react` fails.
            Method::Grant(_) if !may_receive_tokens(request.server) => {
                if self.servers.checked.get().is_none() {
                    self.settings.check()?;
                    if self.servers.checked.set(()).is_ok() {
                        let host = request.server.host();
                        tracing::warn!(host, "no token is sent over `http` to another computer");
                    }
                }
                Ok(())
            }
            Method::Grant(_) => {
                let server = self.server(request.server)?;
                attempt::use_tokens(&server, request, headers).await
            }
            Method::Source(source) => {
                let server = self.server(request.server)?;
                attempt::use_source(&server, &**source, request, headers).await
            }
        }
    }

    async fn react(
        &self,
        request: &mut HttpAttempt<'_>,
        status: StatusCode,
        response: &HeaderMap,
    ) -> Result<Refusal, AuthError> {
        if status != StatusCode::UNAUTHORIZED && !may_receive_tokens(request.server) {
            return Ok(Refusal::Final);
        }
        let server = self.server(request.server)?;
        match &self.settings.method {
            Method::Source(source) => attempt::source_refused(&**source, request, status).await,
            Method::Grant(_) => attempt::refused(&server, request, status, response).await,
        }
    }
}

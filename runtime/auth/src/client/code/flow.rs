//! The authorization code grant: one flow with a user.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::AuthorizationRequest;
use super::pkce::{Pkce, random_text};
use super::pushed::push;
use super::request::{FlowRecord, append, parameters};
use super::response::read_code;
use crate::client::grant::{Grant, GrantFuture, GrantRequest, Granted};
use crate::client::registration::{self, Registered};
use crate::client::settings::{MAX_FLOW_TIMEOUT, Settings};
use crate::client::token::error::is_refusal;
use crate::client::token::form::Form;
use crate::client::token::{Client, TokenEndpoint, TokenResponse, missing};
use crate::client::urls::check_redirect_uri;
use crate::client::user_agent::{UserAgent, UserAgentFlow};
use crate::{AuthError, Secret};

/// Authorization code grant, with the user of a user agent.
#[derive(Debug)]
pub(crate) struct CodeGrant(pub(crate) Box<dyn UserAgent>);

impl Grant for CodeGrant {
    fn check(&self, _: &Settings) -> Result<(), AuthError> {
        check_redirect_uri(&self.0.redirect_uri()).map(drop)
    }

    fn needs_user(&self) -> bool {
        true
    }

    fn grant_types(&self) -> &'static [&'static str] {
        &["authorization_code", "refresh_token"]
    }

    fn redirect_uris(&self) -> Vec<String> {
        vec![self.0.redirect_uri()]
    }

    fn obtain<'a>(&'a self, request: &'a GrantRequest<'a>) -> GrantFuture<'a, Granted> {
        Box::pin(async move {
            check_proof_key_support(request)?;
            let first = self.run(request).await;
            match first {
                // The authorization server has forgotten the client that it had registered.
                Err((error, Some(client_id))) if is_refusal(&error, "invalid_client") => {
                    let issuer = &request.metadata.issuer;
                    registration::forget(request.settings, issuer, &client_id).await?;
                    self.run(request).await.map_err(|(error, _)| error)
                }
                other => other.map_err(|(error, _)| error),
            }
        })
    }
}

impl CodeGrant {
    /// Runs one flow. The error contains the id of a client from an earlier registration.
    async fn run(
        &self,
        request: &GrantRequest<'_>,
    ) -> Result<Granted, (AuthError, Option<String>)> {
        let early = |error| (error, None);
        let known = registration::known_redirect_uri(request)
            .await
            .map_err(early)?;
        let agent = request.waiters.serve(self.0.prepare(known.as_deref()));
        let mut agent = agent.await.map_err(early)?.map_err(early)?;
        check_redirect_uri(agent.redirect_uri()).map_err(early)?;
        let registered = registration::client(request, agent.redirect_uri()).await;
        let Registered { client, is_stored } = registered.map_err(early)?;
        let granted = authorize(request, &client, &mut *agent).await;
        let stored = is_stored.then(|| client.id.clone());
        match granted {
            Ok(Some(response)) => Ok(Granted { client, response }),
            Ok(None) => {
                if let Some(client_id) = stored {
                    suspect(request, &client_id).await;
                }
                let limit = flow_timeout(request);
                let reason = format!("the user did not sign in within {limit:?}");
                Err(early(AuthError::NotAuthorized(reason.into())))
            }
            Err(error) => Err((error, stored)),
        }
    }
}

/// Forgets a registration after a flow without a response. An authorization server that has lost it shows an error to the user, and
/// redirects nowhere.
async fn suspect(request: &GrantRequest<'_>, client_id: &str) {
    let issuer = &request.metadata.issuer;
    if let Err(error) = registration::forget(request.settings, issuer, client_id).await {
        tracing::warn!(%error, "a registration could not be deleted");
    }
}

/// Refuses an authorization server that may ignore the proof key.
fn check_proof_key_support(request: &GrantRequest<'_>) -> Result<(), AuthError> {
    let metadata = request.metadata;
    let methods = metadata.code_challenge_methods_supported.as_deref();
    let is_listed = methods.is_some_and(|methods| methods.iter().any(|method| method == "S256"));
    let unlisted = &request.settings.issuers.unlisted_s256;
    if is_listed || request.is_assumed || unlisted.contains(&*metadata.issuer) {
        return Ok(());
    }
    let reason = "`code_challenge_methods_supported` does not contain `S256`, so the code would be unprotected. If this \
        authorization server supports S256 without listing it, allow it with `OAuth::accept_unlisted_s256`";
    let document = format!("metadata of the authorization server {}", metadata.issuer);
    Err(AuthError::document(document, reason))
}

/// Returns `None` if the user has not signed in in time.
async fn authorize(
    request: &GrantRequest<'_>,
    client: &Client,
    agent: &mut dyn UserAgentFlow,
) -> Result<Option<TokenResponse>, AuthError> {
    // Errors of the token endpoint must not be found after the user has signed in.
    let endpoint = request.token_endpoint(client).await?;
    let pkce = Pkce::new()?;
    let record = Arc::new(FlowRecord {
        issuer: request.metadata.issuer.clone(),
        requires_issuer: request
            .metadata
            .authorization_response_iss_parameter_supported,
        verifier: pkce.verifier,
        state: random_text()?,
        redirect_uri: agent.redirect_uri().to_owned(),
        resource: request.resource.map(Into::into),
        scopes: request.scopes.clone(),
        client_id: client.id.clone(),
    });
    let url = authorization_url(request, &endpoint, &record, &pkce.challenge).await?;
    let shown = AuthorizationRequest::new(url, request.server, Arc::clone(&record))?;
    request.count();
    if let Some(confirm) = &request.settings.confirm {
        if !request.waiters.serve(confirm(shown.clone())).await? {
            let host = shown.authorization_server();
            let reason = format!("the program refused to sign in at {host}");
            return Err(AuthError::NotAuthorized(reason.into()));
        }
    }
    let answer = timeout(flow_timeout(request), agent.authorize(&shown));
    let Ok(redirect) = request.waiters.serve(answer).await? else {
        return Ok(None);
    };
    let code = read_code(&redirect?, &record)?;
    redeem(&endpoint, &record, &code).await.map(Some)
}

fn flow_timeout(request: &GrantRequest<'_>) -> Duration {
    request.settings.flow_timeout.min(MAX_FLOW_TIMEOUT)
}

async fn authorization_url(
    request: &GrantRequest<'_>,
    token_endpoint: &TokenEndpoint<'_>,
    record: &FlowRecord,
    challenge: &str,
) -> Result<String, AuthError> {
    let metadata = request.metadata;
    let mut form = parameters(record, challenge);
    // OpenID Connect grants offline access only after a prompt.
    if record.scopes.contains("offline_access") {
        form.set("prompt", "consent");
    }
    let endpoint = metadata.code_endpoint()?;
    if metadata.require_pushed_authorization_requests {
        let pushed = metadata.pushed_authorization_request_endpoint.as_deref();
        let pushed =
            pushed.ok_or_else(|| missing(metadata, "pushed_authorization_request_endpoint"))?;
        form = push(token_endpoint, pushed, &record.client_id, form).await?;
    }
    append(endpoint, &form)
}

async fn redeem(
    endpoint: &TokenEndpoint<'_>,
    record: &FlowRecord,
    code: &Secret,
) -> Result<TokenResponse, AuthError> {
    let form = Form::grant("authorization_code")
        .with("code", code.expose())
        .with("redirect_uri", &record.redirect_uri)
        .with("code_verifier", record.verifier.expose())
        .with_some("resource", record.resource.as_deref());
    endpoint.request(form).await
}

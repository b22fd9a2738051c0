//! Grants without a user at the authorization server of the MCP server.

mod client_credentials;
mod constructors;
mod enterprise;
mod identity_provider;
mod workload;
mod workload_token;

pub use self::identity_provider::{IdentityProvider, SubjectToken};
pub use self::workload_token::WorkloadToken;

use super::credentials::IssuerBinding;
use super::grant::{GrantRequest, Granted};
use super::settings::Settings;
use super::token::Client;
use super::token::form::Form;
use crate::AuthError;

/// Grant of a signed assertion (RFC 7523).
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// Sends the token request of a grant, for the resource and the scopes of the authorization.
async fn request_tokens(
    request: &GrantRequest<'_>,
    client: Client,
    form: Form,
) -> Result<Granted, AuthError> {
    let scopes = request.scopes.to_string();
    let scopes = Some(scopes).filter(|scopes| !scopes.is_empty());
    let form = form
        .with_some("resource", request.resource)
        .with_some("scope", scopes.as_deref());
    let endpoint = request.token_endpoint(&client).await?;
    let mut response = endpoint.request(form).await?;
    // The grant is repeated, so that the authorization server judges the client again.
    response.refresh_token = None;
    Ok(Granted { client, response })
}

/// Checks that the MCP server cannot choose the recipient of a secret.
fn check_bound(settings: &Settings, secret: &str) -> Result<(), AuthError> {
    let binding = settings.client.as_ref().map(|client| &client.issuer);
    if matches!(binding, Some(IssuerBinding::Only(_) | IssuerBinding::Any)) {
        return Ok(());
    }
    let reason = format!(
        "{secret} needs client credentials with `issuer`, or `allow_any_issuer` for a server that you trust with it"
    );
    Err(AuthError::invalid(reason))
}

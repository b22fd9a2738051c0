//! Client credentials (RFC 6749, section 4.4).

use super::{check_bound, request_tokens};
use crate::AuthError;
use crate::client::grant::{Grant, GrantFuture, GrantRequest, Granted};
use crate::client::registration;
use crate::client::settings::Settings;
use crate::client::token::ClientProof;
use crate::client::token::form::Form;

const EXTENSION: &str = "io.modelcontextprotocol/oauth-client-credentials";

/// Grant of a client that acts for itself, by a secret or a key.
#[derive(Debug)]
pub(in crate::client) struct ClientCredentialsGrant;

impl Grant for ClientCredentialsGrant {
    fn check(&self, settings: &Settings) -> Result<(), AuthError> {
        check_bound(settings, "the grant of client credentials")?;
        let client = settings.client.as_ref().map(|client| &client.client.proof);
        if matches!(client, None | Some(ClientProof::None)) {
            let reason = "the grant of client credentials needs `ClientCredentials::secret` or `ClientCredentials::private_key`";
            return Err(AuthError::invalid(reason));
        }
        Ok(())
    }

    fn needs_user(&self) -> bool {
        false
    }

    fn grant_types(&self) -> &'static [&'static str] {
        &["client_credentials"]
    }

    fn extension(&self) -> Option<&'static str> {
        Some(EXTENSION)
    }

    fn obtain<'a>(&'a self, request: &'a GrantRequest<'a>) -> GrantFuture<'a, Granted> {
        Box::pin(async move {
            let client = registration::configured_client(request).await?;
            request_tokens(request, client, Form::grant("client_credentials")).await
        })
    }
}

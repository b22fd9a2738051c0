//! Logout: revokes tokens (RFC 7009) and deletes them.

use std::sync::Arc;

use http::StatusCode;

use super::server::Server;
use super::tokens::Tokens;
use crate::AuthError;
use crate::client::registration;
use crate::client::store::{ServerRecord, TokenRecord, delete_if};
use crate::client::token::form::Form;
use crate::client::token::{Client, TokenEndpoint, error};

impl Server {
    /// Revokes the tokens in use and deletes them, also if the revocation fails.
    pub(crate) async fn logout(self: &Arc<Self>) -> Result<(), AuthError> {
        let tokens = match self.tokens().await? {
            // The store has at most the former ones.
            Some(tokens) if !tokens.is_stored => Some(tokens),
            // Another process may have renewed them since.
            Some(tokens) => self
                .load_tokens(tokens.binding.clone())
                .await?
                .or(Some(tokens)),
            None => None,
        };
        let revoked = match &tokens {
            Some(tokens) => self.revoke(tokens).await,
            None => Ok(()),
        };
        let store = &*self.settings.store;
        self.reset();
        if let Some(tokens) = tokens {
            delete_if::<TokenRecord>(store, &tokens.key, |_| true).await?;
        }
        if let Some(binding) = delete_if::<ServerRecord>(store, &self.key(), |_| true).await? {
            registration::forget_public(&self.settings, &binding.issuer, &binding.client_id)
                .await?;
        }
        revoked
    }

    async fn revoke(&self, tokens: &Tokens) -> Result<(), AuthError> {
        let binding = &tokens.binding;
        // A process without a session does not know yet which network the authorization server may be in.
        self.note_peer(self.find_peer().await);
        let metadata = self.metadata_of_tokens(tokens).await?;
        let Some(url) = &metadata.revocation_endpoint else {
            return Ok(());
        };
        let client =
            registration::client_with_id(&self.settings, &binding.issuer, &binding.client_id)
                .await?;
        // A program with another configuration: the authorization server decides if the id suffices.
        let client = client.unwrap_or_else(|| Client::public(&*binding.client_id));
        let (hint, token) = match &tokens.record.refresh_token {
            Some(token) => ("refresh_token", token),
            None => ("access_token", &tokens.record.access_token),
        };
        let form = Form::new()
            .with("token", token.expose())
            .with("token_type_hint", hint);
        let fetcher = self.network().fetcher;
        let endpoint = TokenEndpoint::new(&fetcher, &metadata, &client, &self.settings.clock)?;
        let response = endpoint.post(url, form).await?;
        if response.status == StatusCode::OK {
            return Ok(());
        }
        Err(error::read(
            &format!("revocation endpoint {url}"),
            &response,
        ))
    }
}

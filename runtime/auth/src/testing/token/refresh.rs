//! Grant `refresh_token`.

use serde_json::{Value, json};

use super::issue;
use super::{TokenRequest, invalid_grant};
use crate::testing::reply::Failure;
use crate::testing::request_values::{narrowed_resources, requested_scopes};
use crate::testing::state::{Grant, RefreshTokens};
use crate::testing::test_client::Credential;

impl TokenRequest<'_> {
    /// Renews tokens. The second use of a token that was rotated revokes all tokens of its grant.
    pub(super) fn refresh(self) -> Result<Value, Failure> {
        let client = self.client()?.clone();
        let value = self.parameters.get("refresh_token").unwrap_or_default();
        let token = self.state.refresh_tokens.get(value);
        let token = token.filter(|token| token.grant.client == client.id && !token.is_revoked);
        let token = token.ok_or(invalid_grant("the refresh token is unknown or revoked"))?;
        let grant = token.grant.clone();
        if token.is_used {
            self.state.revoke_grant(&grant.id);
            return Err(invalid_grant("the refresh token was used before"));
        }
        let is_public = matches!(client.credential, Credential::None);
        if is_public && grant.key.is_some() && grant.key != self.key {
            return Err(invalid_grant("the refresh token is bound to another key"));
        }
        let narrowed = self.narrow(&grant)?;
        if self.shared.settings.refresh == RefreshTokens::Reusable {
            return Ok(issue::access_token(self.shared, self.state, &narrowed));
        }
        if let Some(token) = self.state.refresh_tokens.get_mut(value) {
            token.is_used = true;
        }
        let mut document = issue::access_token(self.shared, self.state, &narrowed);
        let next = issue::refresh_token(self.state, &grant);
        document["refresh_token"] = json!(next);
        Ok(document)
    }

    /// Returns the grant with the resources and scopes of the request, which are some of those granted.
    fn narrow(&self, grant: &Grant) -> Result<Grant, Failure> {
        let mut narrowed = grant.clone();
        narrowed.resources = narrowed_resources(&grant.resources, self.parameters)?;
        narrowed.key.clone_from(&self.key);
        if self.parameters.get("scope").is_some() {
            narrowed.scopes = requested_scopes(&self.shared.settings, self.parameters)?;
        }
        if grant.scopes.is_superset(&narrowed.scopes) {
            return Ok(narrowed);
        }
        Err(Failure::new("invalid_scope", "a scope was not granted"))
    }
}

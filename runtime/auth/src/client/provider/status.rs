//! Stored authorization of a server, without secrets.

use std::sync::Arc;
use std::time::SystemTime;

use super::server::Server;
use crate::{AuthError, Scopes};

/// Authorization that a client has for one server, see [`OAuth::status`](crate::OAuth::status). It contains no token.
#[cfg(feature = "oauth")]
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuthorizationStatus {
    /// The issuer of the authorization server.
    pub issuer: String,
    /// The id of the client at that server.
    pub client_id: String,
    /// The resource of the tokens; `None` for servers of revision 2025-03-26.
    pub resource: Option<String>,
    /// The granted scopes.
    pub scopes: Scopes,
    /// The time at which the access token expires; `None` if the authorization server has not named it.
    pub expires_at: Option<SystemTime>,
    /// True if the tokens can be renewed without the user.
    pub can_refresh: bool,
}

impl Server {
    /// Returns the authorization in use, or the stored one.
    pub(crate) async fn status(self: &Arc<Self>) -> Result<Option<AuthorizationStatus>, AuthError> {
        let tokens = self.tokens().await?;
        Ok(tokens.map(|tokens| AuthorizationStatus {
            issuer: tokens.binding.issuer.clone(),
            client_id: tokens.binding.client_id.clone(),
            resource: tokens.binding.resource.clone(),
            scopes: tokens.record.granted.clone(),
            expires_at: tokens.record.expires_at,
            can_refresh: tokens.record.refresh_token.is_some(),
        }))
    }
}

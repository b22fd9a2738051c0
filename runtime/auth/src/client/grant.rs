//! Interface of grants: ways to obtain tokens from an authorization server.

use std::fmt;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};

use http::Uri;

use super::dpop::DpopKey;
use super::settings::Settings;
use super::single_flight::Waiters;
use super::token::{Client, TokenEndpoint, TokenResponse};
use crate::fetch::Fetcher;
use crate::metadata::AuthorizationServerMetadata;
use crate::{AuthError, Scopes};

/// A future of a [`Grant`].
pub(crate) type GrantFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

/// Way to obtain tokens from an authorization server. The provider discovers the server, computes the scopes, and stores and
/// renews the tokens.
pub(crate) trait Grant: fmt::Debug + Send + Sync {
    /// Checks the configuration before the first request.
    fn check(&self, settings: &Settings) -> Result<(), AuthError> {
        let _ = settings;
        Ok(())
    }

    /// Returns true if a user has to approve. Otherwise the grant is repeated before the token expires.
    fn needs_user(&self) -> bool;

    /// Returns true if a user may be asked: for the approval, or by a function of the program.
    fn may_ask_user(&self) -> bool {
        self.needs_user()
    }

    /// Returns `grant_types` of a metadata document of this client.
    fn grant_types(&self) -> &'static [&'static str];

    /// Returns `redirect_uris` of a metadata document of this client. Empty for grants without redirect.
    fn redirect_uris(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the extension of the protocol that the client declares because of this grant.
    fn extension(&self) -> Option<&'static str> {
        None
    }

    /// Obtains tokens.
    fn obtain<'a>(&'a self, request: &'a GrantRequest<'a>) -> GrantFuture<'a, Granted>;
}

/// Everything that is known before a grant.
#[derive(Debug)]
pub(crate) struct GrantRequest<'a> {
    pub(crate) settings: &'a Settings,
    /// The URL of the MCP server.
    pub(crate) server: &'a Uri,
    /// `resource`, byte for byte; `None` in legacy mode.
    pub(crate) resource: Option<&'a str>,
    /// The validated metadata of the authorization server.
    pub(crate) metadata: &'a AuthorizationServerMetadata,
    /// True without any metadata document (2025-03-26): PKCE is used although nothing advertises it.
    pub(crate) is_assumed: bool,
    /// The scopes to ask for. Empty: the authorization server decides.
    pub(crate) scopes: &'a Scopes,
    pub(crate) fetcher: &'a Fetcher,
    /// The calls that wait for the grant. A flow with a user ends when there are none.
    pub(crate) waiters: &'a Waiters,
    /// Set if the authorization counts even if it fails.
    pub(crate) counts: &'a AtomicBool,
}

/// Result of a grant.
#[derive(Debug)]
pub(crate) struct Granted {
    pub(crate) client: Client,
    pub(crate) response: TokenResponse,
}

impl GrantRequest<'_> {
    /// Counts the authorization before a person may be asked, or a client is registered: neither happens again and again.
    pub(crate) fn count(&self) {
        self.counts.store(true, Ordering::Relaxed);
    }

    /// Returns the token endpoint of the authorization server, for this client.
    pub(crate) async fn token_endpoint<'a>(
        &'a self,
        client: &'a Client,
    ) -> Result<TokenEndpoint<'a>, AuthError> {
        let key = DpopKey::of(self.settings, &self.metadata.issuer, &client.id).await?;
        let clock = &self.settings.clock;
        TokenEndpoint::new(self.fetcher, self.metadata, client, clock)?.with_dpop(key)
    }
}

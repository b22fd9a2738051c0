//! Discovery of the authorization server of an MCP server.

use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use treenail_schema::Revision;

use super::need::{Cause, Need};
use super::planned_scopes::reduced;
use super::server::Server;
use super::tokens::Tokens;
use crate::client::registration;
use crate::fetch::Budget;
use crate::metadata::{AuthorizationServerMetadata, FoundResource, FoundServer, ResourceRequest};
use crate::{AuthError, Scopes};

/// Authorization server of an MCP server.
#[derive(Debug)]
pub(super) struct Discovered {
    /// `resource`, byte for byte; `None` in legacy mode.
    pub(super) resource: Option<String>,
    /// `scopes_supported` of the resource.
    pub(super) scopes_supported: Option<Scopes>,
    pub(super) metadata: Arc<AuthorizationServerMetadata>,
    /// There is no metadata document: the endpoints are those that 2025-03-26 assumes.
    pub(super) is_assumed: bool,
}

impl Server {
    /// Finds the authorization server for an authorization. The metadata of the resource are requested again each time, since the
    /// authorization server may have changed.
    pub(super) async fn discover(&self, need: &Need) -> Result<Discovered, AuthError> {
        let (discovery, budget) = (self.network().discovery, Budget::discovery());
        let found = self.resource(need, &budget).await?;
        let server = if found.is_legacy {
            self.legacy_server(need.revision, &budget).await?
        } else {
            let issuer = self.choose(&found).await?;
            discovery.authorization_server(&issuer, &budget).await?
        };
        let document = found.metadata.as_ref();
        let requires_dpop =
            document.is_some_and(|document| document.dpop_bound_access_tokens_required);
        if requires_dpop && self.settings.dpop.is_none() {
            let reason =
                "`dpop_bound_access_tokens_required` is true; configure DPoP with `OAuth::dpop`";
            return Err(AuthError::document("protected resource metadata", reason));
        }
        Ok(Discovered {
            resource: found.resource,
            scopes_supported: document.and_then(|document| document.scopes_supported.clone()),
            metadata: server.metadata,
            is_assumed: server.is_assumed,
        })
    }

    /// Returns the metadata of the authorization server that has issued tokens.
    pub(super) async fn metadata_of_tokens(
        &self,
        tokens: &Tokens,
    ) -> Result<Arc<AuthorizationServerMetadata>, AuthError> {
        let budget = Budget::discovery();
        let issuer = &tokens.binding.issuer;
        let server = if tokens.binding.resource.is_none() {
            self.legacy_server(None, &budget).await?
        } else {
            self.server_of_issuer(issuer, &budget).await?
        };
        if server.metadata.issuer != *issuer {
            let reason = format!(
                "the authorization server is {:?} now",
                server.metadata.issuer
            );
            return Err(AuthError::NotAuthorized(reason.into()));
        }
        Ok(server.metadata)
    }

    /// Finds an authorization server by the issuer in its metadata: at the issuers that are accepted in its place, or at itself.
    async fn server_of_issuer(
        &self,
        issuer: &str,
        budget: &Budget,
    ) -> Result<FoundServer, AuthError> {
        let discovery = self.network().discovery;
        let listed = self.listed_issuer(issuer);
        let found = discovery.authorization_server(&listed, budget).await;
        if found.is_ok() || listed == issuer {
            return found;
        }
        // The MCP server may not use the other spelling any more.
        let own = discovery.authorization_server(issuer, budget).await;
        match own {
            Ok(_) | Err(AuthError::Unavailable(_)) => own,
            Err(_) => found,
        }
    }

    /// Returns the scopes to ask for after a challenge that names none: `scopes_supported` of the resource, as far as this client
    /// asks for them. Fails if they add none to those of the tokens.
    pub(super) async fn unnamed_scopes(
        &self,
        need: &Need,
        tokens: &Tokens,
    ) -> Result<Scopes, AuthError> {
        let found = self.resource(need, &Budget::discovery()).await?;
        let supported = found.metadata.as_ref();
        let supported = supported.and_then(|document| document.scopes_supported.as_ref());
        let supported = supported.and_then(|scopes| reduced(&self.settings, scopes));
        let further = supported.filter(|scopes| !tokens.scopes().is_superset(scopes));
        further.ok_or_else(|| {
            let reason = "the server requires further scopes, but names none that were not asked for already";
            AuthError::NotAuthorized(reason.into())
        })
    }

    /// Requests the metadata of the resource, also if they are cached.
    ///
    /// Only a refusal with status 401 announces them for certain. Without it, metadata that are at no well-known place mean that
    /// those of the tokens are in force.
    async fn resource(&self, need: &Need, budget: &Budget) -> Result<FoundResource, AuthError> {
        let tokens = match need.cause {
            Cause::Unauthorized => None,
            Cause::StepUp(_) | Cause::Renewal => self.tokens().await?,
        };
        let binding = tokens.as_ref().map(|tokens| &tokens.binding);
        let known = binding.and_then(|binding| {
            Some((
                binding.resource.clone()?,
                self.listed_issuer(&binding.issuer),
            ))
        });
        let request = ResourceRequest {
            server: &self.url,
            challenge: need.challenge.as_ref(),
            revision: need.revision,
            accepts_legacy: need.accepts_legacy,
            bypass_cache: true,
            known: known
                .as_ref()
                .map(|(resource, issuer)| (&**resource, &**issuer)),
        };
        self.network().discovery.resource(&request, budget).await
    }

    /// Returns true if the MCP server names other authorization servers than that of the tokens, or if only the refusal of a request
    /// can name one. The metadata are requested again.
    pub(super) async fn has_left(&self, tokens: &Tokens, need: &Need) -> bool {
        let is_same = |listed: &str| self.may_be_listed_as(&tokens.binding.issuer, listed);
        match self.resource(need, &Budget::discovery()).await {
            Ok(found) if found.metadata.is_some() => {
                !found.issuers.iter().any(|listed| is_same(listed))
            }
            Ok(_) => {
                let is_preferred = self
                    .settings
                    .issuers
                    .preferred
                    .as_deref()
                    .is_some_and(is_same);
                let was_announced = tokens.binding.resource.is_some() && !is_preferred;
                need.cause == Cause::Renewal && was_announced
            }
            // Without an answer, the outage is the only thing that is known.
            Err(_) => false,
        }
    }

    pub(super) fn forget_metadata(&self, issuer: &str) {
        self.network().discovery.forget(issuer);
    }

    /// Finds the authorization server that 2025-03-26 assumes, for a refused request of `revision`.
    pub(super) async fn legacy_server(
        &self,
        revision: Option<Revision>,
        budget: &Budget,
    ) -> Result<FoundServer, AuthError> {
        let headers = legacy_headers(revision);
        let discovery = self.network().discovery;
        discovery.legacy_server(&self.url, &headers, budget).await
    }

    /// Chooses among several issuers: one with tokens or credentials, then the preferred one, then the first.
    async fn choose(&self, found: &FoundResource) -> Result<String, AuthError> {
        let first = found.issuers.first().cloned().unwrap_or_default();
        if found.issuers.len() < 2 {
            return Ok(first);
        }
        if let Some(tokens) = self.tokens().await? {
            let issuer = &tokens.binding.issuer;
            let mut issuers = found.issuers.iter();
            if let Some(listed) = issuers.find(|listed| self.may_be_listed_as(issuer, listed)) {
                return Ok(listed.clone());
            }
        }
        for issuer in &found.issuers {
            if registration::has_credentials(&self.settings, self.actual_issuer(issuer)).await? {
                return Ok(issuer.clone());
            }
        }
        let preferred = self.settings.issuers.preferred.as_deref();
        let preferred = found
            .issuers
            .iter()
            .find(|issuer| preferred == Some(issuer));
        Ok(preferred.cloned().unwrap_or(first))
    }

    /// Returns true if the MCP server may list `listed` for the issuer `actual` in metadata.
    fn may_be_listed_as(&self, actual: &str, listed: &str) -> bool {
        listed == actual || self.actual_issuer(listed) == actual
    }

    /// Returns the issuer that the MCP server lists for an issuer in metadata, if it uses the spelling that the caller accepts.
    fn listed_issuer(&self, actual: &str) -> String {
        let mut aliases = self.settings.issuers.aliases.iter();
        let listed = aliases.find(|(_, alias)| &***alias == actual);
        listed.map_or_else(|| actual.to_owned(), |(listed, _)| listed.to_string())
    }

    /// Returns the issuer in metadata for an issuer that the MCP server lists.
    fn actual_issuer<'a>(&'a self, listed: &'a str) -> &'a str {
        let alias = self.settings.issuers.aliases.get(listed);
        alias.map_or(listed, |alias| alias)
    }
}

/// Returns the headers of requests for the metadata of 2025-03-26. They state that revision if no refused request states another
/// one, as for a renewal.
pub(super) fn legacy_headers(revision: Option<Revision>) -> HeaderMap {
    let revision = revision.unwrap_or(Revision::V2025_03_26);
    let value = HeaderValue::from_static(revision.as_str());
    let mut headers = HeaderMap::new();
    headers.insert("mcp-protocol-version", value);
    headers
}

//! Authorization: from the discovery to stored tokens.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::attempt::insufficient;
use super::authorized::Authorized;
use super::discover::Discovered;
use super::need::Need;
use super::planned_scopes::{ScopeSources, plan};
use super::server::Server;
use super::tokens::Tokens;
use crate::client::grant::{Grant, GrantRequest, Granted};
use crate::client::registration;
use crate::client::settings::Method;
use crate::client::single_flight::Waiters;
use crate::client::store::{ServerRecord, TokenRecord, TokenType, load, save_locked};
use crate::client::token::TokenResponse;
use crate::{AuthError, Scopes};

/// Maximum number of tasks with tokens that do not suffice for a request that waits for them.
const MAX_TASKS: u32 = 3;

impl Server {
    /// Obtains tokens, in one task for all callers. `limit` is the number of authorizations without an accepted token.
    pub(super) async fn authorize(
        self: &Arc<Self>,
        need: Need,
        limit: u32,
    ) -> Result<Arc<Tokens>, AuthError> {
        let scopes = need.sufficient_scopes(&self.settings);
        // Another call does not ask for scopes that the user has declined.
        let scopes = scopes.filter(|_| self.may_step_up(&need));
        let _wanted = scopes.map(|scopes| self.wanted.add(scopes));
        let mut tasks = 0;
        while tasks < MAX_TASKS {
            if let Some(current) = self.tokens().await? {
                if need.is_met_by(&current, &self.settings) {
                    return Ok(current);
                }
            }
            let mut is_own = false;
            let job = |waiters| {
                is_own = true;
                let (server, need) = (Arc::clone(self), need.clone());
                async move { server.authorize_once(&need, limit, &waiters).await }
            };
            match self.authorizing.run(job).await? {
                Authorized::Tokens(tokens) if is_own || need.is_met_by(&tokens, &self.settings) => {
                    return Ok(tokens);
                }
                Authorized::NotForThis(error) if is_own => return Err(error),
                Authorized::Tokens(_) => tasks += 1,
                // Its call does not start another one. This call does if that can succeed.
                Authorized::NotForThis(_) => self.check_possible(&need, limit).await?,
            }
        }
        let reason = "other authorizations at the same time have obtained other scopes; try again";
        Err(AuthError::NotAuthorized(reason.into()))
    }

    async fn authorize_once(
        self: &Arc<Self>,
        need: &Need,
        limit: u32,
        waiters: &Waiters,
    ) -> Result<Authorized, AuthError> {
        let Method::Grant(grant) = &self.settings.method else {
            return Err(AuthError::invalid("a token source authorizes nothing"));
        };
        let discovered = self.discover(need).await?;
        let before = self.tokens_at(&discovered).await?;
        let suffices =
            |tokens: &&Arc<Tokens>| tokens.is_stored && need.is_met_by(tokens, &self.settings);
        if let Some(stored) = before.as_ref().filter(suffices) {
            if let Some(usable) = self.use_stored(stored, need).await? {
                return Ok(Authorized::Tokens(usable));
            }
        }
        let before = before.map(|tokens| tokens.scopes()).unwrap_or_default();
        let needs_user = grant.needs_user();
        let scopes = match self.scopes_to_ask(need, &discovered, &before, needs_user) {
            Ok(scopes) => scopes,
            Err(error) => return Ok(Authorized::NotForThis(error)),
        };
        if let Err(error) = self.check_limit(limit) {
            // Another caller that waits for this one may have a higher limit.
            return Ok(Authorized::NotForThis(error));
        }
        let (granted, counts) = self.obtain(&**grant, &discovered, &scopes, waiters).await;
        if counts || granted.is_ok() {
            self.count_authorization(need);
        }
        let granted = granted?;
        let asked = scopes.union(&before);
        let tokens = self.adopt(&discovered, granted, &asked).await?;
        Ok(Authorized::Tokens(tokens))
    }

    /// Uses tokens that another process has stored, after a refresh if they have expired. `None` if that is not possible.
    async fn use_stored(
        self: &Arc<Self>,
        stored: &Arc<Tokens>,
        need: &Need,
    ) -> Result<Option<Arc<Tokens>>, AuthError> {
        let is_expired = stored.is_expired(self.settings.clock.now());
        if is_expired && stored.record.refresh_token.is_none() {
            return Ok(None);
        }
        self.trust(stored.generation);
        self.use_tokens(stored);
        if is_expired {
            return self.try_refresh(stored, need).await;
        }
        Ok(Some(Arc::clone(stored)))
    }

    /// Returns the scopes of an authorization. `before` are those that were asked for or granted before. An error concerns this
    /// need only.
    fn scopes_to_ask(
        &self,
        need: &Need,
        discovered: &Discovered,
        before: &Scopes,
        needs_user: bool,
    ) -> Result<Scopes, AuthError> {
        self.check_step_ups(need)?;
        let sources = ScopeSources {
            before,
            challenge: need.scopes.as_ref(),
            required: need.required(),
            resource: discovered.scopes_supported.as_ref(),
            wanted: &self.wanted.all(),
        };
        plan(&self.settings, sources, &discovered.metadata, needs_user)
    }

    /// Fails if `authorize` would neither find tokens that suffice nor start or join a task.
    pub(super) async fn check_possible(&self, need: &Need, limit: u32) -> Result<(), AuthError> {
        let checked = self
            .check_step_ups(need)
            .and_then(|()| self.check_limit(limit));
        // The task that was counted last may serve this call too.
        if checked.is_ok() || self.authorizing.is_running() {
            return Ok(());
        }
        let current = match self.tokens().await? {
            // Another process may have stored others.
            Some(tokens) if tokens.is_stored => self.load_tokens(tokens.binding.clone()).await?,
            tokens => tokens,
        };
        match current {
            Some(tokens) if need.is_met_by(&tokens, &self.settings) => Ok(()),
            _ => checked,
        }
    }

    /// Fails if the operation has had its step-ups.
    fn check_step_ups(&self, need: &Need) -> Result<(), AuthError> {
        if self.may_step_up(need) {
            return Ok(());
        }
        let required = need.scopes.clone().unwrap_or_default();
        let reason = "the step-ups for this operation have not sufficed";
        Err(insufficient(&required, reason))
    }

    /// Fails if there have been too many authorizations without an accepted token.
    fn check_limit(&self, limit: u32) -> Result<(), AuthError> {
        if self.unaccepted_authorizations() < limit {
            return Ok(());
        }
        let reason = format!(
            "{limit} authorizations in a row have led to no token that the server accepted"
        );
        Err(AuthError::NotAuthorized(reason.into()))
    }

    /// Obtains tokens, and returns true with the outcome if the authorization counts even if it has failed.
    async fn obtain(
        &self,
        grant: &dyn Grant,
        discovered: &Discovered,
        scopes: &Scopes,
        waiters: &Waiters,
    ) -> (Result<Granted, AuthError>, bool) {
        let counts = AtomicBool::new(false);
        let request = GrantRequest {
            settings: &self.settings,
            server: &self.url,
            resource: discovered.resource.as_deref(),
            metadata: &discovered.metadata,
            is_assumed: discovered.is_assumed,
            scopes,
            fetcher: &self.network().fetcher,
            waiters,
            counts: &counts,
        };
        let granted = grant.obtain(&request).await;
        if granted.is_err() {
            self.forget_metadata(&discovered.metadata.issuer);
        }
        (granted, counts.into_inner())
    }

    /// Returns the tokens of the same resource and authorization server: those in use, or stored ones.
    async fn tokens_at(&self, discovered: &Discovered) -> Result<Option<Arc<Tokens>>, AuthError> {
        let issuer = &discovered.metadata.issuer;
        let is_same = |binding: &ServerRecord| {
            binding.issuer == *issuer && binding.resource == discovered.resource
        };
        let current = self.tokens().await?;
        let current = current.filter(|tokens| is_same(&tokens.binding));
        // The store has at most the former ones.
        if current.as_ref().is_some_and(|tokens| !tokens.is_stored) {
            return Ok(current);
        }
        let stored = load::<ServerRecord>(&*self.settings.store, &self.key()).await?;
        if let Some(stored) = stored.filter(|entry| is_same(&entry.record)) {
            if let Some(tokens) = self.load_tokens(stored.record).await? {
                return Ok(Some(tokens));
            }
        }
        Ok(current)
    }

    /// Uses new tokens, and stores them. Nothing is stored before the grant is complete.
    ///
    /// If the store fails, the tokens are used nevertheless: the user has approved, and the code is valid once.
    async fn adopt(
        &self,
        discovered: &Discovered,
        granted: Granted,
        asked: &Scopes,
    ) -> Result<Arc<Tokens>, AuthError> {
        let Granted { client, response } = granted;
        let issued_at = self.settings.clock.now();
        let record = TokenRecord {
            token_type: self.check_type(&response)?,
            issued_at,
            expires_at: response
                .lifetime
                .and_then(|lifetime| issued_at.checked_add(lifetime)),
            access_token: response.access_token,
            refresh_token: response.refresh_token,
            asked: asked.clone(),
            granted: response.scopes.unwrap_or_else(|| asked.clone()),
        };
        let binding = ServerRecord {
            resource: discovered.resource.clone(),
            issuer: discovered.metadata.issuer.clone(),
            client_id: client.id,
        };
        let store = &*self.settings.store;
        let saved = save_locked(store, &self.tokens_key(&binding), record.clone()).await;
        let tokens = self.tokens_of(&binding, record, saved).await?;
        self.use_tokens(&tokens);
        if let Err(error) = self.remember(binding).await {
            tracing::warn!(%error, "the authorization could not be stored and is lost with this process");
        }
        Ok(tokens)
    }

    /// Stores the issuer of the client, and the authorization of the server.
    async fn remember(&self, binding: ServerRecord) -> Result<(), AuthError> {
        registration::bind(&self.settings, &binding.issuer, &binding.client_id).await?;
        let store = &*self.settings.store;
        save_locked(store, &self.key(), binding).await.map(drop)
    }

    /// Returns the type of a new token. Another type than that of this client is refused, so that nothing removes the binding of
    /// tokens to a key unnoticed.
    pub(super) fn check_type(&self, response: &TokenResponse) -> Result<TokenType, AuthError> {
        let (actual, expected) = (response.access_token_type()?, self.token_type());
        if actual == expected {
            return Ok(actual);
        }
        let reason = match expected {
            TokenType::Dpop => {
                "`token_type` must be `DPoP`, since this client asks for tokens that are bound to its key; use an authorization \
                 server that supports DPoP, or remove `OAuth::dpop`"
            }
            TokenType::Bearer => "the token is bound to a DPoP key, but none was sent",
        };
        Err(AuthError::document("token response", reason))
    }
}

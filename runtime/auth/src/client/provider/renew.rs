//! Renewal of tokens: with a refresh token, or by a repetition of the grant.

use std::sync::Arc;

use super::need::Need;
use super::server::Server;
use super::tokens::Tokens;
use crate::client::registration;
use crate::client::settings::Method;
use crate::client::store::{Generation, ServerRecord, Stored, TokenRecord, save, save_locked};
use crate::client::token::error::is_refusal;
use crate::client::token::form::Form;
use crate::client::token::{TokenEndpoint, TokenResponse};
use crate::{AuthError, Secret};

impl Server {
    /// Returns the tokens for the next request, renewed if they expire soon. A renewal that may ask a user needs `may_ask_user`.
    pub(super) async fn fresh_tokens(
        self: &Arc<Self>,
        may_ask_user: bool,
    ) -> Result<Option<Arc<Tokens>>, AuthError> {
        let Some(tokens) = self.tokens().await? else {
            return Ok(None);
        };
        if !self.should_renew(&tokens) {
            return Ok(Some(tokens));
        }
        match self.renew(&tokens, may_ask_user).await {
            Ok(renewed) => Ok(Some(renewed)),
            Err(error) if !tokens.is_expired(self.settings.clock.now()) => {
                tracing::debug!(%error, "the token could not be renewed before its expiry");
                self.pause_renewals();
                Ok(Some(tokens))
            }
            Err(
                AuthError::Refused { .. }
                | AuthError::NotAuthorized(_)
                | AuthError::Forbidden(_)
                | AuthError::Document { .. },
            ) => {
                // The server refuses the request, and that starts an authorization. Its answer also reveals its network,
                // which decides about the authorization servers that may be contacted.
                self.tokens().await
            }
            Err(error) => Err(error),
        }
    }

    async fn renew(
        self: &Arc<Self>,
        tokens: &Arc<Tokens>,
        may_ask_user: bool,
    ) -> Result<Arc<Tokens>, AuthError> {
        let need = Need::renewal(tokens, self.announcement(None));
        if tokens.record.refresh_token.is_some() {
            return self.refresh(tokens, &need).await;
        }
        match &self.settings.method {
            Method::Grant(grant)
                if !grant.needs_user() && (may_ask_user || !grant.may_ask_user()) =>
            {
                let repeated = self.authorize(need.clone(), u32::MAX).await;
                self.judge_outage(repeated, tokens, &need).await
            }
            _ => Ok(Arc::clone(tokens)),
        }
    }

    /// Refreshes refused or expired tokens. `None` if an authorization is necessary.
    pub(super) async fn try_refresh(
        self: &Arc<Self>,
        tokens: &Arc<Tokens>,
        need: &Need,
    ) -> Result<Option<Arc<Tokens>>, AuthError> {
        if tokens.record.refresh_token.is_none() {
            return Ok(None);
        }
        match self.refresh(tokens, need).await {
            Ok(refreshed) => Ok(Some(refreshed)),
            Err(error @ (AuthError::Unavailable(_) | AuthError::Store(_))) => Err(error),
            Err(error) => {
                tracing::debug!(%error, "the token could not be refreshed");
                Ok(None)
            }
        }
    }

    /// Refreshes tokens, in one task for all callers.
    async fn refresh(
        self: &Arc<Self>,
        tokens: &Arc<Tokens>,
        need: &Need,
    ) -> Result<Arc<Tokens>, AuthError> {
        let job = |_| {
            let (server, tokens, need) = (Arc::clone(self), Arc::clone(tokens), need.clone());
            async move {
                let refreshed = server.refresh_once(&tokens).await;
                server.judge_outage(refreshed, &tokens, &need).await
            }
        };
        self.refreshing.run(job).await
    }

    /// Replaces the error of an outage if another authorization server is, or may be, in charge. An outage alone leads to no other
    /// one.
    async fn judge_outage(
        &self,
        outcome: Result<Arc<Tokens>, AuthError>,
        tokens: &Tokens,
        need: &Need,
    ) -> Result<Arc<Tokens>, AuthError> {
        match outcome {
            Err(AuthError::Unavailable(reason)) if self.has_left(tokens, need).await => {
                let reason =
                    format!("{reason}; the server may have another authorization server now");
                Err(AuthError::NotAuthorized(reason.into()))
            }
            outcome => outcome,
        }
    }

    async fn refresh_once(
        self: &Arc<Self>,
        tokens: &Arc<Tokens>,
    ) -> Result<Arc<Tokens>, AuthError> {
        if let Some(current) = self.tokens().await? {
            // The task before this one has renewed them.
            if current.generation != tokens.generation {
                return Ok(current);
            }
        }
        let (settings, binding) = (&self.settings, &tokens.binding);
        // The lock is held for the request to the token endpoint only.
        let metadata = self.metadata_of_tokens(tokens).await?;
        let client =
            registration::client_with_id(settings, &binding.issuer, &binding.client_id).await?;
        let client = client.ok_or_else(|| {
            let reason = format!("the client {:?} is not known any more", binding.client_id);
            AuthError::NotAuthorized(reason.into())
        })?;
        let mut lock = None;
        // No other process has tokens that are not stored, and the store that has failed may refuse locks too.
        if tokens.is_stored {
            lock = Some(settings.store.lock(&tokens.key).await?);
            if let Some(others) = self.stored_by_others(tokens).await? {
                return Ok(others);
            }
        }
        let fetcher = self.network().fetcher;
        let requested = async {
            let endpoint = TokenEndpoint::new(&fetcher, &metadata, &client, &settings.clock)?;
            let endpoint = endpoint.with_dpop(tokens.dpop.clone())?;
            endpoint.request(self.refresh_form(tokens)).await
        };
        let outcome = match requested.await {
            Ok(response) => self.adopt_refreshed(tokens, response).await,
            Err(error) => Err(self.refresh_failed(tokens, error).await),
        };
        drop(lock);
        outcome
    }

    /// Returns the tokens that another process has stored. An error if it has deleted them.
    async fn stored_by_others(&self, tokens: &Tokens) -> Result<Option<Arc<Tokens>>, AuthError> {
        let stored = self.load_tokens(tokens.binding.clone()).await?;
        match stored {
            Some(stored) if stored.generation == tokens.generation => Ok(None),
            Some(stored) => {
                self.trust(stored.generation);
                self.replace_tokens(tokens.generation, Some(&stored));
                Ok(Some(stored))
            }
            None => {
                self.replace_tokens(tokens.generation, None);
                let reason = "another process has deleted the tokens";
                Err(AuthError::NotAuthorized(reason.into()))
            }
        }
    }

    fn refresh_form(&self, tokens: &Tokens) -> Form {
        let record = &tokens.record;
        let refresh_token = record.refresh_token.as_ref().map(Secret::expose);
        let scopes = record.asked.to_string();
        let with_scope = self.settings.refresh_scope && !scopes.is_empty();
        Form::grant("refresh_token")
            .with_some("refresh_token", refresh_token)
            .with_some("resource", tokens.binding.resource.as_deref())
            .with_some("scope", Some(&*scopes).filter(|_| with_scope))
    }

    /// Stores refreshed tokens, then uses them.
    async fn adopt_refreshed(
        &self,
        tokens: &Tokens,
        response: TokenResponse,
    ) -> Result<Arc<Tokens>, AuthError> {
        let old = &tokens.record;
        let issued_at = self.settings.clock.now();
        let record = TokenRecord {
            token_type: self.check_type(&response)?,
            issued_at,
            expires_at: response
                .lifetime
                .and_then(|lifetime| issued_at.checked_add(lifetime)),
            access_token: response.access_token,
            refresh_token: response.refresh_token.or_else(|| old.refresh_token.clone()),
            asked: old.asked.clone(),
            granted: response.scopes.unwrap_or_else(|| old.granted.clone()),
        };
        let (store, key) = (&*self.settings.store, &tokens.key);
        let saved = if tokens.is_stored {
            // The lock is held since before the request.
            save(store, key, record.clone()).await
        } else {
            save_locked(store, key, record.clone()).await
        };
        let renewed = self.tokens_of(&tokens.binding, record, saved).await?;
        self.replace_tokens(tokens.generation, Some(&renewed));
        Ok(renewed)
    }

    /// Returns tokens with the outcome of their storage.
    ///
    /// If the store has failed, the tokens are used in this process: the old ones may be void already.
    pub(super) async fn tokens_of(
        &self,
        binding: &ServerRecord,
        record: TokenRecord,
        saved: Result<Stored<TokenRecord>, AuthError>,
    ) -> Result<Arc<Tokens>, AuthError> {
        let key = self.tokens_key(binding);
        let dpop = self.dpop_key(binding).await?;
        let (generation, is_stored) = match saved {
            Ok(stored) => (stored.generation, true),
            Err(error) => {
                tracing::warn!(%error, "the tokens could not be stored and are lost with this process");
                (Generation::random()?, false)
            }
        };
        Ok(Arc::new(Tokens {
            binding: binding.clone(),
            key,
            generation,
            record,
            dpop,
            is_stored,
        }))
    }

    /// Forgets exactly those credentials that the authorization server refuses. Its metadata may be outdated after each other
    /// failure.
    async fn refresh_failed(&self, tokens: &Tokens, error: AuthError) -> AuthError {
        let store = &*self.settings.store;
        if !matches!(error, AuthError::Refused { .. }) || is_refusal(&error, "invalid_client") {
            self.forget_metadata(&tokens.binding.issuer);
        }
        let deleted = if is_refusal(&error, "invalid_grant") {
            self.replace_tokens(tokens.generation, None);
            store.delete(&tokens.key, tokens.generation).await.map(drop)
        } else if is_refusal(&error, "invalid_client") {
            let binding = &tokens.binding;
            registration::forget(&self.settings, &binding.issuer, &binding.client_id).await
        } else {
            Ok(())
        };
        if let Err(error) = deleted {
            tracing::warn!(%error, "refused credentials could not be deleted");
        }
        error
    }
}

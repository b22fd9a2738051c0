//! State of the authorization at one MCP server.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use http::Uri;
use ring::digest::{Digest, SHA256, digest};
use tokio::sync::OnceCell;
use tokio::time::Instant;
use treenail_runtime::client::Challenge;

use super::authorized::Authorized;
use super::need::{Cause, Need};
use super::network::Network;
use super::step_ups::{StepUps, WantedScopes};
use super::tokens::Tokens;
use crate::client::dpop::DpopKey;
use crate::client::settings::{Method, Settings};
use crate::client::single_flight::SingleFlight;
use crate::client::store::{Generation, ServerRecord, StoreKey, TokenRecord, TokenType, load};
use crate::client::urls::may_receive_tokens;
use crate::{AuthError, Secret};

/// Time between attempts to renew tokens before they expire.
const EARLY_RENEWAL_INTERVAL: Duration = Duration::from_secs(5);

/// Servers of one OAuth client.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    by_url: Mutex<HashMap<String, Arc<Server>>>,
    version: Arc<AtomicU64>,
    /// Set once the settings have been checked for servers that receive no token.
    pub(super) checked: OnceLock<()>,
}

/// State of the authorization at one MCP server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(super) url: Uri,
    pub(super) settings: Arc<Settings>,
    /// Access to servers that this one names.
    pub(super) network: Mutex<Option<Network>>,
    pub(super) refreshing: SingleFlight<Arc<Tokens>>,
    pub(super) authorizing: SingleFlight<Authorized>,
    pub(super) wanted: WantedScopes,
    loaded: OnceCell<()>,
    state: Mutex<State>,
    /// Number of changes of tokens, of all servers of the client.
    version: Arc<AtomicU64>,
}

#[derive(Debug, Default)]
struct State {
    tokens: Option<Arc<Tokens>>,
    /// Tokens that the server has accepted.
    accepted: Option<Generation>,
    /// Authorizations since a request with a token has last succeeded.
    unaccepted: u32,
    step_ups: StepUps,
    /// The last challenge that announced the metadata of the resource.
    challenge: Option<Challenge>,
    /// Digest of the last token of a source.
    source_token: Option<Digest>,
    /// Renewals before the expiry pause until this time, because one has failed.
    no_renewal_until: Option<Instant>,
}

impl Servers {
    /// Returns a number that changes with each token.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Returns the state of the server at a URL.
    pub(crate) fn of(&self, url: &Uri, settings: &Arc<Settings>) -> Result<Arc<Server>, AuthError> {
        let mut servers = self.by_url.lock().unwrap_or_else(PoisonError::into_inner);
        let key = url.to_string();
        if let Some(server) = servers.get(&key) {
            return Ok(Arc::clone(server));
        }
        let server = Arc::new(Server::new(
            url,
            Arc::clone(settings),
            Arc::clone(&self.version),
        )?);
        servers.insert(key, Arc::clone(&server));
        Ok(server)
    }
}

impl Server {
    fn new(url: &Uri, settings: Arc<Settings>, version: Arc<AtomicU64>) -> Result<Self, AuthError> {
        settings.check()?;
        if !may_receive_tokens(url) {
            let reason = "tokens are sent over `https` only, or over `http` to this computer; change the URL of the server";
            return Err(AuthError::invalid(reason));
        }
        Ok(Self {
            network: Mutex::default(),
            version,
            url: url.clone(),
            settings,
            refreshing: SingleFlight::default(),
            authorizing: SingleFlight::default(),
            wanted: WantedScopes::default(),
            loaded: OnceCell::new(),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn key(&self) -> StoreKey {
        StoreKey::server(&self.url.to_string())
    }

    /// Returns the key of tokens for this server. Servers of one resource have tokens of their own, with scopes of their own.
    pub(super) fn tokens_key(&self, binding: &ServerRecord) -> StoreKey {
        StoreKey::tokens(&self.url.to_string(), &binding.issuer, &binding.client_id)
    }

    /// Returns the tokens in use. The first call loads them from the store.
    pub(super) async fn tokens(&self) -> Result<Option<Arc<Tokens>>, AuthError> {
        self.loaded.get_or_try_init(|| self.load()).await?;
        Ok(self.state().tokens.clone())
    }

    async fn load(&self) -> Result<(), AuthError> {
        let store = &*self.settings.store;
        let binding = load::<ServerRecord>(store, &self.key()).await?;
        if let Some(binding) = binding {
            if let Some(tokens) = self.load_tokens(binding.record).await? {
                let mut state = self.state();
                state.accepted = Some(tokens.generation);
                state.tokens.get_or_insert(tokens);
            }
        }
        Ok(())
    }

    /// Loads the stored tokens of an authorization.
    pub(super) async fn load_tokens(
        &self,
        binding: ServerRecord,
    ) -> Result<Option<Arc<Tokens>>, AuthError> {
        let key = self.tokens_key(&binding);
        let entry = load::<TokenRecord>(&*self.settings.store, &key).await?;
        // Tokens of the other type are obtained again.
        let Some(entry) = entry.filter(|entry| entry.record.token_type == self.token_type()) else {
            return Ok(None);
        };
        let dpop = self.dpop_key(&binding).await?;
        Ok(Some(Arc::new(Tokens {
            binding,
            key,
            generation: entry.generation,
            record: entry.record,
            dpop,
            is_stored: true,
        })))
    }

    /// Returns the key that tokens of an authorization are bound to, if `DPoP` is configured.
    pub(super) async fn dpop_key(
        &self,
        binding: &ServerRecord,
    ) -> Result<Option<DpopKey>, AuthError> {
        DpopKey::of(&self.settings, &binding.issuer, &binding.client_id).await
    }

    /// Returns the type of the tokens that this client uses.
    pub(super) fn token_type(&self) -> TokenType {
        match self.settings.dpop {
            Some(_) => TokenType::Dpop,
            None => TokenType::Bearer,
        }
    }

    /// Returns true if an authorization may ask a user.
    pub(super) fn may_ask_user(&self) -> bool {
        matches!(&self.settings.method, Method::Grant(grant) if grant.may_ask_user())
    }

    pub(super) fn use_tokens(&self, tokens: &Arc<Tokens>) {
        self.state().tokens = Some(Arc::clone(tokens));
        self.note_change();
    }

    /// Replaces tokens, unless others have replaced them already.
    pub(super) fn replace_tokens(&self, old: Generation, tokens: Option<&Arc<Tokens>>) {
        let mut state = self.state();
        if state
            .tokens
            .as_ref()
            .is_some_and(|current| current.generation == old)
        {
            state.tokens = tokens.cloned();
            self.note_change();
        }
    }

    /// Notes the token of a source.
    pub(super) fn note_source_token(&self, token: &Secret) {
        let digest = digest(&SHA256, token.expose().as_bytes());
        let mut state = self.state();
        let known = state.source_token.replace(digest);
        if known.is_some_and(|known| known.as_ref() != digest.as_ref()) {
            self.note_change();
        }
    }

    fn note_change(&self) {
        self.version.fetch_add(1, Ordering::AcqRel);
    }

    /// Notes that the server has accepted tokens. The response to a slow request may concern former ones.
    pub(super) fn accepted(&self, used: Generation) {
        let mut state = self.state();
        let current = state.tokens.as_ref().map(|tokens| tokens.generation);
        if current == Some(used) {
            state.accepted = current;
        }
    }

    /// Notes that a request has succeeded, which resets the counters.
    pub(super) fn succeeded(&self, operation: Option<(&str, Option<&str>)>) {
        let mut state = self.state();
        state.unaccepted = 0;
        state.step_ups.forget(operation);
    }

    pub(super) fn is_accepted(&self, generation: Generation) -> bool {
        self.state().accepted == Some(generation)
    }

    /// Marks tokens of another process as accepted, so that they may be refreshed.
    pub(super) fn trust(&self, generation: Generation) {
        self.state().accepted = Some(generation);
    }

    /// Counts an authorization, and the step-up of its operation.
    pub(super) fn count_authorization(&self, need: &Need) {
        let mut state = self.state();
        state.unaccepted = state.unaccepted.saturating_add(1);
        if let (Cause::StepUp(operation), Some(scopes)) = (&need.cause, need.required()) {
            state.step_ups.count(operation, scopes);
        }
    }

    /// Returns false if the operation of the need has had its step-ups.
    pub(super) fn may_step_up(&self, need: &Need) -> bool {
        match (&need.cause, need.required()) {
            (Cause::StepUp(operation), Some(scopes)) => {
                self.state().step_ups.allow(operation, scopes)
            }
            _ => true,
        }
    }

    /// Returns the last challenge that announced the metadata of the resource. `latest` becomes it if it announces them.
    pub(super) fn announcement(&self, latest: Option<&Challenge>) -> Option<Challenge> {
        let mut state = self.state();
        let announces = |it: &&Challenge| it.parameter("resource_metadata").is_some();
        if let Some(latest) = latest.filter(announces) {
            state.challenge = Some(latest.clone());
        }
        state.challenge.clone()
    }

    /// Returns the number of authorizations since a request with a token has last succeeded.
    pub(super) fn unaccepted_authorizations(&self) -> u32 {
        self.state().unaccepted
    }

    /// Forgets tokens and counters.
    pub(super) fn reset(&self) {
        *self.state() = State::default();
        self.note_change();
    }

    /// Returns true if tokens should be renewed before the next request.
    pub(super) fn should_renew(&self, tokens: &Tokens) -> bool {
        let now = self.settings.clock.now();
        let pauses = self
            .state()
            .no_renewal_until
            .is_some_and(|end| Instant::now() < end);
        tokens.expires_soon(now) && (tokens.is_expired(now) || !pauses)
    }

    pub(super) fn pause_renewals(&self) {
        self.state().no_renewal_until = Some(Instant::now() + EARLY_RENEWAL_INTERVAL);
    }
}

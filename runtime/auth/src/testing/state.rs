//! State of the authorization server.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use serde_json::Value;

use super::fault::Faults;
use super::keys::{Keys, Members};
use super::record::RecordedRequest;
use super::test_client::TestClient;
use crate::{Clock, Scopes};

/// Configuration, which does not change after the start.
#[derive(Debug)]
pub(super) struct Settings {
    /// The issuer without a path: `http://127.0.0.1:49152`.
    pub(super) origin: String,
    /// The path of the issuer: empty, or with a slash in front and none at the end.
    pub(super) path: String,
    /// Resources that tokens are issued for. Empty: all.
    pub(super) resources: Vec<String>,
    /// Scopes that exist. Empty: all.
    pub(super) scopes: Scopes,
    pub(super) token_lifetime: Duration,
    pub(super) refresh: RefreshTokens,
    pub(super) token_format: TokenFormat,
    pub(super) requires_dpop: bool,
    pub(super) requires_nonce: bool,
    pub(super) requires_pushed: bool,
    pub(super) registration: Registration,
    /// Issuers whose assertions are accepted, with their JWK sets.
    pub(super) trusted: HashMap<String, Value>,
    pub(super) clock: Clock,
}

/// Behaviour of refresh tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RefreshTokens {
    Rotating,
    Reusable,
    None,
}

/// Dynamic registration of clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Registration {
    Open,
    None,
}

/// Format of access tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenFormat {
    Jwt,
    Opaque,
}

impl Settings {
    /// Returns the issuer.
    pub(super) fn issuer(&self) -> String {
        format!("{}{}", self.origin, self.path)
    }

    /// Returns the URL of an endpoint, such as `/token`.
    pub(super) fn url(&self, endpoint: &str) -> String {
        format!("{}{}{endpoint}", self.origin, self.path)
    }
}

/// Decision of the user.
///
/// [`TestAuthorizationServer::approve`](crate::testing::TestAuthorizationServer::approve) sets it.
#[cfg(feature = "test-authorization")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Approval {
    /// The user grants all requested scopes.
    All,
    /// The user grants the requested scopes that are in this set.
    Only(Scopes),
    /// The user refuses: the client receives `access_denied`.
    Denied,
}

/// State that requests change.
#[derive(Debug)]
pub(super) struct State {
    pub(super) keys: Keys,
    pub(super) clients: HashMap<String, TestClient>,
    pub(super) user: String,
    pub(super) approval: Approval,
    pub(super) codes: HashMap<String, Code>,
    pub(super) pushed: HashMap<String, Pushed>,
    pub(super) access_tokens: HashMap<String, AccessToken>,
    pub(super) refresh_tokens: HashMap<String, RefreshToken>,
    /// Ids of assertions and proofs that were used.
    pub(super) used_ids: HashSet<String>,
    pub(super) nonce: String,
    pub(super) faults: Faults,
    pub(super) requests: Vec<RecordedRequest>,
    /// Lead over the configured clock.
    pub(super) advanced: Duration,
}

/// Authorization of a client by a user, or of a client for itself.
#[derive(Clone, Debug)]
pub(super) struct Grant {
    /// Identifies the tokens that are revoked together.
    pub(super) id: String,
    pub(super) client: String,
    pub(super) subject: String,
    pub(super) scopes: Scopes,
    pub(super) resources: Vec<String>,
    /// Thumbprint of the DPoP key that the tokens are bound to.
    pub(super) key: Option<String>,
}

/// Pushed authorization request.
#[derive(Debug)]
pub(super) struct Pushed {
    pub(super) client: String,
    pub(super) parameters: String,
    pub(super) expires: SystemTime,
}

/// Authorization code.
#[derive(Debug)]
pub(super) struct Code {
    pub(super) grant: Grant,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) expires: SystemTime,
    pub(super) is_used: bool,
}

/// Issued access token.
#[derive(Clone, Debug)]
pub(super) struct AccessToken {
    pub(super) grant: Grant,
    /// Claims that a test has added.
    pub(super) claims: Members,
    pub(super) issued: SystemTime,
    pub(super) expires: SystemTime,
    pub(super) is_revoked: bool,
}

/// Issued refresh token.
#[derive(Clone, Debug)]
pub(super) struct RefreshToken {
    pub(super) grant: Grant,
    pub(super) is_used: bool,
    pub(super) is_revoked: bool,
}

impl State {
    /// Revokes all tokens of a grant.
    pub(super) fn revoke_grant(&mut self, grant: &str) {
        for token in self.access_tokens.values_mut() {
            token.is_revoked |= token.grant.id == grant;
        }
        for token in self.refresh_tokens.values_mut() {
            token.is_revoked |= token.grant.id == grant;
        }
    }
}

/// Configuration and state, which the listener and all handles share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Settings,
    state: Mutex<State>,
}

impl Shared {
    pub(super) fn new(settings: Settings, state: State) -> Self {
        Self {
            settings,
            state: Mutex::new(state),
        }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the time of the server's clock.
    pub(super) fn now(&self, state: &State) -> SystemTime {
        self.settings.clock.now() + state.advanced
    }
}

/// Returns seconds since the epoch.
pub(super) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0, |elapsed| elapsed.as_secs())
}

/// Returns an unguessable value: 256 random bits in base64url.
pub(super) fn random() -> String {
    let mut bytes = [0; 32];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.expect("the operating system provides random bytes");
    URL_SAFE_NO_PAD.encode(bytes)
}

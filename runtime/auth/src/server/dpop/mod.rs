//! Tokens that are bound to keys (DPoP, RFC 9449): checks of the proofs of requests.

mod nonces;
mod replays;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::request::Parts;

use self::nonces::Nonces;
use self::replays::MemoryReplays;
pub use self::replays::{ReplayFuture, ReplayStore};
use super::credentials::proof;
use super::refusal::Refusal;
use crate::AuthError;
use crate::jose::{Algorithm, Expected, check_proof, sha256_base64url};

/// Maximum age of a proof, and maximum lead of the clock of its client.
const WINDOW: Duration = Duration::from_secs(300);

/// Settings for tokens that are bound to a key of the client (DPoP), see
/// [`ResourceServer::dpop`](crate::ResourceServer::dpop).
///
/// A stolen token is useless without its key. A token that is bound to a key is never accepted as a bearer token.
///
/// ```
/// use treenail::auth::{Dpop, ResourceServer};
///
/// let authorization = ResourceServer::new("https://mcp.example.com/mcp").dpop(Dpop::required());
/// # let _ = authorization;
/// ```
#[cfg(feature = "authorization")]
#[derive(Clone)]
#[must_use = "settings do nothing until a resource server uses them"]
pub struct Dpop {
    required: bool,
    nonces: Option<Nonces>,
    replays: Replays,
}

/// Place of the proofs that were used.
#[derive(Clone)]
enum Replays {
    Memory(Arc<MemoryReplays>),
    Store(Arc<dyn ReplayStore>),
}

impl Dpop {
    /// Accepts bound tokens and bearer tokens.
    pub fn optional() -> Self {
        Self {
            required: false,
            nonces: None,
            replays: Replays::Memory(Arc::default()),
        }
    }

    /// Accepts bound tokens only.
    pub fn required() -> Self {
        Self {
            required: true,
            ..Self::optional()
        }
    }

    /// Requires a nonce of this server in each proof, so that a client cannot make proofs in advance.
    ///
    /// Nonces are valid for 5 minutes. Replicas of a server need the same `key`: 32 bytes that only they know.
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if the key has fewer than 32 bytes.
    pub fn nonces(mut self, key: impl AsRef<[u8]>) -> Result<Self, AuthError> {
        self.nonces = Some(Nonces::new(key.as_ref())?);
        Ok(self)
    }

    /// Remembers the proofs that were used in another place than the memory of this process, for replicas of a server.
    ///
    /// Default: the memory has 400,000 proofs, of which 100,000 are of one key. Requests beyond that are refused with the status
    /// 503 until proofs have expired, 5 minutes after their issue.
    pub fn replay_store(mut self, store: impl ReplayStore) -> Self {
        self.replays = Replays::Store(Arc::new(store));
        self
    }

    pub(super) fn is_required(&self) -> bool {
        self.required
    }

    /// Returns the algorithms of proofs.
    pub(super) fn algorithms() -> [&'static str; Algorithm::ALL.len()] {
        Algorithm::ALL.map(Algorithm::name)
    }

    /// Checks the proof of a request for the resource at `url` with a token that is bound to the key with `thumbprint`.
    pub(super) async fn check(
        &self,
        parts: &Parts,
        (url, token): (&str, &str),
        thumbprint: &str,
        now: SystemTime,
    ) -> Result<(), Refusal> {
        let proof = proof(&parts.headers);
        let proof = proof.ok_or(Refusal::Proof("the request needs one header `DPoP`"))?;
        let expected = Expected {
            method: parts.method.as_str(),
            url,
            token: Some(token),
            now,
            window: WINDOW,
        };
        let proof = check_proof(proof, &expected);
        let proof = proof.map_err(|error| Refusal::Proof(error.0))?;
        if proof.thumbprint != thumbprint {
            return Err(Refusal::Proof("the proof is of another key than the token"));
        }
        if let Some(nonces) = &self.nonces {
            if !proof
                .nonce
                .is_some_and(|nonce| nonces.is_valid(&nonce, now))
            {
                return Err(Refusal::Nonce(nonces.issue(now)));
            }
        }
        let id = sha256_base64url(format!("{} {}", proof.thumbprint, proof.id));
        let is_new = match &self.replays {
            Replays::Memory(memory) => memory.insert(thumbprint, &id, proof.expires_at, now),
            Replays::Store(store) => store.insert(&id, proof.expires_at, now).await,
        };
        match is_new {
            Ok(true) => Ok(()),
            Ok(false) => Err(Refusal::Proof("the proof was used before")),
            Err(_) => Err(Refusal::Unavailable(Duration::from_secs(1))),
        }
    }
}

impl fmt::Debug for Dpop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Dpop")
            .field("required", &self.required)
            .field("nonces", &self.nonces.is_some())
            .finish_non_exhaustive()
    }
}

//! DPoP at the resource server (RFC 9449, section 7): bound tokens need a proof for each request.

mod nonce;
mod replay;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use ring::digest::{Context, SHA256};

use self::nonce::Nonces;
pub use self::replay::{MemoryReplayStore, ReplayFuture, ReplayStore};
use crate::jose::{Algorithm, Expected, Proof, check_proof};
use crate::server::VerifiedToken;
use crate::{AuthError, Clock};

/// Maximum age of a proof, and maximum lead of the clock of a client.
const WINDOW: Duration = Duration::from_secs(300);

/// Checks of DPoP proofs (RFC 9449), for tokens that are bound to a key of the client.
///
/// By default, tokens without a binding are accepted as bearer tokens, and proofs need no nonce. Each proof is accepted once:
/// a [`MemoryReplayStore`] remembers the proofs of this process.
///
/// ```
/// use treenail::auth::DpopVerifier;
///
/// // Stolen tokens are useless without the key: no bearer tokens.
/// let dpop = DpopVerifier::new().required().with_nonces()?;
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
#[cfg(feature = "server")]
#[derive(Clone)]
pub struct DpopVerifier {
    required: bool,
    nonces: Option<Nonces>,
    replays: Arc<dyn ReplayStore>,
    clock: Clock,
}

/// Authorization scheme of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenScheme {
    Bearer,
    Dpop,
}

/// A request with an access token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DpopRequest<'a> {
    pub(crate) method: &'a str,
    /// The public URL of the request, without regard to its `Host`.
    pub(crate) url: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) scheme: TokenScheme,
    /// The text of the token.
    pub(crate) token: &'a str,
}

/// Reason why a request was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DpopRefusal {
    /// Status 401, `invalid_token`: the token and the scheme do not belong together.
    InvalidToken(&'static str),
    /// Status 401, `invalid_dpop_proof`.
    InvalidProof(&'static str),
    /// Status 401, `use_dpop_nonce`, with this nonce in `DPoP-Nonce`.
    UseNonce(String),
    /// Status 503: the memory of proofs cannot be reached, or is full.
    Unavailable,
}

impl DpopVerifier {
    /// Returns checks that accept bearer tokens too, and need no nonce.
    pub fn new() -> Self {
        Self {
            required: false,
            nonces: None,
            replays: Arc::new(MemoryReplayStore::new()),
            clock: Clock::system(),
        }
    }

    /// Refuses tokens without a binding.
    #[must_use]
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Requires a nonce of this server in proofs, with a random key. Nonces are valid for 5 minutes, and need no memory.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn with_nonces(mut self) -> Result<Self, AuthError> {
        self.nonces = Some(Nonces::random()?);
        Ok(self)
    }

    /// Requires a nonce in proofs, made with this key. Replicas of a server need a common key.
    #[must_use]
    pub fn with_nonce_key(mut self, key: [u8; 32]) -> Self {
        self.nonces = Some(Nonces::new(key));
        self
    }

    /// Remembers accepted proofs in this store. Replicas of a server need a common one to refuse each replay.
    #[must_use]
    pub fn with_replay_store(mut self, store: impl ReplayStore) -> Self {
        self.replays = Arc::new(store);
        self
    }

    /// Sets the clock, for tests. Default: the clock of the system.
    #[must_use]
    pub fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Returns true if tokens without a binding are refused.
    pub(crate) const fn is_required(&self) -> bool {
        self.required
    }

    /// Returns the names of the accepted algorithms, for challenges and metadata.
    pub(crate) fn algorithms() -> impl Iterator<Item = &'static str> {
        Algorithm::ALL.into_iter().map(Algorithm::name)
    }

    /// Checks a request after its token was verified. A bound token needs a proof, and another one must have no binding.
    ///
    /// Returns the nonce to send in `DPoP-Nonce` of the response, if the nonce of the request will expire soon.
    pub(crate) async fn check(
        &self,
        request: &DpopRequest<'_>,
        token: &VerifiedToken,
    ) -> Result<Option<String>, DpopRefusal> {
        let thumbprint = match (request.scheme, &token.key_thumbprint) {
            (TokenScheme::Bearer, None) if !self.required => return Ok(None),
            (TokenScheme::Bearer, None) => return Err(UNBOUND),
            (TokenScheme::Bearer, Some(_)) => return Err(BOUND),
            (TokenScheme::Dpop, None) => return Err(UNBOUND),
            (TokenScheme::Dpop, Some(thumbprint)) => thumbprint,
        };
        let now = self.clock.now();
        let proof = read_proof(request, now)?;
        if proof.thumbprint != *thumbprint {
            let reason = "the proof is by another key than that of the token";
            return Err(DpopRefusal::InvalidProof(reason));
        }
        let next_nonce = match &self.nonces {
            Some(nonces) => nonces.check(proof.nonce.as_deref(), now)?,
            None => None,
        };
        // The last check: a refused proof takes no memory.
        let fresh = self
            .replays
            .remember(proof_id(&proof), now, proof.expires_at);
        match fresh.await {
            Ok(true) => Ok(next_nonce),
            Ok(false) => Err(DpopRefusal::InvalidProof("the proof was used before")),
            Err(error) => {
                tracing::warn!(%error, "DPoP proofs cannot be checked for replays");
                Err(DpopRefusal::Unavailable)
            }
        }
    }

    /// Checks a token of a server without DPoP: a bound one is no bearer token.
    pub(crate) const fn check_unbound(token: &VerifiedToken) -> Result<(), DpopRefusal> {
        if token.key_thumbprint.is_some() {
            return Err(BOUND);
        }
        Ok(())
    }
}

const BOUND: DpopRefusal =
    DpopRefusal::InvalidToken("the token is bound to a key, and needs the scheme DPoP");
const UNBOUND: DpopRefusal = DpopRefusal::InvalidToken("the token is not bound to a key");

impl Default for DpopVerifier {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for DpopVerifier {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("DpopVerifier")
            .field("required", &self.required)
            .field("nonces", &self.nonces.is_some())
            .finish_non_exhaustive()
    }
}

fn read_proof(request: &DpopRequest<'_>, now: SystemTime) -> Result<Proof, DpopRefusal> {
    let mut fields = request.headers.get_all("dpop").iter();
    let (Some(field), None) = (fields.next(), fields.next()) else {
        let reason = "the request has not exactly one field `DPoP`";
        return Err(DpopRefusal::InvalidProof(reason));
    };
    let proof = field.to_str().map_err(|_| {
        DpopRefusal::InvalidProof("the field `DPoP` has characters outside of ASCII")
    })?;
    let expected = Expected {
        method: request.method,
        url: request.url,
        token: Some(request.token),
        now,
        window: WINDOW,
    };
    check_proof(proof, &expected).map_err(|error| DpopRefusal::InvalidProof(error.0))
}

/// Returns the identity of a proof: `jti` is unique for a key only.
fn proof_id(proof: &Proof) -> [u8; 32] {
    let mut context = Context::new(&SHA256);
    // The thumbprint has always 43 characters: no two pairs have one text.
    context.update(proof.thumbprint.as_bytes());
    context.update(proof.id.as_bytes());
    let mut id = [0; 32];
    id.copy_from_slice(context.finish().as_ref());
    id
}

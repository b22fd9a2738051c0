//! Checks of proofs (RFC 9449, section 4.3), without those that need memory: replays and nonces.

use std::time::{Duration, SystemTime};

use super::{TYPE, target};
use crate::jose::{JoseError, Jws, PublicKey, numeric_date, sha256_base64url, string};

/// The request that a proof must be for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Expected<'a> {
    /// The HTTP method.
    pub(crate) method: &'a str,
    /// The public URL of the request.
    pub(crate) url: &'a str,
    /// The access token of the request, if it has one.
    pub(crate) token: Option<&'a str>,
    /// The time of the request.
    pub(crate) now: SystemTime,
    /// Maximum age of a proof, and maximum lead of its clock.
    pub(crate) window: Duration,
}

/// A valid proof, if its `jti` is new and its nonce is one of the server.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    /// SHA-256 thumbprint of the key, in base64url.
    pub(crate) thumbprint: String,
    /// `jti`: unique for the key.
    pub(crate) id: String,
    /// `nonce`, if the proof has one.
    pub(crate) nonce: Option<String>,
    /// The time at which the proof becomes too old.
    #[cfg(feature = "authorization")]
    pub(crate) expires_at: SystemTime,
}

/// Checks a proof against the request.
pub(crate) fn check_proof(proof: &str, expected: &Expected<'_>) -> Result<Proof, JoseError> {
    let jws = Jws::parse(proof)?;
    if jws.header().typ.as_deref() != Some(TYPE) {
        return Err(JoseError("`typ` of the proof is not `dpop+jwt`"));
    }
    let jwk = jws.header().jwk.as_ref().and_then(|jwk| jwk.as_object());
    let key = PublicKey::from_jwk(jwk.ok_or(JoseError("the proof has no key in `jwk`"))?)?;
    jws.verify(&key)?;
    let claims = jws.claims();
    let required = |name| string(claims, name)?.ok_or(JoseError("the proof misses a claim"));
    let id = required("jti")?;
    if id.is_empty() {
        return Err(JoseError("`jti` of the proof is empty"));
    }
    if required("htm")? != expected.method {
        return Err(JoseError("the proof is for another method"));
    }
    if !target::is_same(required("htu")?, expected.url) {
        return Err(JoseError("the proof is for another URL"));
    }
    if let Some(token) = expected.token {
        let hash = required("ath")?;
        if hash != sha256_base64url(token) {
            return Err(JoseError("the proof is for another token"));
        }
    }
    let issued_at = numeric_date(claims, "iat")?;
    let issued_at = issued_at.ok_or(JoseError("the proof has no `iat`"))?;
    check_time(issued_at, expected)?;
    Ok(Proof {
        thumbprint: key.thumbprint(),
        id: id.to_owned(),
        nonce: string(claims, "nonce")?.map(str::to_owned),
        #[cfg(feature = "authorization")]
        expires_at: issued_at + expected.window,
    })
}

fn check_time(issued_at: SystemTime, expected: &Expected<'_>) -> Result<(), JoseError> {
    if expected.now > issued_at + expected.window {
        return Err(JoseError("the proof is too old"));
    }
    if issued_at > expected.now + expected.window {
        return Err(JoseError("the proof is from the future"));
    }
    Ok(())
}

//! Proof key for code exchange (RFC 7636), and other random values of a flow.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use crate::{AuthError, Secret};

/// Verifier and challenge of one flow, with the method `S256`.
#[derive(Debug)]
pub(crate) struct Pkce {
    pub(crate) verifier: Secret,
    pub(crate) challenge: String,
}

impl Pkce {
    /// Returns a new random verifier with its challenge.
    pub(crate) fn new() -> Result<Self, AuthError> {
        let verifier = random_text()?;
        let challenge = challenge(verifier.expose());
        Ok(Self {
            verifier,
            challenge,
        })
    }
}

/// Returns 32 random bytes in base64url.
pub(crate) fn random_text() -> Result<Secret, AuthError> {
    let mut bytes = zeroize::Zeroizing::new([0; 32]);
    let filled = SystemRandom::new().fill(bytes.as_mut());
    filled.map_err(|_| AuthError::invalid("could not obtain random bytes"))?;
    Ok(URL_SAFE_NO_PAD.encode(bytes).into())
}

fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_rfc_7636() {
        let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
        assert_eq!(
            challenge(verifier),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn verifiers_are_different_and_long_enough() {
        let (first, second) = (Pkce::new().unwrap(), Pkce::new().unwrap());
        assert_eq!(first.verifier.expose().len(), 43);
        assert_ne!(first.verifier.expose(), second.verifier.expose());
        assert_ne!(first.challenge, first.verifier.expose());
    }
}

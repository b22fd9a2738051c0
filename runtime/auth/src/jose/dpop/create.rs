//! Creation of proofs.

use std::time::SystemTime;

use ring::rand::{SecureRandom, SystemRandom};
use serde_json::{Map, Value, json};

use super::{TYPE, target};
use crate::AuthError;
use crate::jose::{Algorithm, SigningKey, base64url, sha256_base64url};

/// The request that a proof is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProofRequest<'a> {
    /// The HTTP method, in capitals.
    pub(crate) method: &'a str,
    /// The URL. Query and fragment are left out of the proof.
    pub(crate) url: &'a str,
    /// The access token of the request, if it has one.
    pub(crate) token: Option<&'a str>,
    /// The last nonce of the server.
    pub(crate) nonce: Option<&'a str>,
    /// The time of the proof.
    pub(crate) now: SystemTime,
}

impl SigningKey {
    /// Makes a proof, with a random `jti` of 128 bits. Each request needs one of its own, also when it is repeated.
    ///
    /// # Errors
    ///
    /// The system has no random numbers, or `algorithm` is not one of the key.
    pub(crate) fn dpop_proof(
        &self,
        algorithm: Algorithm,
        request: &ProofRequest<'_>,
    ) -> Result<String, AuthError> {
        let mut id = [0; 16];
        let no_random = |_| AuthError::Unavailable("the system has no random numbers".into());
        SystemRandom::new().fill(&mut id).map_err(no_random)?;
        let since = request.now.duration_since(SystemTime::UNIX_EPOCH);
        let mut claims = json!({
            "jti": base64url(id),
            "htm": request.method,
            "htu": target::without_query(request.url),
            "iat": since.unwrap_or_default().as_secs(),
        });
        if let Some(token) = request.token {
            claims["ath"] = sha256_base64url(token).into();
        }
        if let Some(nonce) = request.nonce {
            claims["nonce"] = nonce.into();
        }
        let mut header = Map::new();
        header.insert("typ".to_owned(), Value::from(TYPE));
        header.insert("alg".to_owned(), Value::from(algorithm.name()));
        header.insert("jwk".to_owned(), self.public_key().to_jwk().into());
        self.sign_as(algorithm, &header, claims.to_string().as_bytes())
    }
}

//! Private keys that sign tokens.

use std::fmt;
use std::sync::Arc;

use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair,
    KeyPair, RSA_PKCS1_SHA256, RSA_PKCS1_SHA384, RSA_PKCS1_SHA512, RSA_PSS_SHA256, RSA_PSS_SHA384,
    RSA_PSS_SHA512, RsaEncoding, RsaKeyPair, RsaPublicKeyComponents,
};
use serde_json::{Map, Value};

use super::{Algorithm, PublicKey, base64url, pem};
use crate::AuthError;

/// A private key that signs tokens: EC P-256 or P-384, Ed25519, or RSA with at least 2,048 bits.
///
/// Clones share the key. `Debug` shows its type and its id only.
///
/// ```
/// use treenail::auth::SigningKey;
///
/// let key = SigningKey::generate()?.key_id("2026");
/// // The authorization server is given the public part.
/// assert_eq!(key.public_jwk()["crv"], "P-256");
/// # Ok::<(), treenail::auth::AuthError>(())
/// ```
#[cfg(any(feature = "oauth", feature = "test-authorization"))]
#[derive(Clone)]
pub struct SigningKey {
    inner: Arc<Inner>,
    key_id: Option<Arc<str>>,
}

struct Inner {
    pair: Pair,
    public: PublicKey,
    /// The form for stores: `ring` does not export keys.
    #[cfg(any(feature = "oauth", test))]
    pkcs8: zeroize::Zeroizing<Vec<u8>>,
}

enum Pair {
    Ecdsa(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(RsaKeyPair),
}

impl SigningKey {
    /// Generates a key for ES256.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn generate() -> Result<Self, AuthError> {
        let pkcs8 =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        Self::from_pkcs8(pkcs8.map_err(|_| no_random())?.as_ref())
    }

    /// Generates a key for `EdDSA`, on the curve Ed25519.
    ///
    /// # Errors
    ///
    /// The system has no random numbers.
    pub fn generate_ed25519() -> Result<Self, AuthError> {
        let pkcs8 = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new());
        Self::from_pkcs8(pkcs8.map_err(|_| no_random())?.as_ref())
    }

    /// Reads an unencrypted private key in PEM (`BEGIN PRIVATE KEY`).
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if the text has no such section, or the key is of an unsupported type or size.
    pub fn from_pem(pem: &str) -> Result<Self, AuthError> {
        Self::from_pkcs8(&pem::read_pkcs8(pem)?)
    }

    /// Reads an unencrypted private key in PKCS#8 (DER).
    ///
    /// # Errors
    ///
    /// [`AuthError::Invalid`] if the key is malformed, or of an unsupported type or size.
    pub fn from_pkcs8(der: &[u8]) -> Result<Self, AuthError> {
        let pair = read_pair(der).ok_or_else(|| {
            AuthError::invalid(
                "the private key is not a PKCS#8 document of EC P-256, EC P-384 (both with the public key), Ed25519, or RSA \
                 with at least 2,048 bits",
            )
        })?;
        let public = pair.public();
        Ok(Self {
            inner: Arc::new(Inner {
                pair,
                public,
                #[cfg(any(feature = "oauth", test))]
                pkcs8: zeroize::Zeroizing::new(der.to_vec()),
            }),
            key_id: None,
        })
    }

    /// Sets the `kid` of signed tokens. Default: none.
    #[must_use]
    pub fn key_id(mut self, key_id: impl Into<String>) -> Self {
        self.key_id = Some(key_id.into().into());
        self
    }

    /// Returns the public key as a JWK (RFC 7517), with `kid` if one is set.
    pub fn public_jwk(&self) -> Value {
        let mut jwk = self.inner.public.to_jwk();
        if let Some(key_id) = &self.key_id {
            jwk.insert("kid".to_owned(), Value::from(&**key_id));
        }
        jwk.insert("use".to_owned(), Value::from("sig"));
        Value::Object(jwk)
    }

    /// Returns the public key.
    #[cfg(any(feature = "oauth", test))]
    pub(crate) fn public_key(&self) -> &PublicKey {
        &self.inner.public
    }

    /// Returns the private key in PKCS#8 (DER), for a store.
    #[cfg(any(feature = "oauth", test))]
    pub(crate) fn pkcs8(&self) -> &[u8] {
        &self.inner.pkcs8
    }

    /// Returns the preferred algorithm of the key.
    pub(crate) fn algorithm(&self) -> Algorithm {
        self.inner.public.algorithms()[0]
    }

    /// Returns the preferred algorithm of the key among those that a peer lists.
    #[cfg(any(feature = "oauth", test))]
    pub(crate) fn algorithm_among<'a>(
        &self,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Option<Algorithm> {
        let listed: Vec<_> = names.into_iter().filter_map(Algorithm::from_name).collect();
        let mut algorithms = self.inner.public.algorithms().iter();
        algorithms
            .find(|algorithm| listed.contains(algorithm))
            .copied()
    }

    /// Signs a JWT of this type (`typ`), with `kid` if one is set.
    ///
    /// # Errors
    ///
    /// The algorithm is not one of the key, or the system has no random numbers.
    #[cfg(any(feature = "oauth", test))]
    pub(crate) fn sign(
        &self,
        algorithm: Algorithm,
        typ: &str,
        claims: &Map<String, Value>,
    ) -> Result<String, AuthError> {
        let mut header = Map::new();
        header.insert("typ".to_owned(), Value::from(typ));
        header.insert("alg".to_owned(), Value::from(algorithm.name()));
        if let Some(key_id) = &self.key_id {
            header.insert("kid".to_owned(), Value::from(&**key_id));
        }
        let claims = Value::Object(claims.clone()).to_string();
        self.sign_as(algorithm, &header, claims.as_bytes())
    }

    /// Signs a payload under exactly this header, whatever it claims.
    ///
    /// # Errors
    ///
    /// The algorithm is not one of the key, or the system has no random numbers.
    pub(crate) fn sign_as(
        &self,
        algorithm: Algorithm,
        header: &Map<String, Value>,
        payload: &[u8],
    ) -> Result<String, AuthError> {
        let header = Value::Object(header.clone()).to_string();
        let signed = format!("{}.{}", base64url(header), base64url(payload));
        let signature = self.signature(algorithm, signed.as_bytes())?;
        Ok(format!("{signed}.{}", base64url(signature)))
    }

    /// Returns the signature of a message.
    ///
    /// # Errors
    ///
    /// The algorithm is not one of the key, or the system has no random numbers.
    pub(crate) fn signature(
        &self,
        algorithm: Algorithm,
        message: &[u8],
    ) -> Result<Vec<u8>, AuthError> {
        if !self.inner.public.algorithms().contains(&algorithm) {
            let name = algorithm.name();
            let reason = format!("the private key cannot sign with {name}");
            return Err(AuthError::invalid(reason));
        }
        let signature = self.inner.pair.sign(algorithm, message);
        signature.ok_or_else(no_random)
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SigningKey")
            .field("algorithm", &self.algorithm().name())
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

impl Pair {
    fn public(&self) -> PublicKey {
        match self {
            Self::Ecdsa(pair) => {
                let point = Box::from(pair.public_key().as_ref());
                if pair.public_key().as_ref().len() == 65 {
                    PublicKey::P256(point)
                } else {
                    PublicKey::P384(point)
                }
            }
            Self::Ed25519(pair) => PublicKey::Ed25519(pair.public_key().as_ref().into()),
            Self::Rsa(pair) => {
                let key = RsaPublicKeyComponents::<Vec<u8>>::from(pair.public());
                PublicKey::Rsa {
                    n: key.n.into(),
                    e: key.e.into(),
                }
            }
        }
    }

    /// Returns `None` if the system has no random numbers, or the algorithm is not one of RSA for an RSA key.
    fn sign(&self, algorithm: Algorithm, message: &[u8]) -> Option<Vec<u8>> {
        let random = SystemRandom::new();
        match self {
            Self::Ecdsa(pair) => Some(pair.sign(&random, message).ok()?.as_ref().to_vec()),
            Self::Ed25519(pair) => Some(pair.sign(message).as_ref().to_vec()),
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(rsa_encoding(algorithm)?, &random, message, &mut signature)
                    .ok()?;
                Some(signature)
            }
        }
    }
}

fn rsa_encoding(algorithm: Algorithm) -> Option<&'static dyn RsaEncoding> {
    Some(match algorithm {
        Algorithm::Rs256 => &RSA_PKCS1_SHA256,
        Algorithm::Rs384 => &RSA_PKCS1_SHA384,
        Algorithm::Rs512 => &RSA_PKCS1_SHA512,
        Algorithm::Ps256 => &RSA_PSS_SHA256,
        Algorithm::Ps384 => &RSA_PSS_SHA384,
        Algorithm::Ps512 => &RSA_PSS_SHA512,
        Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa | Algorithm::Ed25519 => return None,
    })
}

fn read_pair(der: &[u8]) -> Option<Pair> {
    let random = SystemRandom::new();
    let ecdsa = |algorithm| EcdsaKeyPair::from_pkcs8(algorithm, der, &random).ok();
    if let Some(pair) = ecdsa(&ECDSA_P256_SHA256_FIXED_SIGNING) {
        return Some(Pair::Ecdsa(pair));
    }
    if let Some(pair) = ecdsa(&ECDSA_P384_SHA384_FIXED_SIGNING) {
        return Some(Pair::Ecdsa(pair));
    }
    // OpenSSL writes Ed25519 keys without their public part. It is computed then.
    if let Ok(pair) = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der) {
        return Some(Pair::Ed25519(pair));
    }
    RsaKeyPair::from_pkcs8(der).ok().map(Pair::Rsa)
}

fn no_random() -> AuthError {
    AuthError::Unavailable("the system has no random numbers".into())
}

//! Sets of public keys of an issuer (RFC 7517, section 5).

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::parse_object;
use super::{Algorithm, Header, JoseError, Jws, PublicKey, string};

/// Usable keys of a JWK set: at most 64.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeySet {
    keys: Vec<Key>,
}

#[derive(Clone, Debug)]
struct Key {
    public: PublicKey,
    id: Option<Box<str>>,
    /// The one algorithm of the key, if the set names it. `None` for Ed25519, which has one algorithm with two names.
    algorithm: Option<Algorithm>,
}

impl KeySet {
    /// Maximum number of keys in a document.
    pub(crate) const MAX_KEYS: usize = 64;

    /// Reads a document. A key of an unknown type, or a malformed one, is left out, and the others remain.
    ///
    /// # Errors
    ///
    /// The document is no object with an array `keys`, or has more than 64 keys.
    pub(crate) fn parse(document: &[u8]) -> Result<Self, JoseError> {
        #[derive(Deserialize)]
        struct Document<'a> {
            #[serde(borrow)]
            keys: Vec<&'a RawValue>,
        }
        let document: Document<'_> = serde_json::from_slice(document)
            .map_err(|_| JoseError("a key set is not an object with an array `keys`"))?;
        if document.keys.len() > Self::MAX_KEYS {
            return Err(JoseError("a key set has more than 64 keys"));
        }
        let keys = document.keys.iter().filter_map(|key| read_key(key).ok());
        Ok(Self {
            keys: keys.collect(),
        })
    }

    /// Verifies the signature of a token by a key that fits its algorithm, and its `kid`. Without `kid`, exactly one key must
    /// fit.
    ///
    /// # Errors
    ///
    /// `Ok(false)` if no key fits. An error if one fits and the signature is not by it.
    pub(crate) fn verify(&self, token: &Jws<'_>) -> Result<bool, JoseError> {
        let header = token.header();
        let mut fitting = self.keys.iter().filter(|key| key.fits(header)).peekable();
        if fitting.peek().is_none() {
            return Ok(false);
        }
        if header.key_id.is_none() && fitting.clone().nth(1).is_some() {
            return Err(JoseError("several keys fit, and the token has no `kid`"));
        }
        if fitting.any(|key| token.verify(&key.public).is_ok()) {
            Ok(true)
        } else {
            Err(JoseError("the signature is invalid"))
        }
    }

    /// Returns true if the set has no usable key.
    #[cfg(feature = "authorization")]
    pub(crate) fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }
}

impl Key {
    fn fits(&self, header: &Header) -> bool {
        let same_id = header.key_id.is_none() || header.key_id.as_deref() == self.id.as_deref();
        let fits = match self.algorithm {
            Some(algorithm) => algorithm == header.algorithm,
            None => self.public.algorithms().contains(&header.algorithm),
        };
        same_id && fits
    }
}

fn read_key(json: &RawValue) -> Result<Key, JoseError> {
    let jwk = parse_object(json.get().as_bytes())?;
    let public = PublicKey::from_jwk(&jwk)?;
    let algorithm = string(&jwk, "alg")?.and_then(Algorithm::from_name);
    Ok(Key {
        id: string(&jwk, "kid")?.map(Into::into),
        algorithm: algorithm.filter(|_| !matches!(public, PublicKey::Ed25519(_))),
        public,
    })
}

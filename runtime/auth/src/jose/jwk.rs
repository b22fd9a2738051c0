//! Public keys and their JSON form (RFC 7517, 7518, 8037), with thumbprints (RFC 7638).

use serde_json::{Map, Value, json};

use super::{Algorithm, base64url};

/// A public key. Its parts have the lengths of its curve, or the bounds of RSA; a point may be off its curve, and then
/// verifies no signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PublicKey {
    /// Uncompressed point: `0x04`, x and y, 65 bytes.
    P256(Box<[u8]>),
    /// Uncompressed point: `0x04`, x and y, 97 bytes.
    P384(Box<[u8]>),
    /// 32 bytes.
    Ed25519(Box<[u8]>),
    /// Modulus of 2,048 to 8,192 bits and exponent, big-endian without leading zeros.
    Rsa { n: Box<[u8]>, e: Box<[u8]> },
}

impl PublicKey {
    /// Returns the algorithms of the key, the preferred one first.
    pub(crate) const fn algorithms(&self) -> &'static [Algorithm] {
        use Algorithm::{Ed25519, EdDsa, Es256, Es384, Ps256, Ps384, Ps512, Rs256, Rs384, Rs512};
        match self {
            Self::P256(_) => &[Es256],
            Self::P384(_) => &[Es384],
            Self::Ed25519(_) => &[EdDsa, Ed25519],
            Self::Rsa { .. } => &[Rs256, Ps256, Rs384, Ps384, Rs512, Ps512],
        }
    }

    /// Returns the members that RFC 7638 hashes, in its order.
    pub(crate) fn to_jwk(&self) -> Map<String, Value> {
        let jwk = match self {
            Self::P256(point) => ec_jwk("P-256", point),
            Self::P384(point) => ec_jwk("P-384", point),
            Self::Ed25519(x) => json!({ "crv": "Ed25519", "kty": "OKP", "x": base64url(x) }),
            Self::Rsa { n, e } => json!({ "e": base64url(e), "kty": "RSA", "n": base64url(n) }),
        };
        match jwk {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }

    /// Returns the SHA-256 thumbprint in base64url (RFC 7638).
    #[cfg(any(feature = "authorization", feature = "test-authorization"))]
    pub(crate) fn thumbprint(&self) -> String {
        // The members are in the order of their names, and their values need no escapes: this is the canonical form.
        super::sha256_base64url(Value::Object(self.to_jwk()).to_string())
    }
}

fn ec_jwk(curve: &str, point: &[u8]) -> Value {
    let (x, y) = point[1..].split_at(point.len() / 2);
    json!({ "crv": curve, "kty": "EC", "x": base64url(x), "y": base64url(y) })
}

#[cfg(any(feature = "authorization", feature = "test-authorization"))]
mod read {
    use ring::signature::{
        ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
        RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
        RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
        UnparsedPublicKey, VerificationAlgorithm,
    };
    use serde_json::{Map, Value};

    use super::PublicKey;
    use crate::jose::base64url_decode as decode;
    use crate::jose::{Algorithm, JoseError, string};

    /// Members of private and of symmetric keys (RFC 7518, section 6).
    const PRIVATE: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

    impl PublicKey {
        /// Reads a public key for signatures. `use`, `key_ops` and `alg`, if present, must allow verification.
        ///
        /// A private key is refused: one that was published is compromised.
        pub(crate) fn from_jwk(jwk: &Map<String, Value>) -> Result<Self, JoseError> {
            if PRIVATE.iter().any(|name| jwk.contains_key(*name)) {
                return Err(JoseError("a key has private members"));
            }
            let key = match (string(jwk, "kty")?, string(jwk, "crv")?) {
                (Some("EC"), Some("P-256")) => Self::P256(point(jwk, 32)?),
                (Some("EC"), Some("P-384")) => Self::P384(point(jwk, 48)?),
                (Some("OKP"), Some("Ed25519")) => Self::Ed25519(part(jwk, "x", 32)?),
                (Some("RSA"), _) => rsa(jwk)?,
                _ => return Err(JoseError("a key is of another type or curve")),
            };
            check_purpose(&key, jwk)?;
            Ok(key)
        }

        /// Returns true if `signature` is one of `message` by this key, and the algorithm is one of the key.
        pub(crate) fn verify(
            &self,
            algorithm: Algorithm,
            message: &[u8],
            signature: &[u8],
        ) -> bool {
            let verify = |algorithm: &'static dyn VerificationAlgorithm, key: &[u8]| {
                UnparsedPublicKey::new(algorithm, key)
                    .verify(message, signature)
                    .is_ok()
            };
            match (self, algorithm) {
                (Self::P256(point), Algorithm::Es256) => verify(&ECDSA_P256_SHA256_FIXED, point),
                (Self::P384(point), Algorithm::Es384) => verify(&ECDSA_P384_SHA384_FIXED, point),
                (Self::Ed25519(x), Algorithm::EdDsa | Algorithm::Ed25519) => verify(&ED25519, x),
                (Self::Rsa { n, e }, algorithm) => rsa_parameters(algorithm).is_some_and(|rsa| {
                    let key = RsaPublicKeyComponents { n, e };
                    key.verify(rsa, message, signature).is_ok()
                }),
                _ => false,
            }
        }
    }

    fn rsa_parameters(algorithm: Algorithm) -> Option<&'static RsaParameters> {
        Some(match algorithm {
            Algorithm::Rs256 => &RSA_PKCS1_2048_8192_SHA256,
            Algorithm::Rs384 => &RSA_PKCS1_2048_8192_SHA384,
            Algorithm::Rs512 => &RSA_PKCS1_2048_8192_SHA512,
            Algorithm::Ps256 => &RSA_PSS_2048_8192_SHA256,
            Algorithm::Ps384 => &RSA_PSS_2048_8192_SHA384,
            Algorithm::Ps512 => &RSA_PSS_2048_8192_SHA512,
            Algorithm::Es256 | Algorithm::Es384 | Algorithm::EdDsa | Algorithm::Ed25519 => {
                return None;
            }
        })
    }

    fn point(jwk: &Map<String, Value>, length: usize) -> Result<Box<[u8]>, JoseError> {
        let (x, y) = (part(jwk, "x", length)?, part(jwk, "y", length)?);
        Ok([&[4][..], &x, &y].concat().into())
    }

    fn part(jwk: &Map<String, Value>, name: &str, length: usize) -> Result<Box<[u8]>, JoseError> {
        let bytes = decode(string(jwk, name)?.unwrap_or_default())?;
        if bytes.len() != length {
            return Err(JoseError("a coordinate has another length than its curve"));
        }
        Ok(bytes.into())
    }

    fn rsa(jwk: &Map<String, Value>) -> Result<PublicKey, JoseError> {
        let integer = |name| -> Result<Box<[u8]>, JoseError> {
            let bytes = decode(string(jwk, name)?.unwrap_or_default())?;
            // Some issuers write a leading zero.
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            Ok(bytes[zeros..].into())
        };
        let (n, e) = (integer("n")?, integer("e")?);
        // `ring` rounds the length up to a byte. The first byte of 2,048 bits has its top bit set.
        let bits = n.len() * 8 - n.first().map_or(0, |byte| byte.leading_zeros() as usize);
        if !(2048..=8192).contains(&bits) {
            return Err(JoseError("an RSA key is not of 2,048 to 8,192 bits"));
        }
        Ok(PublicKey::Rsa { n, e })
    }

    fn check_purpose(key: &PublicKey, jwk: &Map<String, Value>) -> Result<(), JoseError> {
        if string(jwk, "use")?.is_some_and(|purpose| purpose != "sig") {
            return Err(JoseError("a key is not for signatures (`use`)"));
        }
        let verifies = |operations: &Value| {
            operations
                .as_array()
                .is_some_and(|operations| operations.iter().any(|name| name == "verify"))
        };
        if !jwk.get("key_ops").is_none_or(verifies) {
            return Err(JoseError("a key is not for verification (`key_ops`)"));
        }
        let Some(name) = string(jwk, "alg")? else {
            return Ok(());
        };
        match Algorithm::from_name(name) {
            Some(algorithm) if key.algorithms().contains(&algorithm) => Ok(()),
            _ => Err(JoseError("the algorithm of a key does not fit its type")),
        }
    }
}

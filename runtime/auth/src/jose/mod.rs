//! Signed tokens and keys: JWS, JWK, JWT and `DPoP` proofs over `ring` (RFC 7515, 7517, 7519, 7638, 9449).
//!
//! [`SigningKey`] signs. [`Jws`] reads a compact token strictly, and a [`PublicKey`] or a [`KeySet`] proves its signature.
//! `dpop` makes proofs ([`SigningKey::dpop_proof`]) and checks them ([`check_proof`]).
//!
//! **Invariant**: a key of a token's header proves nothing but a `DPoP` proof. **Invariant**: no reason of a refusal contains a
//! part of a token.

mod algorithm;
mod dpop;
mod encoding;
mod jwk;
#[cfg(any(feature = "oauth", feature = "test-authorization", test))]
mod pem;
#[cfg(any(feature = "oauth", feature = "test-authorization", test))]
mod signing;

#[cfg(test)]
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
pub(crate) mod tests;

#[cfg(any(feature = "authorization", feature = "test-authorization"))]
mod claims;
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
mod json;
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
mod jws;
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
mod key_set;

pub(crate) use self::algorithm::Algorithm;
pub(crate) use self::encoding::{base64url, sha256_base64url};
pub(crate) use self::jwk::PublicKey;

#[cfg(any(feature = "oauth", test))]
pub(crate) use self::dpop::ProofRequest;
#[cfg(any(feature = "oauth", feature = "test-authorization", test))]
pub use self::signing::SigningKey;

#[cfg(any(feature = "authorization", feature = "test-authorization"))]
pub(crate) use self::claims::{numeric_date, string};
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
pub(crate) use self::dpop::{Expected, check_proof};
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
pub(crate) use self::encoding::base64url_decode;
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
pub(crate) use self::jws::{Header, Jws};
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
pub(crate) use self::key_set::KeySet;

/// Reason why a key or a token was refused. Contains no part of either.
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct JoseError(pub(crate) &'static str);

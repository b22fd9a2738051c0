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
#[cfg(any(feature = "client", feature = "testing", test))]
mod pem;
#[cfg(any(feature = "client", feature = "testing", test))]
mod signing;

#[cfg(test)]
#[cfg(any(feature = "server", feature = "testing"))]
pub(crate) mod tests;

#[cfg(any(feature = "server", feature = "testing"))]
mod claims;
#[cfg(any(feature = "server", feature = "testing"))]
mod json;
#[cfg(any(feature = "server", feature = "testing"))]
mod jws;
#[cfg(any(feature = "server", feature = "testing"))]
mod key_set;

pub(crate) use self::algorithm::Algorithm;
pub(crate) use self::encoding::{base64url, sha256_base64url};
pub(crate) use self::jwk::PublicKey;

#[cfg(any(feature = "client", test))]
pub(crate) use self::dpop::ProofRequest;
#[cfg(any(feature = "client", feature = "testing", test))]
pub use self::signing::SigningKey;

#[cfg(any(feature = "server", feature = "testing"))]
pub(crate) use self::claims::{numeric_date, string};
#[cfg(any(feature = "server", feature = "testing"))]
pub(crate) use self::dpop::{Expected, check_proof};
#[cfg(any(feature = "server", feature = "testing"))]
pub(crate) use self::encoding::base64url_decode;
#[cfg(any(feature = "server", feature = "testing"))]
pub(crate) use self::jws::{Header, Jws};
#[cfg(any(feature = "server", feature = "testing"))]
pub(crate) use self::key_set::KeySet;

/// Reason why a key or a token was refused. Contains no part of either.
#[cfg(any(feature = "server", feature = "testing"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct JoseError(pub(crate) &'static str);

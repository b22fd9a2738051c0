//! `DPoP` proofs (RFC 9449, section 4): tokens that prove the possession of a key, for one request.

#[cfg(any(feature = "authorization", feature = "test-authorization"))]
mod check;
#[cfg(any(feature = "oauth", test))]
mod create;
mod target;

#[cfg(any(feature = "authorization", feature = "test-authorization"))]
pub(crate) use self::check::{Expected, check_proof};
#[cfg(any(feature = "oauth", test))]
pub(crate) use self::create::ProofRequest;

/// Type of proofs (`typ`).
const TYPE: &str = "dpop+jwt";

//! `DPoP` proofs (RFC 9449, section 4): tokens that prove the possession of a key, for one request.

#[cfg(any(feature = "server", feature = "testing"))]
mod check;
#[cfg(any(feature = "client", test))]
mod create;
mod target;

#[cfg(any(feature = "server", feature = "testing"))]
pub(crate) use self::check::{Expected, check_proof};
#[cfg(any(feature = "client", test))]
pub(crate) use self::create::ProofRequest;

/// Type of proofs (`typ`).
const TYPE: &str = "dpop+jwt";

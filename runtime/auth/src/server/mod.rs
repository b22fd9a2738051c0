//! OAuth resource server: verifies tokens, and enforces the scopes of operations.

mod dpop;
mod verifier;

pub(crate) use self::dpop::{DpopRefusal, DpopRequest, TokenScheme};
pub use self::dpop::{DpopVerifier, MemoryReplayStore, ReplayFuture, ReplayStore};
pub use self::verifier::{VerifiedToken, Verifier, VerifierFuture, VerifyError};

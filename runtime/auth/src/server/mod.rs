//! OAuth resource server: verifies tokens, and enforces the scopes of operations.

mod verifier;

pub use self::verifier::{VerifiedToken, Verifier, VerifierFuture, VerifyError};

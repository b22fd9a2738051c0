//! Verifiers of access tokens: signed ones by keys of their issuer, opaque ones by introspection, and fixed ones.

mod claims;
mod fixed;
mod introspection;
mod issuer_keys;
mod jwt;
mod refreshing;
mod remote;
#[cfg(test)]
mod tests;

pub use self::fixed::FixedTokenVerifier;
pub(super) use self::introspection::credentials;
pub use self::introspection::{IntrospectionVerifier, IntrospectionVerifierBuilder};
pub use self::jwt::{JwtVerifier, JwtVerifierBuilder};
pub(super) use self::remote::configured;

//! Proofs of possession (`DPoP`, RFC 9449): tokens that are useless without the private key of this client.

mod key;
mod nonces;

pub(super) use self::key::DpopKey;
pub(super) use self::nonces::Nonces;

use std::sync::Arc;

use http::HeaderName;

/// Name of the extension, which the client declares.
pub(super) const EXTENSION: &str = "io.modelcontextprotocol/auth/dpop";
/// Header of a proof.
pub(super) const PROOF: HeaderName = HeaderName::from_static("dpop");

/// Algorithm of the `DPoP` keys of a client.
#[cfg(feature = "oauth")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DpopAlgorithm {
    /// ECDSA on P-256 with SHA-256, which every server with `DPoP` supports.
    #[default]
    Es256,
    /// `EdDSA` on Ed25519.
    EdDsa,
}

impl DpopAlgorithm {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }
}

/// Configuration of `DPoP`, with the nonces of all servers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dpop {
    pub(super) algorithm: DpopAlgorithm,
    pub(super) nonces: Arc<Nonces>,
}

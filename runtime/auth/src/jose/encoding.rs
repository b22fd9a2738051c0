//! Base64url without padding (RFC 7515, section 2).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

/// Returns `bytes` in base64url without padding.
pub(crate) fn base64url(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the SHA-256 hash of `bytes` in base64url: the form of `ath`, `jkt` and `code_challenge`.
pub(crate) fn sha256_base64url(bytes: impl AsRef<[u8]>) -> String {
    base64url(digest(&SHA256, bytes.as_ref()))
}

/// Decodes base64url. Padding, other alphabets, white space and nonzero trailing bits are refused.
#[cfg(any(feature = "authorization", feature = "test-authorization"))]
pub(crate) fn base64url_decode(text: &str) -> Result<Vec<u8>, super::JoseError> {
    let error = super::JoseError("a part is not base64url without padding");
    URL_SAFE_NO_PAD.decode(text).map_err(|_| error)
}

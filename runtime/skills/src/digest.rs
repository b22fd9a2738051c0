//! Digests of files.

use std::fmt::Write as _;

use ring::digest::{SHA256, digest};

/// Returns `sha256:` and 64 lower-case hexadecimal digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let hash = digest(&SHA256, bytes);
    let mut text = String::with_capacity(71);
    text.push_str("sha256:");
    for byte in hash.as_ref() {
        // Writing to a `String` does not fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn digests_are_those_of_sha_256() {
        assert_eq!(
            super::sha256(b"abc"),
            "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}

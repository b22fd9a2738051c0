//! URIs of skills, files and folders: `skill://`, and the percent-encoded path.

use std::fmt::Write as _;

/// Scheme of the URIs of this crate's servers.
const SCHEME: &str = "skill://";

/// Returns the URI of a path with slashes. Its first segment has the place of an authority, which allows fewer characters.
pub(crate) fn of_path(path: &str) -> String {
    let mut uri = String::with_capacity(SCHEME.len() + path.len());
    uri.push_str(SCHEME);
    for (position, segment) in path.split('/').enumerate() {
        let others: &[u8] = match position {
            0 => b"-._~!$&'()*+,;=",
            _ => b"-._~!$&'()*+,;=:@",
        };
        if position > 0 {
            uri.push('/');
        }
        for byte in segment.bytes() {
            if byte.is_ascii_alphanumeric() || others.contains(&byte) {
                uri.push(byte.into());
            } else {
                // Writing to a `String` does not fail.
                let _ = write!(uri, "%{byte:02X}");
            }
        }
    }
    uri
}

/// Returns the last segment of a path.
pub(crate) fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_encoded() {
        for (path, uri) in [
            ("plan-trip/SKILL.md", "skill://plan-trip/SKILL.md"),
            ("a b/c d/é.md", "skill://a%20b/c%20d/%C3%A9.md"),
            (
                "x@y:1/a@b:1/(c)+100%.md",
                "skill://x%40y%3A1/a@b:1/(c)+100%25.md",
            ),
            ("a/b?c#d[1].md", "skill://a/b%3Fc%23d%5B1%5D.md"),
        ] {
            assert_eq!(of_path(path), uri);
        }
    }
}

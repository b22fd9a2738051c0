//! Identifiers of extensions.

/// Prefix of the extensions that the protocol itself defines.
pub(super) const OFFICIAL: &str = "io.modelcontextprotocol/";

/// Checks the identifier of an extension: a prefix of labels with dots between them, such as a reversed domain, then `/` and a
/// name. The error completes the sentence "the extension identifier …".
pub(crate) fn validate_identifier(id: &str) -> Result<(), &'static str> {
    const MAX_BYTES: usize = 256;

    if id.len() > MAX_BYTES {
        return Err("is longer than 256 bytes");
    }
    let Some((prefix, name)) = id.split_once('/') else {
        return Err(
            "has no prefix; expected the reversed domain of its author, as in `com.example/name`",
        );
    };
    if !prefix.split('.').all(is_label) {
        return Err(
            "has an invalid prefix; expected labels with dots between them, which start with a letter and have letters, digits \
             and `-` only",
        );
    }
    if !is_name(name) {
        return Err(
            "has an invalid name after `/`; expected letters, digits, `-`, `_` and `.`, with a letter or digit at both ends",
        );
    }
    Ok(())
}

fn is_label(label: &str) -> bool {
    let bytes = label.as_bytes();
    bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.last().is_some_and(u8::is_ascii_alphanumeric)
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let is_end = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    is_end(bytes.first())
        && is_end(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(byte))
}

#[cfg(test)]
mod tests {
    use super::validate_identifier;

    #[test]
    fn an_identifier_is_a_meta_key_with_a_prefix() {
        for id in [
            "com.example/x",
            "io.modelcontextprotocol/tasks",
            "localhost/a.b_c-9",
            "com.example-2/X",
        ] {
            assert_eq!(validate_identifier(id), Ok(()), "EXT-B-01: {id}");
        }
        let long = format!("com.example/{}", "x".repeat(256));
        for id in [
            "",
            "x",
            "/x",
            "com.example/",
            "com..example/x",
            "2com/x",
            "com-/x",
            "com.example/a/b",
            "com.example/-x",
            "com.example/x.",
            "com.example/x y",
            "com.exämple/x",
            &long,
        ] {
            assert!(validate_identifier(id).is_err(), "EXT-B-01: {id}");
        }
    }
}

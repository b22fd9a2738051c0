//! Validation of names, and suggestions for unknown ones.

pub(crate) use treenail_schema::internal::nearest;

/// Maximum length of a name that the specification recommends.
const MAX_NAME_BYTES: usize = 128;

/// Validates the name of a tool, a prompt or a resource. The error completes the sentence "the name …".
///
/// A name has 1 to 128 characters of `A-Z a-z 0-9 _ - .`; parts separated by dots must not be empty.
pub(crate) fn validate_name(name: &str) -> Result<(), &'static str> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.is_empty() {
        Err("is empty")
    } else if name.len() > MAX_NAME_BYTES {
        Err("is longer than 128 characters")
    } else if !name.bytes().all(legal) {
        Err("has characters other than `A-Z a-z 0-9 _ - .`")
    } else if name.split('.').any(str::is_empty) {
        Err("has an empty part before, after or between dots")
    } else {
        Ok(())
    }
}

/// Returns the name of a tool, a prompt or a resource including `namespace`, if it is valid.
pub(crate) fn full_name(kind: &str, namespace: &str, name: &str) -> Result<String, String> {
    let name = if namespace.is_empty() {
        name.to_owned()
    } else {
        format!("{namespace}.{name}")
    };
    match validate_name(&name) {
        Err(problem) => Err(format!("the {kind} name `{name}` {problem}")),
        Ok(()) => Ok(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_names_are_rejected() {
        for name in ["a", "weather.forecast", "a-b_c.D9", "a.b.c"] {
            assert_eq!(validate_name(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "a,b", "é", ".a", "a.", "a..b", "a/b"] {
            assert!(validate_name(name).is_err(), "{name}");
        }
        assert!(
            validate_name(&"a".repeat(128)).is_ok() && validate_name(&"a".repeat(129)).is_err()
        );
    }
}

//! Validation of names, and suggestions for unknown ones.

pub(crate) use treenail_schema::internal::nearest;
use treenail_schema::internal::quoted;

/// Maximum length of a name that the specification recommends.
const MAX_NAME_BYTES: usize = 128;
/// Maximum length of the name of a resource, which has no form of its own.
const MAX_RESOURCE_NAME_BYTES: usize = 1024;

/// Validates the name of an item of this kind. The error completes the sentence "the name …".
///
/// Names of resources and URI templates are for display, since their URIs identify them: they have 1 to 1,024 bytes without control
/// characters.
pub(crate) fn validate(kind: &str, name: &str) -> Result<(), &'static str> {
    if matches!(kind, "tool" | "prompt") {
        validate_name(name)
    } else if name.is_empty() {
        Err("is empty")
    } else if name.len() > MAX_RESOURCE_NAME_BYTES {
        Err("is longer than 1,024 bytes")
    } else if name.chars().any(char::is_control) {
        Err("has a control character")
    } else {
        Ok(())
    }
}

/// Validates the name of a tool, a prompt or a namespace. The error completes the sentence "the name …".
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
    match validate(kind, &name) {
        Err(problem) => Err(format!("the {kind} name {} {problem}", quoted(&name))),
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

    #[test]
    fn names_of_resources_are_free_but_bounded() {
        for name in ["Page: über uns", "a/b", "..", &"é".repeat(512)] {
            assert_eq!(validate("resource", name), Ok(()), "{name}");
            assert!(validate("tool", name).is_err(), "{name}");
        }
        for name in ["", "a\nb", "\u{1b}[2J", &"a".repeat(1_025)] {
            assert!(validate("resource", name).is_err(), "{name:?}");
        }
    }
}

//! Validation of names, and suggestions for unknown ones.

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

/// Returns the name among `known` that is most similar to `asked`, if it is similar enough to suggest.
pub fn nearest<'a>(asked: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if asked.len() > MAX_NAME_BYTES {
        return None;
    }
    known
        .map(|name| (distance(asked, name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= name.len().max(asked.len()).div_ceil(3))
        .map(|(_, name)| name)
}

/// Returns the edit distance, ignoring case: the number of insertions, deletions, substitutions and transpositions of
/// adjacent characters (optimal string alignment).
fn distance(from: &str, to: &str) -> usize {
    let from = from.to_ascii_lowercase().into_bytes();
    let to = to.to_ascii_lowercase().into_bytes();
    let mut before = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = Vec::with_capacity(to.len() + 1);
        row.push(i);
        for j in 1..=to.len() {
            let change = last[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(before[j - 2] + 1_usize);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
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
    fn similar_names_are_suggested() {
        let known = ["files.list", "files.read", "files.search"];
        let table = [
            ("files.serach", Some("files.search")),
            ("files.lits", Some("files.list")),
            ("Files.Read", Some("files.read")),
            ("file_read", Some("files.read")),
            ("weather", None),
            ("", None),
        ];
        for (asked, expected) in table {
            assert_eq!(nearest(asked, known.into_iter()), expected, "{asked}");
        }
    }
}

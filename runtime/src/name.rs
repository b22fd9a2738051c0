//! Names of tools: what is allowed, and which known one was probably meant.

/// The longest name that the specification recommends.
const LONGEST: usize = 128;

/// Says what is wrong with `name` as the name of a tool, if anything.
///
/// Allowed are 1 to 128 of `A-Z a-z 0-9 _ - .`, and nothing between two dots may be empty.
pub(crate) fn flaw(name: &str) -> Option<&'static str> {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if name.is_empty() {
        Some("is empty")
    } else if name.len() > LONGEST {
        Some("is longer than 128 characters")
    } else if !name.bytes().all(legal) {
        Some("has characters other than `A-Z a-z 0-9 _ - .`")
    } else if name.split('.').any(str::is_empty) {
        Some("has nothing before, after or between dots")
    } else {
        None
    }
}

/// The one of `known` that is nearest to `asked`, if it is near enough to be worth naming.
pub fn nearest<'a>(asked: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if asked.len() > LONGEST {
        return None;
    }
    known
        .map(|name| (distance(asked, name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| *distance <= name.len().max(asked.len()).div_ceil(3))
        .map(|(_, name)| name)
}

/// How many insertions, deletions, changes and swaps of neighbours lead from one text to the other, case aside
/// (optimal string alignment).
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
    fn flaws_of_names_are_told() {
        for name in ["a", "weather.forecast", "a-b_c.D9", "a.b.c"] {
            assert_eq!(flaw(name), None, "{name}");
        }
        for name in ["", "a b", "a,b", "é", ".a", "a.", "a..b", "a/b"] {
            assert!(flaw(name).is_some(), "{name}");
        }
        assert!(flaw(&"a".repeat(128)).is_none() && flaw(&"a".repeat(129)).is_some());
    }

    #[test]
    fn the_nearest_name_is_found_if_it_is_near() {
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

//! Suggestions for misspelt names.

/// Maximum length of a name that is compared, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// Returns the name among `known` that is most similar to `asked`, if it is similar enough to suggest.
pub fn nearest<'a>(asked: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if asked.len() > MAX_NAME_BYTES {
        return None;
    }
    known
        .map(|name| (distance(asked, name), name))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, name)| {
            let longest = name.len().max(asked.len());
            // Two letters are not similar because they are single letters.
            *distance <= longest.div_ceil(3) && *distance < longest
        })
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

    #[test]
    fn a_letter_is_similar_to_its_other_case_only() {
        for (asked, expected) in [("X", Some("x")), ("y", None), ("xy", Some("x")), ("", None)] {
            assert_eq!(nearest(asked, ["x"].into_iter()), expected, "{asked}");
        }
    }
}

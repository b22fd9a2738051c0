//! Suggestions for misspelt names.

/// Maximum length of a name that is compared, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// Maximum number of pairs of bytes that are compared for one suggestion, about a millisecond. Peers choose the names that
/// they ask for, and a server may know tens of thousands.
const MAX_COMPARED_BYTES: usize = 1 << 17;

/// Returns the name among `known` that is most similar to `asked`, if it is similar enough to suggest. Of a long list, only
/// the first names are compared.
pub fn nearest<'a>(asked: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    if asked.len() > MAX_NAME_BYTES {
        return None;
    }
    let mut search = Search::new(asked);
    let mut best: Option<(usize, &str)> = None;
    for name in known.filter(|name| name.len() <= MAX_NAME_BYTES) {
        let longest = name.len().max(asked.len());
        // Two letters are not similar because they are single letters.
        let similar = longest.div_ceil(3).min(longest.saturating_sub(1));
        let max = match best {
            Some((0, _)) => break,
            Some((distance, _)) => similar.min(distance - 1),
            None => similar,
        };
        if longest > 0 && name.len().abs_diff(asked.len()) <= max {
            best = search.distance(name, max).map(|it| (it, name)).or(best);
        }
        if search.compared > MAX_COMPARED_BYTES {
            break;
        }
    }
    best.map(|(_, name)| name)
}

/// Search for the name that is nearest to another one, with buffers for all comparisons.
struct Search {
    asked: Vec<u8>,
    name: Vec<u8>,
    /// The last three rows of the table of distances.
    rows: [Vec<usize>; 3],
    /// Number of pairs of bytes that have been compared.
    compared: usize,
}

impl Search {
    fn new(asked: &str) -> Self {
        Self {
            asked: asked.to_ascii_lowercase().into_bytes(),
            name: Vec::new(),
            rows: Default::default(),
            compared: 0,
        }
    }

    /// Returns the edit distance to `name`, ignoring case, if it is at most `max`: the number of insertions, deletions,
    /// substitutions and transpositions of adjacent characters (optimal string alignment).
    fn distance(&mut self, name: &str, max: usize) -> Option<usize> {
        let Self {
            asked, name: to, ..
        } = self;
        to.clear();
        to.extend(name.bytes().map(|byte| byte.to_ascii_lowercase()));
        let [before, last, row] = &mut self.rows;
        last.clear();
        last.extend(0..=to.len());
        // Smallest distances of the last two rows, from which all later ones follow.
        let mut smallest = [0, 0];
        for i in 1..=asked.len() {
            row.clear();
            row.push(i);
            for j in 1..=to.len() {
                let change = last[j - 1] + usize::from(asked[i - 1] != to[j - 1]);
                let mut best = change.min(last[j] + 1).min(row[j - 1] + 1);
                if i > 1 && j > 1 && asked[i - 1] == to[j - 2] && asked[i - 2] == to[j - 1] {
                    best = best.min(before[j - 2] + 1_usize);
                }
                row.push(best);
            }
            self.compared += to.len();
            smallest = [smallest[1], row.iter().copied().min().unwrap_or(i)];
            if smallest.iter().all(|smallest| *smallest > max) {
                return None;
            }
            std::mem::swap(before, last);
            std::mem::swap(last, row);
        }
        Some(last[to.len()]).filter(|distance| *distance <= max)
    }
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

    #[test]
    fn adjacent_characters_may_be_swapped_anywhere() {
        let known = ["ab_search_files", "search_files"];
        for asked in ["esarch_files", "search_filse", "saerch_flies"] {
            assert_eq!(nearest(asked, known.into_iter()), Some("search_files"));
        }
    }

    #[test]
    fn the_work_for_a_long_list_is_bounded() {
        let known: Vec<_> = (0..100_000)
            .map(|n| format!("{}{n:05}", "x".repeat(90)))
            .collect();
        let mut read = 0;
        let names = known.iter().map(|name| {
            read += 1;
            name.as_str()
        });
        let asked = format!("{}{}", "x".repeat(60), "y".repeat(35));
        assert_eq!(nearest(&asked, names), None);
        assert!(read < 1_000, "{read} names were compared");
    }

    #[test]
    fn long_names_are_not_compared() {
        let long = format!("{}x", "y".repeat(MAX_NAME_BYTES));
        assert_eq!(nearest(&long[1..], [&*long, "y"].into_iter()), None);
    }
}

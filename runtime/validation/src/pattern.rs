//! Cost of matching a string with a pattern.

/// Number of pattern states that count as one step.
const STATES_PER_STEP: u64 = 4;

/// Returns the steps for each piece of a string. An automaton usually takes constant time for each byte; in the worst
/// case, it visits all states of the pattern.
pub(crate) fn match_steps(pattern: &str) -> u64 {
    1 + count_states(pattern) / STATES_PER_STEP
}

/// Estimates the states of a pattern: each atom counts as often as it may repeat.
fn count_states(pattern: &str) -> u64 {
    let mut rest = pattern.chars();
    // `groups`: the open groups, each with the states before it. `sum`: the states of the innermost group. `last`:
    // those of its last atom.
    let (mut groups, mut sum, mut last) = (Vec::new(), 0_u64, 0_u64);
    while let Some(character) = rest.next() {
        match character {
            '(' => {
                groups.push(sum.saturating_add(last));
                (sum, last) = (0, 0);
            }
            ')' => {
                last = sum.saturating_add(last);
                sum = groups.pop().unwrap_or_default();
            }
            '{' => {
                let (times, bounds) = parse_repetition(rest.as_str());
                rest = rest.as_str()[bounds..].chars();
                last = last.saturating_mul(times);
            }
            '*' | '+' | '?' | '|' | '^' | '$' => {}
            other => {
                match other {
                    '\\' => drop(rest.next()),
                    '[' => skip_class(&mut rest),
                    _ => {}
                }
                sum = sum.saturating_add(last);
                last = 1;
            }
        }
    }
    let before = groups.into_iter().fold(sum, u64::saturating_add);
    before.saturating_add(last)
}

/// Returns the largest count of a repetition after its brace, and the bytes of its bounds.
fn parse_repetition(text: &str) -> (u64, usize) {
    let Some(end) = text.find('}') else {
        return (1, 0);
    };
    let mut max = 1;
    for bound in text[..end].split(',').filter(|bound| !bound.is_empty()) {
        // Braces without numbers are literal text.
        let digits = bound.bytes().all(|byte| byte.is_ascii_digit());
        if !digits {
            return (1, 0);
        }
        max = max.max(bound.parse().unwrap_or(u64::MAX));
    }
    (max, end + 1)
}

/// Skips a character class up to its end.
fn skip_class(rest: &mut std::str::Chars<'_>) {
    let mut is_first = true;
    while let Some(character) = rest.next() {
        match character {
            '\\' => drop(rest.next()),
            ']' if !is_first => return,
            '^' if is_first => continue,
            _ => {}
        }
        is_first = false;
    }
}

/// Returns whether matching a pattern may need backtracking, and so take more than linear time.
pub(crate) fn needs_backtracking(pattern: &str) -> bool {
    const BACKTRACKING_SYNTAX: [&str; 14] = [
        "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?(", "(?P=", "\\k", "\\g", "\\K", "\\G", "*+", "++",
        "?+",
    ];
    let refers_back = pattern
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
    refers_back
        || pattern.contains("}+")
        || BACKTRACKING_SYNTAX
            .iter()
            .any(|syntax| pattern.contains(syntax))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_atoms_count_as_often_as_they_are_repeated() {
        let cases = [
            ("", 0),
            ("abc", 3),
            ("^[a-z0-9]+(?:-[a-z0-9]+)*$", 4),
            ("[0-9a-f]{64}", 64),
            ("(a?){200}b", 201),
            ("((ab){10}c){3,20}d", 421),
            ("\\d{3}\\{4}", 6),
            ("[]{5}]{2}", 2),
            ("[^]{5}]{2}", 2),
            ("a{2", 2),
            ("a{x}", 3),
            ("(((a", 1),
            ("a{18446744073709551616}{9}", u64::MAX),
        ];
        for (pattern, expected) in cases {
            assert_eq!(count_states(pattern), expected, "{pattern}");
        }
    }
}

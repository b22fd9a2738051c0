//! Cost of matching a text with a pattern.

/// States of a pattern that count as one more step.
const STATES: u64 = 4;

/// Steps that a pattern takes for each piece of a text. An automaton usually takes the same time for every byte; at worst,
/// all states of the pattern are looked at for each.
pub(super) fn steps(pattern: &str) -> u64 {
    1 + states(pattern) / STATES
}

/// Estimates the states of a pattern: its atoms, each as often as it may be repeated.
fn states(pattern: &str) -> u64 {
    let mut rest = pattern.chars();
    // The groups that are open, each with the states before it; the states of the innermost one; those of its last atom.
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
                let (times, bounds) = repetition(rest.as_str());
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

/// The largest count of a repetition behind its brace, and how many bytes its bounds take.
fn repetition(text: &str) -> (u64, usize) {
    let Some(end) = text.find('}') else {
        return (1, 0);
    };
    let mut most = 1;
    for bound in text[..end].split(',').filter(|bound| !bound.is_empty()) {
        // One that is no number is a text that is matched as it is.
        let digits = bound.bytes().all(|byte| byte.is_ascii_digit());
        if !digits {
            return (1, 0);
        }
        most = most.max(bound.parse().unwrap_or(u64::MAX));
    }
    (most, end + 1)
}

/// Skips a class of characters up to its end.
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

/// Whether matching a pattern may have to go back, and so take longer than in proportion to the text.
pub(super) fn goes_back(pattern: &str) -> bool {
    const SIGNS: [&str; 14] = [
        "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?(", "(?P=", "\\k", "\\g", "\\K", "\\G", "*+", "++",
        "?+",
    ];
    let refers_back = pattern
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0] == b'\\' && pair[1].is_ascii_digit());
    refers_back || pattern.contains("}+") || SIGNS.iter().any(|sign| pattern.contains(sign))
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
            assert_eq!(states(pattern), expected, "{pattern}");
        }
    }
}

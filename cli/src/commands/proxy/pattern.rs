//! Patterns of `--filter`.

use crate::exit::Failure;

/// Patterns, of which the last one that matches decides.
#[derive(Clone, Debug)]
pub(super) struct Patterns(Vec<Pattern>);

#[derive(Clone, Debug)]
struct Pattern {
    excludes: bool,
    text: String,
}

impl Patterns {
    pub(super) fn parse(given: &[String]) -> Result<Self, Failure> {
        let pattern = |text: &String| {
            let (excludes, pattern) = match text.strip_prefix('!') {
                Some(pattern) => (true, pattern),
                None => (false, &**text),
            };
            if pattern.is_empty() {
                let message = format!(
                    "invalid value `{text}` for --filter: expected a name, perhaps with `*`"
                );
                return Err(Failure::usage(message));
            }
            let text = pattern.to_owned();
            Ok(Pattern { excludes, text })
        };
        given
            .iter()
            .map(pattern)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns true if a name is served. Without a match it is, unless some pattern includes names.
    pub(super) fn include(&self, name: &str) -> bool {
        let last = self
            .0
            .iter()
            .rev()
            .find(|pattern| matches(&pattern.text, name));
        match last {
            Some(pattern) => !pattern.excludes,
            None => self.0.iter().all(|pattern| pattern.excludes),
        }
    }
}

/// Returns true if `name` matches a pattern in which `*` is any text.
fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = rest.split('*').collect();
    let last = parts.pop().unwrap_or_default();
    for part in parts {
        match name.find(part) {
            Some(at) => name = &name[at + part.len()..],
            None => return false,
        }
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_pattern_that_matches_decides() {
        let table = [
            (&[][..], "a.b", true),
            (&["a.*"], "a.b", true),
            (&["a.*"], "c.b", false),
            (&["!a.*"], "a.b", false),
            (&["!a.*"], "c.b", true),
            (
                &["a.*", "!a.delete*", "a.delete_old"],
                "a.delete_new",
                false,
            ),
            (&["a.*", "!a.delete*", "a.delete_old"], "a.delete_old", true),
            (&["*.read*file"], "a.read_text_file", true),
            (&["*.read*file"], "a.read_text", false),
            (&["a"], "a.b", false),
        ];
        for (patterns, name, expected) in table {
            let given: Vec<String> = patterns
                .iter()
                .map(|&text: &&str| text.to_owned())
                .collect();
            let patterns = Patterns::parse(&given).expect("they are valid");
            assert_eq!(patterns.include(name), expected, "{given:?} {name}");
        }
        assert!(Patterns::parse(&["!".to_owned()]).is_err());
    }
}

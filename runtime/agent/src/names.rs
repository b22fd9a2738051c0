//! Names of tools as the model sees them.

use std::collections::HashMap;

use ring::digest::{SHA256, digest};

/// Maximum length of a name that model hosts accept.
const MAX_NAME_LEN: usize = 64;

/// Key of a tool: the index of its source, and its name at the source.
pub(super) type ToolKey = (usize, String);

/// Names of tools as the model sees them. An assigned name never changes, so a tool has the same name for a whole run.
#[derive(Debug, Default)]
pub(super) struct ToolNames {
    keys: HashMap<String, ToolKey>,
    names: HashMap<ToolKey, String>,
}

impl ToolNames {
    /// Assigns names to tools that have none. Each key is paired with its preferred name, such as `weather__forecast`.
    pub(super) fn assign(&mut self, tools: &[(ToolKey, String)]) {
        // Valid names are assigned first, so that no generated name takes them.
        let (legal, other): (Vec<_>, Vec<_>) = tools
            .iter()
            .partition(|(_, preferred_name)| is_legal(preferred_name));
        for (key, preferred_name) in legal.into_iter().chain(other) {
            if !self.names.contains_key(key) {
                let name = self.unique_name(key, preferred_name);
                self.keys.insert(name.clone(), key.clone());
                self.names.insert(key.clone(), name);
            }
        }
    }

    pub(super) fn name(&self, key: &ToolKey) -> Option<&str> {
        self.names.get(key).map(String::as_str)
    }

    /// Returns an unused, valid name for a tool that is as close to the preferred one as possible.
    fn unique_name(&self, key: &ToolKey, preferred_name: &str) -> String {
        let mapped: String = preferred_name.chars().map(legal_char).collect();
        if is_legal(&mapped) && !self.keys.contains_key(&mapped) {
            return mapped;
        }
        let digest = hex_digest(&format!("{}\0{}", key.0, key.1));
        let lengths = [8, 16, 32, 62];
        let candidates = lengths.map(|length| {
            let prefix = mapped.len().min(MAX_NAME_LEN - length - 1);
            format!("{}_{}", &mapped[..prefix], &digest[..length])
        });
        let is_free = |name: &&String| !self.keys.contains_key(*name);
        // A digest of 62 digits is unique.
        let free = candidates.iter().find(is_free).unwrap_or(&candidates[3]);
        free.clone()
    }
}

/// Preferred name of a tool: its own, prefixed with its source if there are several.
pub(super) fn preferred_name(source: Option<&str>, tool: &str) -> String {
    match source {
        Some(source) => format!("{source}__{tool}"),
        None => tool.to_owned(),
    }
}

fn is_legal(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME_LEN
        && name.chars().all(|char| legal_char(char) == char)
}

fn legal_char(char: char) -> char {
    if char.is_ascii_alphanumeric() || char == '_' || char == '-' {
        char
    } else {
        '_'
    }
}

fn hex_digest(text: &str) -> String {
    const DIGITS: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f',
    ];

    let digest = digest(&SHA256, text.as_bytes());
    let bytes = digest.as_ref().iter();
    bytes
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|half| DIGITS[usize::from(half)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(tools: &[(usize, &str)], prefixes: Option<&[&str]>) -> Vec<String> {
        let mut names = ToolNames::default();
        let tools: Vec<_> = tools
            .iter()
            .map(|(source, tool)| {
                let prefix = prefixes.map(|prefixes| prefixes[*source]);
                ((*source, (*tool).to_owned()), preferred_name(prefix, tool))
            })
            .collect();
        names.assign(&tools);
        tools
            .iter()
            .map(|(key, _)| {
                let name = names.name(key).unwrap();
                assert!(is_legal(name), "{name}");
                assert_eq!(names.keys[name], *key, "CLI-TOOL-01: reversible");
                name.to_owned()
            })
            .collect()
    }

    #[test]
    fn names_are_valid_and_unique() {
        assert_eq!(assigned(&[(0, "add"), (0, "a-b")], None), ["add", "a-b"]);
        let dotted = assigned(&[(0, "weather.forecast"), (0, "weather/forecast")], None);
        assert_eq!(dotted[0], "weather_forecast");
        assert!(dotted[1].starts_with("weather_forecast_"), "{dotted:?}");
        // A tool whose own name is valid retains it, whatever the order.
        let assigned_names = assigned(&[(0, "a.b"), (0, "a_b")], None);
        assert_eq!(assigned_names[1], "a_b");
        assert_ne!(assigned_names[0], "a_b");
        let sources = assigned(&[(0, "c"), (1, "b__c"), (1, "c")], Some(&["a__b", "a"]));
        assert_eq!(sources[0], "a__b__c");
        assert!(
            sources[1].starts_with("a__b__c_"),
            "CLI-TOOL-01: {sources:?}"
        );
        assert_eq!(sources[2], "a__c");
    }

    #[test]
    fn long_names_are_shortened_deterministically() {
        let (one, other) = ("x".repeat(128), "x".repeat(127) + "y");
        let first = assigned(&[(0, &one), (0, &other)], None);
        let second = assigned(&[(0, &other), (0, &one)], None);
        assert_eq!(first[0].len(), MAX_NAME_LEN);
        assert_ne!(first[0], first[1]);
        assert_eq!(first, [second[1].clone(), second[0].clone()]);
        assert_eq!(assigned(&[(0, "ü"), (0, "")], None)[0], "_");
    }

    #[test]
    fn an_assigned_name_does_not_change() {
        let mut names = ToolNames::default();
        names.assign(&[((0, "a.b".to_owned()), "a.b".to_owned())]);
        let later = [
            ((0, "a_b".to_owned()), "a_b".to_owned()),
            ((0, "a.b".to_owned()), "a.b".to_owned()),
        ];
        names.assign(&later);
        assert_eq!(names.name(&later[1].0), Some("a_b"));
        assert_ne!(names.name(&later[0].0), Some("a_b"));
    }
}

//! Names of the features of a server inside of a proxy.

use std::borrow::Cow;
use std::collections::HashMap;

/// Maximum length of a name with its namespace, as the protocol recommends.
const MAX_NAME_BYTES: usize = 128;

/// Renames, from the name at the server to that at the proxy, without the namespace.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    renamed: HashMap<String, String>,
    /// The namespace with its dot, or empty.
    prefix: String,
}

impl Names {
    pub(crate) fn new(namespace: &str, renamed: HashMap<String, String>) -> Self {
        let prefix = match namespace {
            "" => String::new(),
            namespace => format!("{namespace}."),
        };
        Self { renamed, prefix }
    }

    /// Returns the name at the proxy, without the namespace. Characters that names must not have become `_`; the name is owned
    /// then.
    pub(crate) fn inner<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        let name = self.renamed.get(name).map_or(name, String::as_str);
        if is_valid(name) {
            return Cow::Borrowed(name);
        }
        let legal = |character: char| match character {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' | '.' => character,
            _ => '_',
        };
        let name: String = name.chars().map(legal).collect();
        // Empty parts between dots are not valid either.
        let parts = name
            .split('.')
            .map(|part| if part.is_empty() { "_" } else { part });
        Cow::Owned(parts.collect::<Vec<_>>().join("."))
    }

    /// Returns the instructions of the server, with a heading that contains the prefix of its names.
    pub(crate) fn instructions(&self, server: &str, text: &str) -> String {
        match &*self.prefix {
            "" => text.to_owned(),
            prefix => format!("# Server `{server}`: its names start with `{prefix}`\n\n{text}"),
        }
    }

    /// Returns true if the name with its namespace is short enough.
    pub(crate) fn fits(&self, inner: &str) -> bool {
        !inner.is_empty() && self.prefix.len() + inner.len() <= MAX_NAME_BYTES
    }
}

fn is_valid(name: &str) -> bool {
    let legal = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    !name.is_empty() && name.bytes().all(legal) && name.split('.').all(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_valid_at_the_proxy() {
        let names = Names::new(
            "weather",
            HashMap::from([
                ("old".into(), "new".into()),
                ("odd".into(), "a new!".into()),
            ]),
        );
        let table = [
            ("forecast", "forecast"),
            ("old", "new"),
            ("odd", "a_new_"),
            ("a/b c", "a_b_c"),
            (".a..b.", "_.a._.b._"),
            ("Größe", "Gr__e"),
        ];
        for (name, expected) in table {
            assert_eq!(names.inner(name), expected, "{name}");
        }
    }

    #[test]
    fn a_name_that_is_too_long_with_its_namespace_does_not_fit() {
        let names = Names::new("weather", HashMap::new());
        assert!(names.fits(&"a".repeat(120)) && !names.fits(&"a".repeat(121)) && !names.fits(""));
    }
}

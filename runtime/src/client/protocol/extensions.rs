//! Extensions of the protocol that a client declares because of its connection.

use std::collections::BTreeMap;

use treenail_schema::{ClientCapabilities, JsonObject};

/// Declares the extensions of a connection, except those that the program has declared with settings of its own.
pub(super) fn declare_extensions(
    capabilities: &mut ClientCapabilities,
    extensions: BTreeMap<String, JsonObject>,
) {
    if extensions.is_empty() {
        return;
    }
    let declared = capabilities.extensions.get_or_insert_default();
    for (name, settings) in extensions {
        declared.entry(name).or_insert(settings);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_of_the_connection_do_not_replace_those_of_the_program() {
        let own = JsonObject::from_iter([("a".to_owned(), 1.into())]);
        let mut capabilities = ClientCapabilities::default();
        declare_extensions(&mut capabilities, BTreeMap::new());
        assert_eq!(capabilities.extensions, None);
        capabilities.extensions = Some([("x".to_owned(), own.clone())].into());
        let added = ["x", "y"].map(|name| (name.to_owned(), JsonObject::new()));
        declare_extensions(&mut capabilities, added.into());
        let declared = capabilities.extensions.expect("extensions");
        assert_eq!(declared["x"], own);
        assert!(declared["y"].is_empty());
    }
}

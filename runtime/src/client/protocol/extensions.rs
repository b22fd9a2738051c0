//! Extensions of the protocol that a client declares because of its connection.

use std::collections::BTreeMap;

use serde_json::Value;
use treenail_schema::{ClientCapabilities, JsonObject};

use crate::client::ClientError;
use crate::extension::validate_identifier;

/// Checks the identifiers and the settings of the extensions that a program declares.
pub(super) fn read_extensions(
    extensions: BTreeMap<String, Value>,
) -> Result<BTreeMap<String, JsonObject>, ClientError> {
    let read = |(id, settings): (String, Value)| {
        validate_identifier(&id).map_err(|problem| {
            ClientError::invalid(format!("the extension identifier `{id}` {problem}"))
        })?;
        match settings {
            Value::Object(settings) => Ok((id, settings)),
            _ => Err(ClientError::invalid(format!(
                "the settings of the extension `{id}` are not a JSON object"
            ))),
        }
    };
    extensions.into_iter().map(read).collect()
}

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

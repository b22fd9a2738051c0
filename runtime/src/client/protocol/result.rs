//! Results of the server, read as their types.

use serde::de::DeserializeOwned;

use crate::client::ClientError;

/// Reads a result as its type.
pub(in crate::client) fn read<T: DeserializeOwned>(text: &str) -> Result<T, ClientError> {
    serde_json::from_str(text)
        .map_err(|error| ClientError::protocol(format!("a result cannot be read: {error}")))
}

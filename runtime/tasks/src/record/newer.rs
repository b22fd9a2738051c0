//! Records of newer versions, which this program neither reads nor changes.

use serde::Deserialize;
use treenail_runtime::RpcError;

use super::FORMAT;
use crate::store::StoreError;

/// Error of a record that a newer version of the program has written, during an update of the replicas or before it was undone.
#[derive(Debug, thiserror::Error)]
#[error("the task belongs to a newer version of the server")]
pub(crate) struct Newer;

impl Newer {
    /// Checks the formats of the parts of a record that cannot be read. Other members may differ in a newer format.
    pub(crate) fn check(parts: &[&[u8]]) -> Result<(), Self> {
        #[derive(Deserialize)]
        struct Part {
            format: u64,
        }

        let format = |part: &&[u8]| serde_json::from_slice(part).map(|part: Part| part.format);
        let newest = parts.iter().filter_map(|part| format(part).ok()).max();
        if newest > Some(FORMAT.into()) {
            return Err(Self);
        }
        Ok(())
    }
}

impl From<Newer> for RpcError {
    fn from(newer: Newer) -> Self {
        Self::internal(newer.to_string())
    }
}

impl From<Newer> for StoreError {
    fn from(newer: Newer) -> Self {
        Self::Other(newer.to_string())
    }
}

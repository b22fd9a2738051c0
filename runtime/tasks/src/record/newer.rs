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

    // Functions, because a conversion of a public type would be public.

    pub(crate) fn to_rpc_error(&self) -> RpcError {
        RpcError::internal(self.to_string())
    }

    pub(crate) fn to_store_error(&self) -> StoreError {
        StoreError::Other(self.to_string())
    }
}

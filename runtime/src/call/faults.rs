//! JSON-RPC errors in place of the failure of a function.

use crate::wire::RpcError;

/// Maximum number of errors of questions; the oldest are dropped.
const MAX_NAMED: usize = 16;

/// Errors that answer a request if its function fails.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Answers every failure.
    any: Option<RpcError>,
    /// Each answers a failure that repeats its message. A function that has handled an error may fail for another reason.
    named: Vec<RpcError>,
}

impl Faults {
    pub(super) fn set(&mut self, error: RpcError) {
        self.any = Some(error);
    }

    pub(super) fn add_named(&mut self, error: RpcError) {
        if self.named.len() == MAX_NAMED {
            self.named.remove(0);
        }
        self.named.push(error);
    }

    /// Returns the errors for the function, within the layers of its call. Named ones remain, because a layer may fail with that of
    /// an earlier question of its own.
    pub(super) fn of_function(&mut self) -> Self {
        Self {
            any: self.any.take(),
            named: self.named.clone(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.any.is_none() && self.named.is_empty()
    }

    /// Returns the error that answers a failure with a message.
    pub(crate) fn of_error(self, message: &str) -> Option<RpcError> {
        self.find(|text| message.contains(text))
    }

    /// Returns the error that answers a failure that has been written as JSON.
    pub(crate) fn of_output(self, output: &[u8]) -> Option<RpcError> {
        let output = String::from_utf8_lossy(output);
        self.find(|text| {
            let text = serde_json::to_string(text).unwrap_or_default();
            output.contains(text.trim_matches('"'))
        })
    }

    fn find(self, mut repeats: impl FnMut(&str) -> bool) -> Option<RpcError> {
        let mut named = self.named.into_iter().rev();
        self.any.or_else(|| named.find(|it| repeats(&it.message)))
    }
}

//! JSON-RPC errors in place of the failure of a function.

use crate::wire::RpcError;

/// Maximum number of errors of questions; the oldest are dropped.
const MAX_NAMED: usize = 16;

/// Errors that answer a request if its function fails. Few calls have any.
#[derive(Debug, Default)]
pub(crate) struct Faults(Option<Box<Errors>>);

#[derive(Debug, Default)]
struct Errors {
    /// Answers every failure.
    any: Option<RpcError>,
    /// Each answers a failure that repeats its message. A function that has handled an error may fail for another reason.
    named: Vec<RpcError>,
}

impl Faults {
    pub(super) fn set(&mut self, error: RpcError) {
        self.0.get_or_insert_default().any = Some(error);
    }

    pub(super) fn add_named(&mut self, error: RpcError) {
        let Errors { named, .. } = &mut **self.0.get_or_insert_default();
        if named.len() == MAX_NAMED {
            named.remove(0);
        }
        named.push(error);
    }

    /// Returns the errors for the function, within the layers of its call. Named ones remain, because a layer may fail with that of
    /// an earlier question of its own.
    pub(super) fn of_function(&mut self) -> Self {
        Self(self.0.as_mut().map(|errors| {
            Box::new(Errors {
                any: errors.any.take(),
                named: errors.named.clone(),
            })
        }))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
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
        let Errors { any, named } = *self.0?;
        any.or_else(|| named.into_iter().rev().find(|it| repeats(&it.message)))
    }
}

//! Execution mode of a function.

use super::Feature;

/// Execution mode of a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Polled: an `async` function, or one that returns a stream.
    Asynchronous,
    /// Called directly, so that it blocks its caller until it returns.
    Synchronous,
    /// Called on a thread that may block.
    Blocking,
}

impl Mode {
    pub(crate) fn of(feature: &Feature) -> Self {
        let blocking = feature.blocking.as_ref();
        if feature.stream.is_some() || feature.signature.asyncness.is_some() {
            Self::Asynchronous
        } else if blocking.is_some_and(|blocking| blocking.value) {
            Self::Blocking
        } else {
            Self::Synchronous
        }
    }

    /// The name of the runtime's constructor.
    pub(crate) fn constructor(self) -> &'static str {
        match self {
            Self::Asynchronous => "asynchronous",
            Self::Synchronous => "synchronous",
            Self::Blocking => "blocking",
        }
    }
}

//! Panics of functions and layers that the user has written: caught, logged, and worded for the peer.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs a part of the user's code. The error is the message of its panic.
#[inline]
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| message(&*panic).to_owned())
}

/// Drops values of the user's code. A panic is logged: it must not end the connection, or the edit, that drops them last.
pub(crate) fn drop_values<T>(values: T) {
    if let Err(message) = catch(|| drop(values)) {
        tracing::error!(message, "a function panicked when its values were dropped");
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    match panic.downcast_ref::<&str>() {
        Some(message) => message,
        None => panic
            .downcast_ref::<String>()
            .map_or("(no message)", String::as_str),
    }
}

/// Logs the panic `message` of the `kind` called `name`, and returns the text for its peer, which does not contain the message.
pub(crate) fn unexpected(kind: &str, name: &str, message: &str) -> String {
    tracing::error!(kind, name, message, "a function panicked");
    format!("the {kind} `{name}` failed unexpectedly; this is a bug in the server")
}

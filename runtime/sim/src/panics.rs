//! Panics of simulated processes.
//!
//! tokio catches those of spawned tasks, and the framework those of functions, so only the panic hook learns of all.

use std::any::Any;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

use crate::world;

/// Lets each simulated process note its panics, in addition to what the panic hook of the program does.
///
/// The hook is set once, by the first run of the program. A hook that replaces it later, without calling it, hides panics.
pub(crate) fn watch() {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if let Some(process) = world::current() {
                process.note_panic(describe(panic));
            }
            hook(panic);
        }));
    });
}

fn describe(panic: &PanicHookInfo<'_>) -> String {
    let text = message(panic.payload());
    match panic.location() {
        Some(place) => format!("{text} at {}:{}", place.file(), place.line()),
        None => text,
    }
}

/// Returns the message of a panic.
pub(crate) fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    text.unwrap_or_else(|| "a panic without a message".to_owned())
}

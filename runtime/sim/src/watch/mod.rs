//! Messages on the connections of a server, and the rules that they obey.

mod http;
mod lines;
mod monitor;

pub(crate) use self::http::{Exchange, WatchedBody};
pub(crate) use self::lines::WatchedLines;
pub(crate) use self::monitor::{Monitor, Rules};

/// Returns `true` for a method whose response waits for more than the server: for events, or for the end of a task.
pub(crate) fn waits_for_events(method: &str) -> bool {
    matches!(method, "subscriptions/listen" | "tasks/result")
}

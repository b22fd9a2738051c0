//! Streams that take part in the cooperative scheduling of tokio.

use std::task::{Context, Poll, ready};

use tokio::task::coop::poll_proceed;

/// Polls a stream as part of the budget of its task, as channels of tokio do. Otherwise a task that reads a stream as fast as the
/// server sends would never yield: timeouts around it would not expire, and it could not be aborted.
pub fn poll_within_budget<T>(
    context: &mut Context<'_>,
    poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    let budget = ready!(poll_proceed(context));
    let polled = poll(context);
    if polled.is_ready() {
        budget.made_progress();
    }
    polled
}

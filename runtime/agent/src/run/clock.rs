//! Deadline of a run, whose clock stops while only the user is awaited.

use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Sleep, sleep_until};
use treenail_runtime::internal::deadline::poll_timer;

use super::shared::Shared;

/// Timer that expires at the deadline of a run.
#[derive(Default)]
pub(super) struct DeadlineTimer(Option<Pin<Box<Sleep>>>);

impl DeadlineTimer {
    /// Polls the timer. While only the user is awaited, the clock of the run is stopped, and the timer does not expire.
    pub(super) fn poll(
        &mut self,
        shared: &Shared,
        awaits_user: bool,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        if awaits_user {
            shared.state().stop_clock();
            return Poll::Pending;
        }
        shared.state().start_clock();
        let deadline = shared.deadline();
        let timer = self
            .0
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        // The clock may have been stopped since the last poll.
        if timer.deadline() != deadline {
            timer.as_mut().reset(deadline);
        }
        poll_timer(timer.as_mut(), context)
    }
}

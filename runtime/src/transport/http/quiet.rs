//! Streams that are silent for long.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep};

/// How long a stream may be silent before a comment shows that it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Breaks long silences.
#[derive(Default)]
pub(super) struct Quiet {
    /// Made when there is a silence for the first time.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl Quiet {
    /// Waits for as long as a stream may be silent; then it is a comment.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let quiet = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep(KEEP_ALIVE)));
        if quiet.as_mut().poll(context).is_pending() {
            return Poll::Pending;
        }
        quiet.as_mut().reset(Instant::now() + KEEP_ALIVE);
        // The timer has to be looked at again for the next comment, which the next call does.
        Poll::Ready(Some(Bytes::from_static(b":\n\n")))
    }

    /// The stream has not been silent.
    pub(super) fn reset(&mut self) {
        if let Some(quiet) = &mut self.sleep {
            quiet.as_mut().reset(Instant::now() + KEEP_ALIVE);
        }
    }
}

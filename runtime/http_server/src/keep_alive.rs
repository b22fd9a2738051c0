//! Keep-alive comments on idle event streams.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Instant, Sleep, sleep};
use treenail_runtime::internal::deadline;

/// Idle time after which a comment is sent, and after which a pending call becomes an event stream.
pub(super) const INTERVAL: Duration = Duration::from_secs(15);

/// Timer that produces a keep-alive comment whenever a stream has been idle for the interval.
#[derive(Default)]
pub(super) struct KeepAlive {
    /// Created when the stream is idle for the first time.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl KeepAlive {
    /// Waits for the end of the interval, and returns a comment.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let timer = self.sleep.get_or_insert_with(|| Box::pin(sleep(INTERVAL)));
        if deadline::poll_timer(timer.as_mut(), context).is_pending() {
            return Poll::Pending;
        }
        timer.as_mut().reset(Instant::now() + INTERVAL);
        // The next call polls the timer again, which registers the waker for the next comment.
        Poll::Ready(Some(Bytes::from_static(b":\n\n")))
    }

    /// Restarts the interval after output on the stream.
    pub(super) fn reset(&mut self) {
        if let Some(timer) = &mut self.sleep {
            timer.as_mut().reset(Instant::now() + INTERVAL);
        }
    }
}

//! Keep-alive comments on idle event streams.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use tokio::time::{Sleep, sleep_until};
use treenail_runtime::HttpLimits;
use treenail_runtime::internal::deadline;

/// Shortest interval. A stream must not consist of comments.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// Returns the idle time after which a comment is sent, and after which a pending call becomes an event stream.
pub(super) fn interval(limits: &HttpLimits) -> Duration {
    limits.keep_alive.max(MIN_INTERVAL)
}

/// Timer that produces a keep-alive comment whenever a stream has been idle for the interval.
pub(super) struct KeepAlive {
    interval: Duration,
    /// Created when the stream is idle for the first time.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl KeepAlive {
    pub(super) fn new(interval: Duration) -> Self {
        Self {
            interval,
            sleep: None,
        }
    }

    pub(super) fn interval(&self) -> Duration {
        self.interval
    }

    /// Waits for the end of the interval, and returns a comment.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let interval = self.interval;
        let timer = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep_until(deadline::after(interval))));
        if deadline::poll_timer(timer.as_mut(), context).is_pending() {
            return Poll::Pending;
        }
        timer.as_mut().reset(deadline::after(interval));
        // The next call polls the timer again, which registers the waker for the next comment.
        Poll::Ready(Some(Bytes::from_static(b":\n\n")))
    }

    /// Restarts the interval after output on the stream.
    pub(super) fn reset(&mut self) {
        if let Some(timer) = &mut self.sleep {
            timer.as_mut().reset(deadline::after(self.interval));
        }
    }
}

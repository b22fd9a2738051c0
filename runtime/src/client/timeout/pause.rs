//! Pauses of the timeouts around a future.
//!
//! The waits that pause timeouts happen deep inside of the future with the timeout, often below several others. Thread-local flags
//! report them upwards during each poll, so that no layer between them has to pass a clock along.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

thread_local! {
    /// True if a future that was polled since the last reset is within [`paused`].
    static PAUSED: Cell<bool> = const { Cell::new(false) };
    /// True if a future that was polled since the last reset is within [`resumed`].
    static RESUMED: Cell<bool> = const { Cell::new(false) };
}

/// Waits for `future`. Timeouts around it do not run meanwhile, except within [`resumed`].
pub async fn paused<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        let outer = RESUMED.replace(false);
        let poll = future.as_mut().poll(context);
        let is_resumed = RESUMED.replace(outer);
        if poll.is_pending() && !is_resumed {
            PAUSED.set(true);
        }
        poll
    })
    .await
}

/// Waits for `future`, which is within [`paused`]. Timeouts around that run meanwhile, unless `future` pauses them itself.
pub async fn resumed<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    poll_fn(|context| {
        let (poll, is_paused) = poll_pausable(future.as_mut(), context);
        if poll.is_pending() && !is_paused {
            RESUMED.set(true);
        }
        poll
    })
    .await
}

/// Polls `future`, and returns true with the poll if it is within [`paused`].
pub fn poll_pausable<F: Future + ?Sized>(
    future: Pin<&mut F>,
    context: &mut Context<'_>,
) -> (Poll<F::Output>, bool) {
    let outer = PAUSED.replace(false);
    let poll = future.poll(context);
    let is_paused = PAUSED.get();
    PAUSED.set(outer || is_paused);
    (poll, is_paused)
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::client::timeout::timeout;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_timeout_does_not_run_while_paused() {
        let start = Instant::now();
        let result = timeout(3 * SECOND, async {
            sleep(2 * SECOND).await;
            // The inner timeout pauses as well, and passes the pause on.
            let inner = timeout(SECOND, paused(sleep(60 * SECOND))).await;
            inner.unwrap();
            pending::<()>().await;
        });
        assert!(result.await.is_err(), "AUTH-C-11");
        assert_eq!(start.elapsed().as_secs(), 63, "AUTH-C-11");
    }

    #[tokio::test(start_paused = true)]
    async fn a_timeout_runs_within_a_pause_while_resumed() {
        let start = Instant::now();
        let result = timeout(
            2 * SECOND,
            paused(async {
                sleep(60 * SECOND).await;
                resumed(async {
                    sleep(SECOND).await;
                    paused(sleep(60 * SECOND)).await;
                    pending::<()>().await;
                })
                .await;
            }),
        );
        assert!(result.await.is_err());
        assert_eq!(start.elapsed().as_secs(), 122);
    }
}

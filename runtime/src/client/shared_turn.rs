//! Turns of callers at the same work, one after the other.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use tokio::sync::{Mutex, MutexGuard, watch};

use crate::client::timeout::{paused, poll_pausable};

/// Turns of callers at the same work, one after the other. Those that wait share the pauses of the one whose turn it is: while its
/// timeouts do not run, theirs do not run either.
#[derive(Debug, Default)]
pub(in crate::client) struct SharedTurn {
    turn: Mutex<()>,
    /// True while the work is within [`paused`].
    is_paused: watch::Sender<bool>,
}

impl SharedTurn {
    /// Waits for the turn, and does the work. A request of a handler does not share the pauses, because the work may wait for that
    /// handler.
    pub(in crate::client) async fn take<T>(
        &self,
        is_from_handler: bool,
        work: impl Future<Output = T>,
    ) -> T {
        // Dropped last, when the work does not pause any more.
        let _turn = self.wait(is_from_handler).await;
        let pauses = Pauses(&self.is_paused);
        let mut work = pin!(work);
        poll_fn(|context| {
            let (poll, is_paused) = poll_pausable(work.as_mut(), context);
            pauses.set(is_paused);
            poll
        })
        .await
    }

    /// Returns true while a caller does the work.
    pub(in crate::client) fn is_taken(&self) -> bool {
        self.turn.try_lock().is_err()
    }

    async fn wait(&self, is_from_handler: bool) -> MutexGuard<'_, ()> {
        let mut turn = pin!(self.turn.lock());
        let mut pauses = self.is_paused.subscribe();
        loop {
            let is_paused = *pauses.borrow_and_update() && !is_from_handler;
            let mut changed = pin!(pauses.changed());
            let event = poll_fn(|context| match turn.as_mut().poll(context) {
                Poll::Ready(turn) => Poll::Ready(Some(turn)),
                Poll::Pending => changed.as_mut().poll(context).map(|_| None),
            });
            let event = if is_paused {
                paused(event).await
            } else {
                event.await
            };
            if let Some(turn) = event {
                return turn;
            }
        }
    }
}

/// Pauses of the work, which end with it.
struct Pauses<'a>(&'a watch::Sender<bool>);

impl Pauses<'_> {
    fn set(&self, is_paused: bool) {
        self.0
            .send_if_modified(|current| std::mem::replace(current, is_paused) != is_paused);
    }
}

impl Drop for Pauses<'_> {
    fn drop(&mut self) {
        self.set(false);
    }
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::*;
    use crate::client::ClientError;
    use crate::client::timeout::timeout;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_wait_shares_the_pauses_of_the_work() {
        let (turn, start) = (SharedTurn::default(), Instant::now());
        let work = async {
            sleep(SECOND).await;
            paused(sleep(60 * SECOND)).await;
            pending::<()>().await;
        };
        let (first, second) = tokio::join!(
            timeout(3 * SECOND, turn.take(false, work)),
            timeout(4 * SECOND, async {
                turn.take(false, async { start.elapsed() }).await
            }),
        );
        assert!(first.is_err());
        assert_eq!(second.unwrap().as_secs(), 63);

        let (first, second) = tokio::join!(
            timeout(3 * SECOND, turn.take(false, pending::<()>())),
            timeout(2 * SECOND, turn.take(false, pending::<()>())),
        );
        assert!(first.is_err() && second.is_err());
        assert_eq!(start.elapsed().as_secs(), 66, "without a pause");
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_ends_with_the_dropped_work() {
        let (turn, start) = (SharedTurn::default(), Instant::now());
        let dropped = tokio::time::timeout(SECOND, turn.take(false, paused(pending::<()>())));
        let (dropped, next) = tokio::join!(
            dropped,
            timeout(2 * SECOND, turn.take(false, pending::<()>())),
        );
        assert!(dropped.is_err() && next.is_err());
        assert_eq!(start.elapsed().as_secs(), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_request_of_a_handler_does_not_share_pauses() {
        let (turn, start) = (SharedTurn::default(), Instant::now());
        let (first, second) = tokio::join!(
            timeout(SECOND, turn.take(false, paused(sleep(10 * SECOND)))),
            async {
                let second = timeout(2 * SECOND, turn.take(true, async {})).await;
                (second, start.elapsed().as_secs())
            },
        );
        assert!(first.is_ok());
        assert!(matches!(second, (Err(ClientError::Timeout(_)), 2)));
    }
}

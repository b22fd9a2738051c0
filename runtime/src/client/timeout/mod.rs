//! Timeouts of requests, which pause while an [`HttpAuthorization`] obtains credentials, and while a handler of the client answers
//! the server, unless a model writes the answer.
//!
//! [`HttpAuthorization`]: crate::client::HttpAuthorization

mod pause;

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use pin_project_lite::pin_project;
use tokio::time::{Instant, Sleep, sleep_until};

pub use self::pause::{paused, poll_pausable, resumed};
use crate::client::ClientError;
use crate::deadline;

thread_local! {
    /// True while a future is dropped because its time is over.
    static EXPIRED: Cell<bool> = const { Cell::new(false) };
}

/// Returns true within the drop of a future whose time is over, as opposed to one that its caller has dropped.
pub fn is_expired() -> bool {
    EXPIRED.get()
}

/// Scope in which a future is dropped. It is declared before that future, so it is dropped after it.
#[derive(Default)]
pub(super) struct ExpiryScope {
    outer: Option<bool>,
}

impl ExpiryScope {
    /// Marks the drops until the end of the scope as those of a future whose time is over.
    pub(super) fn expire(&mut self) {
        self.outer.get_or_insert_with(|| EXPIRED.replace(true));
    }
}

impl Drop for ExpiryScope {
    fn drop(&mut self) {
        if let Some(outer) = self.outer {
            EXPIRED.set(outer);
        }
    }
}

/// Waits for `future` for at most `limit`, without the time within [`paused`].
///
/// # Errors
///
/// [`ClientError::Timeout`].
pub fn timeout<F: Future>(limit: Duration, future: F) -> Timeout<F> {
    let run = run_until(deadline::after(limit), future);
    Timeout { run, limit }
}

/// Waits for `future` until `deadline`, which moves by the time within [`paused`]. Returns `None` if it is reached first.
pub fn timeout_at<F: Future>(
    deadline: &mut Instant,
    future: F,
) -> impl Future<Output = Option<F::Output>> {
    run_until(deadline, future)
}

/// End of a timeout, which may move while the timeout runs.
pub(super) trait Deadline {
    /// Returns the current end.
    fn end(&self) -> Instant;

    /// Delays the end by the duration of a pause.
    fn extend(&mut self, pause: Duration);
}

impl Deadline for Instant {
    fn end(&self) -> Instant {
        *self
    }

    fn extend(&mut self, pause: Duration) {
        *self = deadline::from(*self, pause);
    }
}

impl<D: Deadline> Deadline for &mut D {
    fn end(&self) -> Instant {
        D::end(self)
    }

    fn extend(&mut self, pause: Duration) {
        D::extend(self, pause);
    }
}

/// Waits for `future` until the end of `deadline`, and returns `None` if that is reached first.
pub(super) fn run_until<D: Deadline, F: Future>(deadline: D, future: F) -> RunUntil<D, F> {
    RunUntil {
        future,
        sleep: sleep_until(deadline.end()),
        deadline,
        paused_at: None,
        is_over: false,
        scope: ExpiryScope::default(),
    }
}

// Structs, because an `async fn` reserves room for the future twice: as its argument, and as the future that it polls.
pin_project! {
    /// Future of [`timeout`].
    pub struct Timeout<F> {
        #[pin]
        run: RunUntil<Instant, F>,
        limit: Duration,
    }
}

pin_project! {
    /// Future of [`run_until`].
    pub struct RunUntil<D, F> {
        #[pin]
        future: F,
        #[pin]
        sleep: Sleep,
        deadline: D,
        paused_at: Option<Instant>,
        is_over: bool,
        // Dropped after the future.
        scope: ExpiryScope,
    }

    impl<D, F> PinnedDrop for RunUntil<D, F> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if *this.is_over {
                this.scope.expire();
            }
        }
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, ClientError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let result = ready!(this.run.poll(context));
        Poll::Ready(result.ok_or(ClientError::Timeout(*this.limit)))
    }
}

impl<D: Deadline, F: Future> Future for RunUntil<D, F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        let (poll, is_paused) = poll_pausable(this.future, context);
        if let Poll::Ready(value) = poll {
            return Poll::Ready(Some(value));
        }
        if is_paused {
            this.paused_at.get_or_insert_with(Instant::now);
            return Poll::Pending;
        }
        if let Some(start) = this.paused_at.take() {
            this.deadline.extend(start.elapsed());
        }
        loop {
            let latest = this.deadline.end();
            if this.sleep.deadline() != latest {
                this.sleep.as_mut().reset(latest);
            }
            ready!(deadline::poll_timer(this.sleep.as_mut(), context));
            if this.deadline.end() <= latest {
                *this.is_over = true;
                return Poll::Ready(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, poll_fn};
    use std::pin::pin;

    use tokio::task::coop::consume_budget;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_pause_outside_of_a_timeout_does_not_extend_it() {
        let (start, mut waiting) = (Instant::now(), pin!(paused(pending::<()>())));
        let mut bounded = pin!(timeout(SECOND, pending::<()>()));
        poll_fn(|context| {
            assert!(waiting.as_mut().poll(context).is_pending());
            bounded.as_mut().poll(context).map(drop)
        })
        .await;
        assert_eq!(start.elapsed().as_secs(), 1, "AUTH-C-11");
    }

    #[tokio::test]
    async fn a_future_that_uses_up_the_budget_does_not_delay_its_timeout() {
        let busy = async {
            loop {
                consume_budget().await;
            }
        };
        let result: Result<(), _> = timeout(Duration::from_millis(1), busy).await;
        assert!(result.is_err());
    }

    /// Records [`is_expired`] when it is dropped.
    struct Recorder<'a>(&'a Cell<Option<bool>>);

    impl Drop for Recorder<'_> {
        fn drop(&mut self) {
            self.0.set(Some(is_expired()));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_drop_knows_whether_the_time_is_over() {
        let (inner, caller) = (Cell::new(None), Cell::new(None));
        let wait = |cell| async move {
            let _recorder = Recorder(cell);
            pending::<()>().await;
        };
        assert!(timeout(SECOND, wait(&inner)).await.is_err());
        assert_eq!(inner.get(), Some(true));
        drop(tokio::time::timeout(SECOND, timeout(2 * SECOND, wait(&caller))).await);
        assert_eq!(caller.get(), Some(false));
    }
}

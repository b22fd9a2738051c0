//! Sending of a request with options: its timeout, progress, and tasks.

use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::client::ClientError;
use crate::client::protocol::inner::{Inner, RequestTemplate};
use crate::client::protocol::input_required::CompleteResult;
use crate::client::protocol::router::ProgressSink;
use crate::client::protocol::task_driver::NewTask;
use crate::client::protocol::task_status::relay_status;
use crate::client::timeout::{Deadline, run_until};
use crate::deadline;

/// Options of one request.
#[derive(Default)]
pub(super) struct RequestOptions {
    /// `None` for the default, which does not include the time of a task.
    pub(super) timeout: Option<Duration>,
    /// Maximum duration if progress resets the timeout.
    pub(super) max_duration: Option<Duration>,
    pub(super) progress: Option<ProgressSink>,
    /// True if a task is returned to the caller, instead of its result.
    pub(super) keeps_task: bool,
}

impl RequestOptions {
    /// Returns the timeout of the request, and of each step before it.
    pub(super) fn step_timeout(&self, inner: &Inner) -> Duration {
        self.timeout.unwrap_or(inner.link.limits.request_timeout)
    }

    /// Returns true if the server is asked for progress, which the caller receives or which extends the deadline.
    pub(super) fn requests_progress(&self) -> bool {
        self.progress.is_some() || self.max_duration.is_some()
    }

    /// Sends a request and returns its result.
    pub(super) async fn run(
        &self,
        inner: &Arc<Inner>,
        template: &RequestTemplate,
    ) -> Result<CompleteResult, ClientError> {
        let limit = self.step_timeout(inner);
        let deadline = Arc::new(ProgressDeadline::start(limit, self.max_duration));
        let mut template = template.clone();
        let mut relay = None;
        if self.requests_progress() {
            let token = inner.link.next_id();
            template.set_progress_token(token);
            let sink = restarting(Arc::clone(&deadline), self.progress.clone());
            relay = Some(relay_status(&inner.link.router, token, sink));
        }
        let create = async {
            let mut created = inner.call(&template).await?;
            created.task = created.task.map(|_| NewTask { on_status: relay });
            Ok(created)
        };
        if self.keeps_task {
            return deadline.apply(create).await;
        }
        let includes_task = self.timeout.is_some() || self.max_duration.is_some();
        if includes_task {
            let complete = async { inner.task_result(create.await?).await };
            return deadline.apply(complete).await;
        }
        let created = deadline.apply(create).await?;
        inner.task_result(created).await
    }
}

/// Returns a sink for progress that restarts the deadline.
fn restarting(deadline: Arc<ProgressDeadline>, progress: Option<ProgressSink>) -> ProgressSink {
    Arc::new(move |params| {
        deadline.restart();
        if let Some(progress) = &progress {
            progress(params);
        }
    })
}

/// Deadline of a request, which progress may extend.
pub(super) struct ProgressDeadline {
    started: Instant,
    timeout: Duration,
    ends: Mutex<Ends>,
}

#[derive(Clone, Copy)]
struct Ends {
    next: Instant,
    /// Latest end; `None` if progress does not extend the deadline.
    latest: Option<Instant>,
}

impl ProgressDeadline {
    fn start(timeout: Duration, max_duration: Option<Duration>) -> Self {
        let started = Instant::now();
        let ends = Ends {
            next: deadline::from(started, timeout),
            latest: max_duration.map(|duration| deadline::from(started, duration)),
        };
        Self {
            started,
            timeout,
            ends: Mutex::new(ends),
        }
    }

    fn restart(&self) {
        let mut ends = self.lock();
        if ends.latest.is_some() {
            ends.next = deadline::after(self.timeout);
        }
    }

    async fn apply<T>(
        &self,
        future: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let result = run_until(self, future).await;
        result.unwrap_or_else(|| Err(ClientError::Timeout(self.end() - self.started)))
    }

    fn lock(&self) -> MutexGuard<'_, Ends> {
        self.ends.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Deadline for &ProgressDeadline {
    fn end(&self) -> Instant {
        let ends = self.lock();
        ends.latest
            .map_or(ends.next, |latest| latest.min(ends.next))
    }

    fn extend(&mut self, pause: Duration) {
        let mut ends = self.lock();
        // Progress during the pause has restarted the timeout already.
        ends.next = deadline::from(ends.next, pause).min(deadline::after(self.timeout));
        ends.latest = ends.latest.map(|latest| deadline::from(latest, pause));
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn progress_during_a_pause_does_not_extend_the_deadline_twice() {
        let second = Duration::from_secs(1);
        let progress = ProgressDeadline::start(10 * second, Some(3_600 * second));
        let mut deadline = &progress;
        advance(5 * second).await;
        // The pause starts here.
        advance(300 * second).await;
        progress.restart();
        advance(9 * second).await;
        deadline.extend(309 * second);
        assert_eq!(deadline.end() - Instant::now(), 10 * second);
        advance(4 * second).await;
        deadline.extend(4 * second);
        assert_eq!(deadline.end() - Instant::now(), 10 * second);
    }
}

//! Timeout for the head of a request, with one timer for each connection instead of one for each request.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http::Response;
use http_body::{Body, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep_until};
use treenail_runtime::internal::deadline;

/// Timer that elapses if a connection receives no complete head for the timeout while it has no request and writes nothing.
pub(super) struct HeadTimeout {
    length: Duration,
    requests: Arc<Requests>,
    /// Time since which the connection has had no request, and the number of requests before.
    idle: Option<(Instant, usize)>,
    /// Created when the connection is idle for the first time.
    timer: Option<Pin<Box<Sleep>>>,
}

/// Activity of a connection: the numbers of its requests, and its writes.
#[derive(Debug, Default)]
struct Requests {
    active: AtomicUsize,
    finished: AtomicUsize,
    /// True while a write is pending. The body of a response ends before the last bytes of it are written.
    is_writing: AtomicBool,
}

impl Requests {
    fn is_active(&self) -> bool {
        self.active.load(Ordering::Relaxed) > 0
    }
}

/// Request of a connection, finished when it is dropped.
#[derive(Debug)]
pub(super) struct ActiveRequest(Arc<Requests>);

/// Counter of the requests of a connection.
#[derive(Debug)]
pub(super) struct RequestCounter(Arc<Requests>);

/// Flag of a connection, set while a write is pending.
#[derive(Debug)]
pub(super) struct WriteFlag(Arc<Requests>);

impl WriteFlag {
    pub(super) fn set(&self, is_writing: bool) {
        self.0.is_writing.store(is_writing, Ordering::Relaxed);
    }
}

impl RequestCounter {
    pub(super) fn start(&self) -> ActiveRequest {
        self.0.active.fetch_add(1, Ordering::Relaxed);
        ActiveRequest(Arc::clone(&self.0))
    }

    /// Returns true if a request waits for its response, or for the rest of its body.
    pub(super) fn is_active(&self) -> bool {
        self.0.is_active()
    }
}

impl ActiveRequest {
    /// Finishes the request with the body of its response.
    pub(super) fn attach<B>(self, response: Response<B>) -> Response<RequestBody<B>> {
        response.map(|body| RequestBody {
            body,
            _request: self,
        })
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.active.fetch_sub(1, Ordering::Relaxed);
        self.0.finished.fetch_add(1, Ordering::Relaxed);
    }
}

impl HeadTimeout {
    pub(super) fn new(length: Duration) -> Self {
        Self {
            length,
            requests: Arc::default(),
            idle: None,
            timer: None,
        }
    }

    pub(super) fn counter(&self) -> RequestCounter {
        RequestCounter(Arc::clone(&self.requests))
    }

    pub(super) fn write_flag(&self) -> WriteFlag {
        WriteFlag(Arc::clone(&self.requests))
    }

    /// Returns true if the connection has no request, and writes nothing.
    pub(super) fn is_idle(&self) -> bool {
        !self.requests.is_active() && !self.requests.is_writing.load(Ordering::Relaxed)
    }

    /// Polls the timeout after each poll of the connection. It elapses only while the connection has no request, and writes nothing.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        if !self.is_idle() {
            self.idle = None;
            return Poll::Pending;
        }
        let finished = self.requests.finished.load(Ordering::Relaxed);
        let since = match self.idle {
            Some((since, before)) if before == finished => since,
            _ => {
                let now = Instant::now();
                self.idle = Some((now, finished));
                now
            }
        };
        let end = deadline::from(since, self.length);
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(end)));
        // The timer is extended only when it elapses, because that is seldom and requests are frequent.
        while deadline::poll_timer(timer.as_mut(), context).is_ready() {
            if timer.deadline() >= end {
                return Poll::Ready(());
            }
            timer.as_mut().reset(end);
        }
        Poll::Pending
    }
}

/// Body of a response, which ends its request.
#[derive(Debug)]
pub(super) struct RequestBody<B> {
    body: B,
    _request: ActiveRequest,
}

impl<B: Body + Unpin> Body for RequestBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn only_time_without_a_request_counts() {
        let mut timeout = HeadTimeout::new(SECOND * 10);
        let (counter, start) = (timeout.counter(), Instant::now());

        let elapsed = poll_fn(|context| timeout.poll(context));
        assert!(tokio::time::timeout(SECOND * 8, elapsed).await.is_err());
        let request = counter.start();
        let elapsed = poll_fn(|context| timeout.poll(context));
        assert!(tokio::time::timeout(SECOND * 30, elapsed).await.is_err());
        let writing = timeout.write_flag();
        writing.set(true);
        drop(request);
        let elapsed = poll_fn(|context| timeout.poll(context));
        assert!(tokio::time::timeout(SECOND * 20, elapsed).await.is_err());
        writing.set(false);
        let elapsed = poll_fn(|context| timeout.poll(context));
        assert!(tokio::time::timeout(SECOND * 9, elapsed).await.is_err());
        // A request within one poll of the connection.
        drop(counter.start());
        poll_fn(|context| timeout.poll(context)).await;
        assert_eq!(start.elapsed().as_secs(), 8 + 30 + 20 + 9 + 10);
    }
}

//! Pauses of timeouts while a handler answers requests of a legacy server.
//!
//! Each request is answered in a task of its own, beside the requests of the client.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::sync::watch;

use crate::client::protocol::checked_handler::CheckedHandler;
use crate::client::timeout::{paused, poll_pausable};

/// Number of requests of a legacy server whose answers pause the timeouts.
///
/// Such a request does not name the request of the client that it belongs to, so it pauses the timeouts of all of them, except
/// those that the handlers themselves send: they would pause as long as they take.
pub(super) struct Answering {
    count: watch::Sender<usize>,
    handler: Arc<CheckedHandler>,
}

/// A pause for one request, until it is dropped.
struct Pause<'a>(&'a watch::Sender<usize>);

impl Answering {
    pub(super) fn new(handler: Arc<CheckedHandler>) -> Self {
        let count = watch::Sender::default();
        Self { count, handler }
    }

    /// Waits for the handler to answer a request.
    pub(super) async fn answer<F: Future>(&self, answer: F) -> F::Output {
        let mut answer = pin!(answer);
        let mut pause = None;
        poll_fn(|context| {
            let (poll, is_paused) = poll_pausable(answer.as_mut(), context);
            if is_paused {
                pause.get_or_insert_with(|| Pause::new(&self.count));
            } else {
                pause = None;
            }
            poll
        })
        .await
    }

    /// Waits for `future`. Timeouts around it do not run while the answers of handlers pause them,
    /// unless the handler itself waits for it.
    pub(super) async fn pause_during<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut count = self.count.subscribe();
        loop {
            let is_paused = *count.borrow_and_update() > 0;
            let mut changed = pin!(count.changed());
            let either = poll_fn(|context| {
                if let Poll::Ready(output) = future.as_mut().poll(context) {
                    return Poll::Ready(Some(output));
                }
                changed.as_mut().poll(context).map(|_| None)
            });
            let output = if is_paused && !self.handler.is_polled() {
                paused(either).await
            } else {
                either.await
            };
            if let Some(output) = output {
                return output;
            }
        }
    }
}

impl<'a> Pause<'a> {
    fn new(count: &'a watch::Sender<usize>) -> Self {
        count.send_modify(|count| *count += 1);
        Self(count)
    }
}

impl Drop for Pause<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

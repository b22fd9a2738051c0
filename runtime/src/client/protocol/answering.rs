//! Pauses of timeouts while a handler answers requests of a legacy server.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::sync::watch;

use crate::client::timeout::paused;

/// Number of requests of a legacy server that handlers are answering.
///
/// Such a request does not name the request of the client that it belongs to, so it pauses the timeouts of all of them.
#[derive(Default)]
pub(super) struct Answering(watch::Sender<usize>);

/// A request that is being answered, until it is dropped.
pub(super) struct Answer<'a>(&'a watch::Sender<usize>);

impl Answering {
    pub(super) fn start(&self) -> Answer<'_> {
        self.0.send_modify(|count| *count += 1);
        Answer(&self.0)
    }

    /// Waits for `future`. Timeouts around it do not run while handlers answer requests.
    pub(super) async fn pause_during<F: Future>(&self, mut future: Pin<&mut F>) -> F::Output {
        let mut count = self.0.subscribe();
        loop {
            let is_answering = *count.borrow_and_update() > 0;
            let mut changed = pin!(count.changed());
            let either = poll_fn(|context| {
                if let Poll::Ready(output) = future.as_mut().poll(context) {
                    return Poll::Ready(Some(output));
                }
                changed.as_mut().poll(context).map(|_| None)
            });
            let output = if is_answering {
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

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

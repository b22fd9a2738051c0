//! Pauses of timeouts while a handler answers requests of a legacy server.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::ptr;
use std::task::Poll;

use tokio::sync::watch;

use crate::client::timeout::paused;

/// Number of requests of a legacy server that handlers are answering.
///
/// Such a request does not name the request of the client that it belongs to, so it pauses the timeouts of all of them, except
/// those that the handlers themselves send: they would pause as long as they take.
#[derive(Default)]
pub(super) struct Answering(watch::Sender<usize>);

/// A request that is being answered, until it is dropped.
struct Answer<'a>(&'a watch::Sender<usize>);

thread_local! {
    /// The session whose handler is being polled.
    static HANDLER: Cell<*const Answering> = const { Cell::new(ptr::null()) };
}

/// Scope in which a handler is polled. Contains the handler that was polled before.
struct HandlerScope(*const Answering);

impl HandlerScope {
    fn enter(answering: &Answering) -> Self {
        Self(HANDLER.replace(answering))
    }
}

impl Drop for HandlerScope {
    fn drop(&mut self) {
        HANDLER.set(self.0);
    }
}

impl Answering {
    /// Waits for a handler to answer a request.
    pub(super) async fn answer<F: Future>(&self, handler: F) -> F::Output {
        self.0.send_modify(|count| *count += 1);
        let _answer = Answer(&self.0);
        let mut handler = pin!(handler);
        poll_fn(|context| {
            let _scope = HandlerScope::enter(self);
            handler.as_mut().poll(context)
        })
        .await
    }

    /// Waits for `future`. Timeouts around it do not run while handlers answer requests,
    /// unless a handler waits for it.
    pub(super) async fn pause_during<F: Future>(&self, future: F) -> F::Output {
        let mut future = pin!(future);
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
            let is_nested = ptr::eq(HANDLER.get(), self);
            let output = if is_answering && !is_nested {
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

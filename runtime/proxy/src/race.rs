//! Waiting for the first of two futures, or for both.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

/// Output of the future that was ready first.
pub(crate) enum Either<A, B> {
    First(A),
    Second(B),
}

/// Waits for the first of two futures, and drops the other one.
pub(crate) async fn race<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> Either<A, B> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|task| {
        if let Poll::Ready(output) = first.as_mut().poll(task) {
            return Poll::Ready(Either::First(output));
        }
        second.as_mut().poll(task).map(Either::Second)
    })
    .await
}

/// Waits for both futures, which run concurrently.
pub(crate) async fn join<A, B>(
    first: impl Future<Output = A>,
    second: impl Future<Output = B>,
) -> (A, B) {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut one, mut other) = (None, None);
    poll_fn(|task| {
        if one.is_none() {
            one = ready(first.as_mut().poll(task));
        }
        if other.is_none() {
            other = ready(second.as_mut().poll(task));
        }
        match (one.take(), other.take()) {
            (Some(one), Some(other)) => Poll::Ready((one, other)),
            outputs => {
                (one, other) = outputs;
                Poll::Pending
            }
        }
    })
    .await
}

fn ready<T>(poll: Poll<T>) -> Option<T> {
    match poll {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

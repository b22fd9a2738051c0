//! Waiting for the first of two futures.

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

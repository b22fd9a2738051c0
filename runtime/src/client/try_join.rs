//! Futures that run concurrently within one task.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::Poll;

enum Joined<F, T> {
    Running(Pin<Box<F>>),
    Finished(T),
}

/// Waits for all futures, which run concurrently, and returns their outputs in order. The first error drops the others.
///
/// Each wake-up polls all futures that still run, so there should be few.
pub(super) async fn try_join_all<F, T, E>(futures: impl IntoIterator<Item = F>) -> Result<Vec<T>, E>
where
    F: Future<Output = Result<T, E>>,
{
    let futures = futures.into_iter();
    let mut all: Vec<_> = futures.map(|it| Joined::Running(Box::pin(it))).collect();
    poll_fn(|context| {
        let mut is_finished = true;
        for joined in &mut all {
            if let Joined::Running(future) = joined {
                match future.as_mut().poll(context)? {
                    Poll::Ready(output) => *joined = Joined::Finished(output),
                    Poll::Pending => is_finished = false,
                }
            }
        }
        if is_finished {
            Poll::Ready(Ok(()))
        } else {
            Poll::Pending
        }
    })
    .await?;
    let finished = all.into_iter().filter_map(|joined| match joined {
        Joined::Finished(output) => Some(output),
        Joined::Running(_) => None,
    });
    Ok(finished.collect())
}

//! A call that was not ready at once: a future that writes its output as the reply.

use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll, ready};

use pin_project_lite::pin_project;
use tokio::sync::Semaphore;

use crate::tool::output::Output;
use crate::tool::reply::ToolReply;

/// A call that is not ready yet.
pub(crate) type Running = Pin<Box<dyn Reply>>;

/// A future that writes its output as the reply.
pub(crate) trait Reply: Send {
    /// Goes on with the call; the reply is written when it is ready.
    fn poll_reply(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        reply: &mut ToolReply<'_>,
    ) -> Poll<()>;
}

pin_project! {
    /// The future of a function, and how its output is written.
    struct Replying<F, T> {
        #[pin]
        future: F,
        output: Output<T>,
    }
}

impl<F: Future<Output = T> + Send, T> Reply for Replying<F, T> {
    fn poll_reply(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        reply: &mut ToolReply<'_>,
    ) -> Poll<()> {
        let this = self.project();
        let value = ready!(this.future.poll(context));
        this.output.write(value, reply);
        Poll::Ready(())
    }
}

/// A call whose function is asynchronous.
pub(crate) fn running<F, T>(future: F, output: Output<T>) -> Running
where
    F: Future<Output = T> + Send + 'static,
    T: 'static,
{
    Box::pin(Replying { future, output })
}

/// Runs `work` on a thread for blocking work, when one of `turns` is free; its panic becomes a panic of the call.
///
/// Work that has begun cannot be stopped: when the call is cancelled, it runs on, keeps its turn until it ends, and its
/// output is dropped.
pub(crate) async fn blocking<T: Send + 'static>(
    turns: Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let turn = turns.acquire_owned().await.ok();
    let work = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        work()
    });
    match work.await {
        Ok(value) => value,
        Err(error) => resume_unwind(match error.try_into_panic() {
            Ok(panic) => panic,
            Err(_) => Box::new("the runtime is shutting down"),
        }),
    }
}

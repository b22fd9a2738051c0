//! How a function runs: what it does not survive, how it writes its output, and where it may block.

use std::error::Error;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use pin_project_lite::pin_project;
use tokio::sync::Semaphore;

use crate::call::Lifetime;
use crate::function::{Output, Purpose};
use crate::handler::{PendingResult, ResultFuture};
use crate::panic::{catch, unexpected};
use crate::result_writer::ResultWriter;
use crate::tool::error::ToolError;
use crate::wire::RpcError;

/// Runs a part of a function. If it panics, what it has written is taken back, and the error is how the request ended.
pub(crate) fn guard<'o, T>(
    facts: &impl Purpose,
    result: &mut ResultWriter<'o>,
    run: impl FnOnce(&mut ResultWriter<'o>) -> T,
) -> Result<T, Result<(), RpcError>> {
    let start = result.mark();
    catch(|| run(result)).map_err(|message| {
        result.rewind(start);
        facts.panicked(&message, result)
    })
}

/// As [`unexpected`], where the protocol has no other form for a failure.
pub(crate) fn panicked(kind: &str, name: &str, message: &str) -> RpcError {
    RpcError::internal(unexpected(kind, name, message))
}

/// The error that a function failed with, where the protocol has no other form for a failure.
///
/// An [`RpcError`] is passed on as it is.
pub(crate) fn failure(error: impl Into<Box<dyn Error + Send + Sync>>) -> RpcError {
    match error.into().downcast::<RpcError>() {
        Ok(error) => *error,
        Err(error) => RpcError::internal(ToolError::from_boxed(error).to_string()),
    }
}

pin_project! {
    /// The future of a function, and how its output is written.
    pub(crate) struct Running<F, T, P: Purpose> {
        #[pin]
        future: F,
        output: Output<T, P>,
        facts: Arc<P>,
        subject: P::Subject,
        lifetime: Option<Lifetime>,
    }
}

impl<F, T, P> Running<F, T, P>
where
    F: Future<Output = T> + Send + 'static,
    T: 'static,
    P: Purpose,
{
    /// Inlined, so that the future is made where it stays.
    #[inline]
    pub(crate) fn start(
        future: F,
        output: Output<T, P>,
        facts: &Arc<P>,
        (subject, lifetime): (P::Subject, Lifetime),
    ) -> PendingResult {
        Box::pin(Self {
            future,
            output,
            facts: Arc::clone(facts),
            subject,
            lifetime: Some(lifetime),
        })
    }
}

impl<F: Future<Output = T> + Send, T, P: Purpose> ResultFuture for Running<F, T, P> {
    fn poll_result(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        let this = self.project();
        let facts = &**this.facts;
        let start = result.mark();
        let mut fault = None;
        let polled = guard(facts, result, |result| {
            this.future.poll(context).map(|value| {
                // Nothing may be sent for the call after its answer, so it ends before that is written.
                fault = this.lifetime.take().and_then(Lifetime::end);
                (this.output.write)(value, facts, this.subject, result)
            })
        });
        match (polled.unwrap_or_else(Poll::Ready), fault) {
            (Poll::Pending, _) => match this
                .lifetime
                .as_ref()
                .and_then(|it| it.take_questions(context.waker()))
            {
                None => Poll::Pending,
                Some(stopped) => {
                    *this.lifetime = None;
                    Poll::Ready(stopped.map(|questions| result.input_required(questions)))
                }
            },
            (Poll::Ready(written), Some(fault)) if written.is_err() || result.has_failed() => {
                result.rewind(start);
                Poll::Ready(Err(fault))
            }
            (ready, _) => ready,
        }
    }
}

/// Runs `work` on a thread for blocking work, when one of `permits` is free. Its panic becomes a panic of the call.
///
/// Work that has begun cannot be stopped: when the call is cancelled, it runs on, keeps its permit until it ends, and its
/// output is dropped.
pub(crate) async fn blocking<T: Send + 'static>(
    permits: Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let permit = permits.acquire_owned().await.ok();
    let work = tokio::task::spawn_blocking(move || {
        let _permit = permit;
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

//! Running a function: catching panics, writing the output, and scheduling blocking work.

use std::error::Error;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use pin_project_lite::pin_project;
use tokio::sync::Semaphore;

use crate::call::Lifetime;
use crate::environment;
use crate::function::{FeatureKind, Output};
use crate::handler::{PendingResult, ResultFuture};
use crate::panic::{catch, unexpected};
use crate::result_writer::ResultWriter;
use crate::tool::error::ToolError;
use crate::wire::RpcError;

/// Runs a part of a function. If it panics, discards its output and returns the response to the panic as the error.
pub(crate) fn catch_panic<'o, T>(
    info: &impl FeatureKind,
    result: &mut ResultWriter<'o>,
    run: impl FnOnce(&mut ResultWriter<'o>) -> T,
) -> Result<T, Result<(), RpcError>> {
    let start = result.mark();
    catch(|| run(result)).map_err(|message| {
        result.rewind(start);
        info.on_panic(&message, result)
    })
}

/// Reports a panic like [`unexpected`], for features whose failures are JSON-RPC errors.
pub(crate) fn panic_error(kind: &str, name: &str, message: &str) -> RpcError {
    RpcError::internal(unexpected(kind, name, message))
}

/// Converts the error of a function, for features whose failures are JSON-RPC errors.
///
/// An [`RpcError`] is returned unchanged.
pub(crate) fn to_rpc_error(error: impl Into<Box<dyn Error + Send + Sync>>) -> RpcError {
    match error.into().downcast::<RpcError>() {
        Ok(error) => *error,
        Err(error) => RpcError::internal(ToolError::from_boxed(error).to_string()),
    }
}

pin_project! {
    /// The future of a function and the writer of its output.
    pub(crate) struct Running<F, T, P: FeatureKind> {
        #[pin]
        future: F,
        output: Output<T, P>,
        info: Arc<P>,
        write_context: P::WriteContext,
        lifetime: Option<Lifetime>,
    }
}

impl<F, T, P> Running<F, T, P>
where
    F: Future<Output = T> + Send + 'static,
    T: 'static,
    P: FeatureKind,
{
    /// Inlined, so that the future is constructed in its allocation.
    #[inline]
    pub(crate) fn start(
        future: F,
        output: Output<T, P>,
        info: &Arc<P>,
        (write_context, lifetime): (P::WriteContext, Lifetime),
    ) -> PendingResult {
        Box::pin(Self {
            future,
            output,
            info: Arc::clone(info),
            write_context,
            lifetime: Some(lifetime),
        })
    }
}

impl<F: Future<Output = T> + Send, T, P: FeatureKind> ResultFuture for Running<F, T, P> {
    fn poll_result(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        let this = self.project();
        let info = &**this.info;
        let start = result.mark();
        let mut fault = None;
        let polled = catch_panic(info, result, |result| {
            this.future.poll(context).map(|value| {
                // No message may follow the response, so the call ends before the response is written.
                fault = this.lifetime.take().and_then(Lifetime::end);
                (this.output.write)(value, info, this.write_context, result)
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
                    Poll::Ready(stopped.map(|asked| {
                        result.input_required(&asked.questions, &asked.state);
                    }))
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
    let work = environment::spawn_blocking(move || {
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

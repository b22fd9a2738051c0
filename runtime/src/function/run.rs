//! Running a function: catching panics, writing the output, and scheduling blocking work.

use std::error::Error;
use std::future::Future;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use pin_project_lite::pin_project;
use tokio::sync::Semaphore;

use crate::call::{Call, CallValue, Faults, Lifetime};
use crate::environment;
use crate::error::carried;
use crate::function::{FeatureKind, Output, Write};
use crate::handler::{PendingResult, ResultFuture};
use crate::panic::{catch, unexpected};
use crate::result_writer::ResultWriter;
use crate::tool::error::ToolError;
use crate::wire::RpcError;

/// Runs a part of a function. If it panics, discards its output and returns the response to the panic as the error.
///
/// `run` is a trait object, so that this is compiled once and not for each function.
#[inline]
pub(crate) fn catch_panic<'o, T>(
    info: &impl FeatureKind,
    result: &mut ResultWriter<'o>,
    run: &mut dyn FnMut(&mut ResultWriter<'o>) -> T,
) -> Result<T, Result<(), RpcError>> {
    let start = result.mark();
    catch(|| run(result)).map_err(|message| {
        result.rewind(start);
        info.on_panic(&message, result)
    })
}

/// Returns the response to a call whose output has been written since `start`. If the function has failed, one of `faults` may
/// replace its output.
pub(crate) fn finish(
    written: Result<(), RpcError>,
    faults: Faults,
    start: usize,
    result: &mut ResultWriter<'_>,
) -> Result<(), RpcError> {
    if faults.is_empty() {
        return written;
    }
    let fault = match &written {
        Err(error) => faults.of_error(&error.message),
        Ok(()) if result.has_failed() => faults.of_output(&result.out()[start..]),
        Ok(()) => None,
    };
    match fault {
        None => written,
        Some(fault) => {
            result.rewind(start);
            Err(fault)
        }
    }
}

/// Reports a panic like [`unexpected`], for features whose failures are JSON-RPC errors.
pub(crate) fn panic_error(kind: &str, name: &str, message: &str) -> RpcError {
    RpcError::internal(unexpected(kind, name, message))
}

/// Converts the error of a function, for features whose failures are JSON-RPC errors.
///
/// An [`RpcError`] is returned unchanged, also if a [`treenail::Error`](crate::Error) carries it.
pub(crate) fn to_rpc_error(error: impl Into<Box<dyn Error + Send + Sync>>) -> RpcError {
    match carried(error.into()).downcast::<RpcError>() {
        Ok(error) => *error,
        Err(error) => RpcError::internal(ToolError::from_boxed(error).to_string()),
    }
}

pin_project! {
    /// The future of a function and the writer of its output.
    pub(crate) struct Running<F, T, P: FeatureKind> {
        #[pin]
        future: F,
        write: Write<T, P>,
        call: RunningCall<P>,
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
    pub(crate) fn start(future: F, output: Output<T, P>, call: RunningCall<P>) -> PendingResult {
        PendingResult::new(Box::pin(Self {
            future,
            write: output.write,
            call,
        }))
    }
}

impl<F: Future<Output = T> + Send, T, P: FeatureKind> ResultFuture for Running<F, T, P> {
    fn poll_result(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        let this = self.project();
        let mut step = Step {
            future: this.future,
            write: *this.write,
        };
        this.call.poll(context, result, &mut step)
    }
}

/// Polls the future of a function, and writes its output after the end of the call.
///
/// A trait of its own needs less code for each function than a closure, whose trait object has the methods of `FnOnce` too.
trait PollStep<P: FeatureKind> {
    fn poll(
        &mut self,
        end: &mut CallEnd<'_, P>,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>>;
}

struct Step<'f, F, T, P: FeatureKind> {
    future: Pin<&'f mut F>,
    write: Write<T, P>,
}

impl<F: Future<Output = T>, T, P: FeatureKind> PollStep<P> for Step<'_, F, T, P> {
    fn poll(
        &mut self,
        end: &mut CallEnd<'_, P>,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        match self.future.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(value) => {
                let (info, write_context) = end.end();
                Poll::Ready((self.write)(value, info, write_context, result))
            }
        }
    }
}

/// The part of a pending call that does not depend on its function, so that its code is compiled once.
pub(crate) struct RunningCall<P: FeatureKind> {
    info: Arc<P>,
    write_context: P::WriteContext,
    /// `None` after the end of the call.
    lifetime: Option<Lifetime>,
}

impl<P: FeatureKind> RunningCall<P> {
    /// Creates the context of a call, and the part of the pending call that ends with it.
    pub(crate) fn of<C: CallValue>(info: &Arc<P>, call: &Call<'_>) -> (C, Self) {
        let context = C::from_call(call);
        let running = Self {
            info: Arc::clone(info),
            write_context: P::write_context(call),
            lifetime: Some(context.lifetime()),
        };
        (context, running)
    }

    fn poll(
        &mut self,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
        step: &mut dyn PollStep<P>,
    ) -> Poll<Result<(), RpcError>> {
        let start = result.mark();
        let mut end = CallEnd {
            info: &*self.info,
            write_context: &self.write_context,
            lifetime: &mut self.lifetime,
            faults: Faults::default(),
        };
        let polled = catch_panic(&*self.info, result, &mut |result| {
            step.poll(&mut end, context, result)
        });
        let faults = end.faults;
        match polled.unwrap_or_else(Poll::Ready) {
            Poll::Ready(written) => Poll::Ready(finish(written, faults, start, result)),
            Poll::Pending => {
                let lifetime = self.lifetime.as_ref();
                match lifetime.and_then(|it| it.take_questions(context.waker())) {
                    None => Poll::Pending,
                    Some(stopped) => {
                        self.lifetime = None;
                        Poll::Ready(stopped.map(|asked| {
                            result.input_required(&asked.questions, &asked.state);
                        }))
                    }
                }
            }
        }
    }
}

/// The end of a call whose function has returned.
struct CallEnd<'c, P: FeatureKind> {
    info: &'c P,
    write_context: &'c P::WriteContext,
    lifetime: &'c mut Option<Lifetime>,
    faults: Faults,
}

impl<'c, P: FeatureKind> CallEnd<'c, P> {
    /// Ends the call, and returns the values that are needed to write its output. No message may follow the response, so this precedes
    /// the response.
    fn end(&mut self) -> (&'c P, &'c P::WriteContext) {
        if let Some(lifetime) = self.lifetime.take() {
            self.faults = lifetime.end();
        }
        (self.info, self.write_context)
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

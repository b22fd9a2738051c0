//! Handlers of requests: type-erased functions that write a result in place, or return a future that does.

use std::fmt;
use std::pin::Pin;
use std::task::{self, Poll};

use crate::call::Call;
use crate::panic::drop_values;
use crate::result_writer::ResultWriter;
use crate::wire::RpcError;

/// Handler of the requests for one tool, prompt, resource or completer.
///
/// It writes the result, or returns a future that writes it later.
pub type Handler = Box<
    dyn Fn(&Call<'_>, &mut ResultWriter<'_>) -> Result<Option<PendingResult>, RpcError>
        + Send
        + Sync,
>;

/// Result that is not written yet.
///
/// It may hold values of the user's code: a panic that dropping them causes is logged.
pub struct PendingResult(Option<Pin<Box<dyn ResultFuture>>>);

impl fmt::Debug for PendingResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("PendingResult")
            .finish_non_exhaustive()
    }
}

impl PendingResult {
    /// Wraps the future of a result.
    #[inline]
    pub fn new(future: Pin<Box<dyn ResultFuture>>) -> Self {
        Self(Some(future))
    }

    /// Polls the future of the result, which must not be ready yet. The result has been written when it is ready.
    #[inline]
    pub fn poll_result(
        &mut self,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        match &mut self.0 {
            Some(future) => future.as_mut().poll_result(context, result),
            // Only `drop` removes it.
            None => Poll::Pending,
        }
    }
}

impl Drop for PendingResult {
    fn drop(&mut self) {
        drop_values(self.0.take());
    }
}

/// Future that writes its output as the result of a request.
pub trait ResultFuture: Send {
    /// Polls the future. The result has been written when it is ready.
    fn poll_result(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>>;
}

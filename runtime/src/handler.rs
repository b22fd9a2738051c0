//! Handlers of requests: type-erased functions that write a result in place, or return a future that does.

use std::pin::Pin;
use std::task::{self, Poll};

use crate::call::Call;
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
pub type PendingResult = Pin<Box<dyn ResultFuture>>;

/// Future that writes its output as the result of a request.
pub trait ResultFuture: Send {
    /// Polls the future. The result has been written when it is ready.
    fn poll_result(
        self: Pin<&mut Self>,
        context: &mut task::Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>>;
}

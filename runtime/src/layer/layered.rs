//! One call of a tool with layers around it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tower_service::Service;

use crate::call::{Call, Lifetime};
use crate::handler::{PendingResult, ResultFuture};
use crate::layer::call::Inner;
use crate::layer::{BoxError, ToolCall, ToolFuture, ToolService};
use crate::panic::{catch, unexpected};
use crate::result_writer::ResultWriter;
use crate::tool::error::ToolError;
use crate::tool::reply::ToolResultWriter;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

pub(super) struct Layered {
    inner: Arc<Inner>,
    response: ToolFuture,
    /// The call goes on until the outermost layer has its response.
    lifetime: Option<Lifetime>,
}

impl Layered {
    pub(super) fn start(
        service: &ToolService,
        inner: &Arc<Inner>,
        call: &Call<'_>,
    ) -> PendingResult {
        let (call, lifetime) = ToolCall::new(inner, call);
        Box::pin(Self {
            inner: Arc::clone(inner),
            response: service.clone().call(call),
            lifetime: Some(lifetime),
        })
    }
}

impl ResultFuture for Layered {
    fn poll_result(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        let polled = catch(|| self.response.as_mut().poll(context));
        let response = match polled {
            Ok(response) => ready!(response),
            Err(message) => {
                let name = &self.inner.tool.name;
                Err(unexpected("call of the tool", name, &message).into())
            }
        };
        // Nothing may be sent for the call after its answer, so it ends before that is written.
        self.lifetime = None;
        Poll::Ready(match response {
            Ok(response) => response.write((&self.inner.tool, self.inner.shape), result),
            Err(error) => failure(error, result),
        })
    }
}

/// Answers a call that a layer has failed.
fn failure(error: BoxError, result: &mut ResultWriter<'_>) -> Result<(), RpcError> {
    let error = match error.downcast::<RpcError>() {
        Ok(error) => return Err(*error),
        Err(error) => ToolError::from_boxed(error),
    };
    ToolResultWriter::new(result, Shape::Nothing).failure(error);
    Ok(())
}

//! One call of a tool with layers around it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tower_service::Service;

use crate::call::{Call, Lifetime};
use crate::handler::{PendingResult, ResultFuture};
use crate::layer::call::LayeredTool;
use crate::layer::{BoxError, ToolCall, ToolFuture, ToolService};
use crate::panic::{catch, unexpected};
use crate::result_writer::ResultWriter;
use crate::tool::error::ToolError;
use crate::tool::reply::ToolResultWriter;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

pub(super) struct LayeredCall {
    tool: Arc<LayeredTool>,
    response: ToolFuture,
    /// Ends the call when the outermost layer has its response.
    lifetime: Option<Lifetime>,
}

impl LayeredCall {
    pub(super) fn start(
        service: &ToolService,
        tool: &Arc<LayeredTool>,
        call: &Call<'_>,
    ) -> PendingResult {
        let (call, lifetime) = ToolCall::new(tool, call);
        Box::pin(Self {
            tool: Arc::clone(tool),
            response: service.clone().call(call),
            lifetime: Some(lifetime),
        })
    }
}

impl ResultFuture for LayeredCall {
    fn poll_result(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        let polled = catch(|| self.response.as_mut().poll(context));
        let response = match polled {
            Ok(response) => ready!(response),
            Err(message) => {
                let name = &self.tool.descriptor.name;
                Err(unexpected("call of the tool", name, &message).into())
            }
        };
        // End the call before writing the response, because nothing may be sent for it afterwards.
        self.lifetime = None;
        Poll::Ready(match response {
            Ok(response) => response.write((&self.tool.descriptor, self.tool.shape), result),
            Err(error) => failure(error, result),
        })
    }
}

/// Writes the response to a call that a layer has failed.
fn failure(error: BoxError, result: &mut ResultWriter<'_>) -> Result<(), RpcError> {
    let error = match error.downcast::<RpcError>() {
        Ok(error) => return Err(*error),
        Err(error) => ToolError::from_boxed(error),
    };
    ToolResultWriter::new(result, Shape::Nothing).failure(error);
    Ok(())
}

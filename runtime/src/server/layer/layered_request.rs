//! One request with layers around it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use tower_service::Service;
use treenail_schema::Method;

use crate::call::{Call, Lifetime};
use crate::error::carried;
use crate::function::run::{finish, to_rpc_error};
use crate::handler::{PendingResult, ResultFuture};
use crate::panic::{catch, unexpected};
use crate::result_writer::ResultWriter;
use crate::server::layer::{BoxError, Request, RequestService, ResponseFuture};
use crate::server::registry::Snapshot;
use crate::tool::error::ToolError;
use crate::tool::reply::ToolResultWriter;
use crate::tool::shape::Shape;
use crate::wire::RpcError;

pub(crate) struct LayeredRequest {
    method: Method,
    target: Box<str>,
    /// The shape of the output schema of a tool.
    shape: Shape,
    response: ResponseFuture,
    /// Ends the request when the outermost layer has its response.
    lifetime: Option<Lifetime>,
}

impl LayeredRequest {
    pub(crate) fn start(
        service: &RequestService,
        snapshot: &Arc<Snapshot>,
        params: &str,
        call: &Call<'_>,
    ) -> PendingResult {
        let (request, lifetime) = Request::new(snapshot, params, call);
        let schema = request.tool().and_then(|tool| tool.output_schema.as_ref());
        PendingResult::new(Box::pin(Self {
            method: request.method(),
            target: request.target().into(),
            shape: schema.map_or(Shape::Any, |schema| Shape::of_declared(schema)),
            response: service.clone().call(request),
            lifetime: Some(lifetime),
        }))
    }

    /// Writes the response to a request that a layer has failed.
    fn fail(&self, error: BoxError, result: &mut ResultWriter<'_>) -> Result<(), RpcError> {
        let error = carried(error);
        if self.method != Method::CallTool || error.is::<RpcError>() {
            return Err(to_rpc_error(error));
        }
        let error = ToolError::from_boxed(error);
        ToolResultWriter::new(result, Shape::Nothing).failure(error);
        Ok(())
    }

    fn panicked(&self, message: &str) -> BoxError {
        match self.method {
            Method::CallTool => unexpected("call of the tool", &self.target, message),
            method if self.target.is_empty() => unexpected("request", method.as_str(), message),
            method => {
                let name = format!("{} {}", method.as_str(), self.target);
                unexpected("request", &name, message)
            }
        }
        .into()
    }
}

impl ResultFuture for LayeredRequest {
    fn poll_result(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        result: &mut ResultWriter<'_>,
    ) -> Poll<Result<(), RpcError>> {
        let polled = catch(|| self.response.as_mut().poll(context));
        let response = match polled {
            Ok(response) => ready!(response),
            Err(message) => Err(self.panicked(&message)),
        };
        // End the request before writing the response, because nothing may be sent for it afterwards.
        let faults = self.lifetime.take().map(Lifetime::end);
        let start = result.mark();
        let written = match response {
            Ok(response) => response.write(self.method, self.shape, result),
            Err(error) => self.fail(error, result),
        };
        Poll::Ready(finish(written, faults.unwrap_or_default(), start, result))
    }
}

//! Services that layers wrap: the functions of tools, and the services of inner layers.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::Mutex;
use tower_service::Service;

use crate::extensions::Principal;
use crate::layer::{BoxError, ToolCall, ToolResponse};
use crate::result_writer::ResultWriter;

/// Future of the response to a call.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolResponse, BoxError>> + Send>>;

/// Service that a layer wraps: the functions of all tools, or these in the inner layers. Needs the feature `tower`.
///
/// It is always ready, and clones share one service. Its errors are those of inner layers, and the
/// [`RpcError`](crate::RpcError) of a call whose response is a JSON-RPC error. A function that fails or panics gives a result
/// with `isError` instead.
#[derive(Clone)]
pub struct ToolService(Kind);

#[derive(Clone)]
enum Kind {
    /// The function of the called tool.
    Innermost,
    /// The service of a layer. Calls queue until it is ready.
    Layer(Arc<Mutex<dyn Outer>>),
}

impl fmt::Debug for ToolService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolService")
            .finish_non_exhaustive()
    }
}

impl ToolService {
    pub(super) fn innermost() -> Self {
        Self(Kind::Innermost)
    }

    /// Wraps the service of a layer.
    pub(super) fn new<S>(service: S) -> Self
    where
        S: Service<ToolCall> + Send + 'static,
        S::Response: Into<ToolResponse>,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
    {
        Self(Kind::Layer(Arc::new(Mutex::new(service))))
    }
}

impl Service<ToolCall> for ToolService {
    type Response = ToolResponse;
    type Error = BoxError;
    type Future = ToolFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> ToolFuture {
        match &self.0 {
            Kind::Innermost => Box::pin(run(call)),
            Kind::Layer(service) => Box::pin(pass(Arc::clone(service), call)),
        }
    }
}

/// Runs the function of the tool, and collects its output.
async fn run(call: ToolCall) -> Result<ToolResponse, BoxError> {
    let ToolCall {
        tool,
        call,
        context,
    } = call;
    if let Some(round) = context.state().round() {
        round.begin(context.principal().map(Principal::as_str))?;
    }
    let call = call.with_context(context);
    let mut text = Vec::new();
    let mut result = ResultWriter::new(&mut text, &tool.style);
    if let Some(mut pending) = (tool.handler)(&call.borrow(None), &mut result)? {
        poll_fn(|context| {
            let mut result = ResultWriter::new(&mut text, &tool.style);
            pending.as_mut().poll_result(context, &mut result)
        })
        .await?;
    }
    Ok(ToolResponse::written(text))
}

/// Passes a call to the service of a layer, after all earlier calls and when the service is ready.
async fn pass(service: Arc<Mutex<dyn Outer>>, call: ToolCall) -> Result<ToolResponse, BoxError> {
    let mut service = service.lock().await;
    poll_fn(|context| service.poll_ready(context)).await?;
    let response = service.call(call);
    drop(service);
    response.await
}

/// Service of a layer, with its type erased.
trait Outer: Send {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>>;

    fn call(&mut self, call: ToolCall) -> ToolFuture;
}

impl<S> Outer for S
where
    S: Service<ToolCall> + Send + 'static,
    S::Response: Into<ToolResponse>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Service::poll_ready(self, context).map_err(Into::into)
    }

    fn call(&mut self, call: ToolCall) -> ToolFuture {
        let response = Service::call(self, call);
        Box::pin(async { Ok(response.await.map_err(Into::into)?.into()) })
    }
}

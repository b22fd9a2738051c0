//! The services that layers are put around.

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

/// The result of a call on its way out through the layers.
pub type ToolFuture = Pin<Box<dyn Future<Output = Result<ToolResponse, BoxError>> + Send>>;

/// What a layer is put around: the functions of all tools, or those with the layers that come after; the feature `tower`.
///
/// It is always ready, and a clone stands for the same service. It fails with the
/// [`RpcError`](crate::RpcError) of a call that is answered with a JSON-RPC error, and with what inner layers fail with;
/// a function that fails or panics gives a result with `isError`.
#[derive(Clone)]
pub struct ToolService(Kind);

#[derive(Clone)]
enum Kind {
    /// The function of the tool that is called.
    Innermost,
    /// The service of a layer. Calls wait in line for it to become ready.
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

    /// The service that a layer has made.
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

/// Runs the function of the tool, and keeps what it writes.
async fn run(call: ToolCall) -> Result<ToolResponse, BoxError> {
    let ToolCall {
        inner,
        call,
        context,
    } = call;
    if let Some(round) = context.state().round() {
        round.begin(context.principal().map(Principal::as_str))?;
    }
    let call = call.with_context(context);
    let mut text = Vec::new();
    let mut result = ResultWriter::new(&mut text, &inner.style);
    if let Some(mut pending) = (inner.handler)(&call.borrow(None), &mut result)? {
        poll_fn(|context| {
            let mut result = ResultWriter::new(&mut text, &inner.style);
            pending.as_mut().poll_result(context, &mut result)
        })
        .await?;
    }
    Ok(ToolResponse::written(text))
}

/// Passes a call to the service of a layer when all calls before it have been passed and the service is ready.
async fn pass(service: Arc<Mutex<dyn Outer>>, call: ToolCall) -> Result<ToolResponse, BoxError> {
    let mut service = service.lock().await;
    poll_fn(|context| service.poll_ready(context)).await?;
    let response = service.call(call);
    drop(service);
    response.await
}

/// A service that a layer has made, whatever its type.
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

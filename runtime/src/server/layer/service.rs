//! Services that layers wrap: the functions and lists of a server, and the services of inner layers.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use tokio::sync::Mutex;
use tower_service::Service;
use treenail_schema::Method;

use crate::ask::Level;
use crate::call::{Call, CallTarget, OwnedCall};
use crate::handler::PendingResult;
use crate::result_writer::ResultWriter;
use crate::server::layer::asking_layer::AskingLayer;
use crate::server::layer::{BoxError, Request, Response};
use crate::server::registry::{Route, Snapshot};
use crate::wire::{Params, RpcError};

/// Future of the response to a request.
#[cfg(feature = "tower")]
pub type ResponseFuture = Pin<Box<dyn Future<Output = Result<Response, BoxError>> + Send>>;

/// Service that a layer wraps: the functions and lists of a server, or these in the inner layers. Needs the feature `tower`.
///
/// It is always ready, and clones share one service. Its errors are those of inner layers, and the
/// [`RpcError`](crate::RpcError) of a request whose response is a JSON-RPC error. A tool that fails or panics gives a result with
/// `isError` instead.
#[cfg(feature = "tower")]
#[derive(Clone)]
pub struct RequestService(Kind);

#[derive(Clone)]
enum Kind {
    /// The function or list of the request.
    Innermost,
    /// The service of a layer. Requests queue until it is ready.
    Layer(Arc<Mutex<dyn Outer>>),
}

impl fmt::Debug for RequestService {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("RequestService")
            .finish_non_exhaustive()
    }
}

impl RequestService {
    pub(super) fn innermost() -> Self {
        Self(Kind::Innermost)
    }

    /// Wraps the service of a layer.
    pub(super) fn new<S>(service: S) -> Self
    where
        S: Service<Request> + Send + 'static,
        S::Response: Into<Response>,
        S::Error: Into<BoxError>,
        S::Future: Send + 'static,
    {
        Self(Kind::Layer(Arc::new(Mutex::new(service))))
    }
}

impl Service<Request> for RequestService {
    type Response = Response;
    type Error = BoxError;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> ResponseFuture {
        match &self.0 {
            Kind::Innermost => Box::pin(run(request)),
            Kind::Layer(service) => Box::pin(pass(Arc::clone(service), request)),
        }
    }
}

/// Runs the function of the request, or lists, and collects the output.
async fn run(request: Request) -> Result<Response, BoxError> {
    let Request {
        snapshot,
        call,
        params,
        mut context,
    } = request;
    context.set_level(Level::FUNCTION);
    if let Some(round) = context.state().round() {
        round.begin(context.asker())?;
    }
    let call = call.with_context(context);
    let revision = call.peer.revision();
    // The pages of lists are written once for each revision.
    let is_page = !is_function(call.target.method());
    let own = call.server.style(revision);
    let bare = own.to_bare();
    let style = if is_page { own } else { &bare };
    let mut text = Vec::new();
    let mut result = ResultWriter::new(&mut text, style);
    let started = start(&snapshot, &call, &params, &mut result)?;
    // The call retains its own function only.
    drop(snapshot);
    if let Some(mut pending) = started {
        poll_fn(|context| {
            let mut result = ResultWriter::new(&mut text, style);
            pending.poll_result(context, &mut result)
        })
        .await?;
    }
    Ok(Response::written(text, is_page.then_some(revision)))
}

/// Returns `true` if requests of a method run functions.
fn is_function(method: Method) -> bool {
    matches!(
        method,
        Method::CallTool | Method::GetPrompt | Method::ReadResource | Method::Complete
    )
}

/// Finds the function of the request and starts it, or writes the page of a list.
fn start(
    snapshot: &Snapshot,
    call: &OwnedCall,
    params: &str,
    result: &mut ResultWriter<'_>,
) -> Result<Option<PendingResult>, RpcError> {
    let mut params = Params::of_checked(params)?;
    let (method, revision) = (call.target.method(), call.peer.revision());
    if matches!(method, Method::CallTool | Method::GetPrompt) {
        params.arguments = call.target.arguments.as_deref();
    }
    let text = params.text;
    let call = call.borrow(None);
    match snapshot.route(method, &params, revision, &call.server.state.config)? {
        Some(Route::Page(page)) => {
            result.push(&page);
            Ok(None)
        }
        Some(Route::Function {
            handler,
            name,
            arguments,
        }) => {
            let target = CallTarget {
                name: &name,
                arguments: arguments.as_deref(),
                ..call.target
            };
            let call = Call {
                target,
                params: text,
                ..call
            };
            handler(&call, result)
        }
        None => Err(RpcError::method_not_found(method.as_str(), revision)),
    }
}

/// Passes a request to the service of a layer, after all earlier ones and when the service is ready.
async fn pass(service: Arc<Mutex<dyn Outer>>, mut request: Request) -> Result<Response, BoxError> {
    let asking = AskingLayer::enter(&mut request);
    let mut service = service.lock().await;
    poll_fn(|context| service.poll_ready(context)).await?;
    let response = service.call(request);
    drop(service);
    asking.run(response).await
}

/// Service of a layer, with its type erased.
trait Outer: Send {
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>>;

    fn call(&mut self, request: Request) -> ResponseFuture;
}

impl<S> Outer for S
where
    S: Service<Request> + Send + 'static,
    S::Response: Into<Response>,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
{
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Service::poll_ready(self, context).map_err(Into::into)
    }

    fn call(&mut self, request: Request) -> ResponseFuture {
        let response = Service::call(self, request);
        Box::pin(async { Ok(response.await.map_err(Into::into)?.into()) })
    }
}

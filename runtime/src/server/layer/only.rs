//! Layers around some requests only.

use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use tower_layer::Layer;
use tower_service::Service;

use crate::server::layer::{BoxError, Request, RequestService, Response, ResponseFuture};

/// Restricts a layer to the requests for which `selects` returns `true`. Other requests bypass the layer, and never wait for it.
///
/// ```
/// use tower::limit::ConcurrencyLimitLayer;
/// use treenail::Server;
/// use treenail::layer::{Request, only};
///
/// let limit = ConcurrencyLimitLayer::new(8);
/// let server = Server::builder("demo", "1.0.0").layer(only(Request::is_tool_call, limit)).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[cfg(feature = "tower")]
pub fn only<F, L>(selects: F, layer: L) -> Only<F, L>
where
    F: Fn(&Request) -> bool + Send + Sync + 'static,
{
    Only {
        selects: Arc::new(selects),
        layer,
    }
}

/// Layer for some requests, made by [`only`].
#[cfg(feature = "tower")]
pub struct Only<F, L> {
    selects: Arc<F>,
    layer: L,
}

impl<F, L: Clone> Clone for Only<F, L> {
    fn clone(&self) -> Self {
        Self {
            selects: Arc::clone(&self.selects),
            layer: self.layer.clone(),
        }
    }
}

impl<F, L: fmt::Debug> fmt::Debug for Only<F, L> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Only")
            .field("layer", &self.layer)
            .finish_non_exhaustive()
    }
}

impl<F, L> Layer<RequestService> for Only<F, L>
where
    F: Fn(&Request) -> bool + Send + Sync + 'static,
    L: Layer<RequestService>,
    L::Service: Service<Request> + Send + 'static,
    <L::Service as Service<Request>>::Response: Into<Response>,
    <L::Service as Service<Request>>::Error: Into<BoxError>,
    <L::Service as Service<Request>>::Future: Send + 'static,
{
    type Service = RequestService;

    fn layer(&self, inner: RequestService) -> RequestService {
        RequestService::new(Either {
            selects: Arc::clone(&self.selects),
            layered: RequestService::new(self.layer.layer(inner.clone())),
            inner,
        })
    }
}

/// Service of a layer, and the service inside of it. Both are always ready.
struct Either<F> {
    selects: Arc<F>,
    layered: RequestService,
    inner: RequestService,
}

impl<F: Fn(&Request) -> bool> Service<Request> for Either<F> {
    type Response = Response;
    type Error = BoxError;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> ResponseFuture {
        if (self.selects)(&request) {
            self.layered.call(request)
        } else {
            self.inner.call(request)
        }
    }
}

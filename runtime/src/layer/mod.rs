//! Layers around the calls of tools: the feature `tower`.
//!
//! A call with layers is written twice: the function's result as the newest revision has it, for the layers to see, and
//! then for the peer. A server without layers has nothing of this.

mod call;
mod layered;
mod response;
mod service;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tower_layer::Layer;
use tower_service::Service;
use treenail_schema::Tool;

use self::call::Inner;
pub use self::call::ToolCall;
use self::layered::Layered;
pub use self::response::ToolResponse;
pub use self::service::{ToolFuture, ToolService};
use crate::handler::Handler;

/// What a layer may fail with.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// The layers that have been added to a server, the outermost first.
#[derive(Default)]
pub(crate) struct LayerList {
    layers: Vec<Box<dyn FnOnce(ToolService) -> ToolService + Send + Sync>>,
}

impl fmt::Debug for LayerList {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LayerList")
            .field("count", &self.layers.len())
            .finish()
    }
}

impl LayerList {
    pub(crate) fn push<L>(&mut self, layer: L)
    where
        L: Layer<ToolService> + Send + Sync + 'static,
        L::Service: Service<ToolCall> + Send + 'static,
        <L::Service as Service<ToolCall>>::Response: Into<ToolResponse>,
        <L::Service as Service<ToolCall>>::Error: Into<BoxError>,
        <L::Service as Service<ToolCall>>::Future: Send + 'static,
    {
        self.layers
            .push(Box::new(move |inner| ToolService::new(layer.layer(inner))));
    }

    /// Makes the services of the layers, one for the whole server.
    pub(crate) fn build(self) -> Layers {
        if self.layers.is_empty() {
            return Layers(None);
        }
        let layers = self.layers.into_iter().rev();
        let service = layers.fold(ToolService::innermost(), |inner, layer| layer(inner));
        Layers(Some(service))
    }
}

/// The layers of a server, if it has any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers(Option<ToolService>);

impl Layers {
    /// Puts the layers around what answers the calls of `tool`.
    pub(crate) fn apply(&self, tool: &Tool, handler: Handler) -> Handler {
        let Some(service) = self.0.clone() else {
            return handler;
        };
        let inner = Arc::new(Inner::new(tool.clone(), handler));
        Box::new(move |call, _| Ok(Some(Layered::start(&service, &inner, call))))
    }
}

//! Layers around the calls of tools: the feature `tower`.
//!
//! The result of a call with layers is written twice: in the format of the newest revision for the layers, and then in the format
//! of the peer. A server without layers has none of this cost.

mod call;
mod layered_call;
mod response;
mod service;

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use tower_layer::Layer;
use tower_service::Service;
use treenail_schema::Tool;

use self::call::LayeredTool;
pub use self::call::ToolCall;
use self::layered_call::LayeredCall;
pub use self::response::ToolResponse;
pub use self::service::{ToolFuture, ToolService};
use crate::handler::Handler;

/// Error of a layer.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Layers that have been added to a server, the outermost first.
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

/// Layers of a server, if it has any.
#[derive(Clone, Debug, Default)]
pub(crate) struct Layers(Option<ToolService>);

impl Layers {
    /// Wraps the handler of `tool` in the layers.
    pub(crate) fn apply(&self, tool: &Tool, handler: Handler) -> Handler {
        let Some(service) = self.0.clone() else {
            return handler;
        };
        let tool = Arc::new(LayeredTool::new(tool.clone(), handler));
        Box::new(move |call, _| Ok(Some(LayeredCall::start(&service, &tool, call))))
    }
}

//! Middleware: `tower` layers around the requests to a server. Needs the feature `tower`.
//!
//! A layer gets a [`Request`] and returns a [`Response`]. See [`ServerBuilder::layer`](crate::ServerBuilder::layer).
//!
//! | request | [`Request::target`] | result |
//! |---|---|---|
//! | `tools/call` | name of the tool | `CallToolResult` |
//! | `prompts/get` | name of the prompt | `GetPromptResult` |
//! | `resources/read` | URI | `ReadResourceResult` |
//! | `completion/complete` | argument to complete | `CompleteResult` |
//! | `tools/list`, `prompts/list`, `resources/list`, `resources/templates/list` | | `ListToolsResult`, … |
//! | `server/discover` | | `DiscoverResult` |
//!
//! Requests that only change the state of a connection do not pass through layers: `initialize`, `ping`, `logging/setLevel` and
//! subscriptions. They run no function of yours.

// The result of a function with layers is written twice: in the format of the newest revision for the layers, and then in the
// format of the peer. A server without layers has none of this cost. The page of a list is copied, unless a layer returns it to a
// peer of another revision.

mod asking_layer;
mod layered_request;
mod log;
mod only;
mod request;
mod response;
mod service;

use std::error::Error;
use std::fmt;

use tower_layer::Layer;
use tower_service::Service;
use treenail_schema::Method;

pub(crate) use self::layered_request::LayeredRequest;
pub use self::log::{LogLayer, LogService};
pub use self::only::{Only, only};
pub use self::request::Request;
pub use self::response::Response;
pub use self::service::{RequestService, ResponseFuture};

/// Error of a layer.
pub type BoxError = Box<dyn Error + Send + Sync>;

/// Layers that have been added to a server, the outermost first.
#[derive(Default)]
pub(crate) struct LayerList {
    layers: Vec<Box<dyn FnOnce(RequestService) -> RequestService + Send + Sync>>,
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
        L: Layer<RequestService> + Send + Sync + 'static,
        L::Service: Service<Request> + Send + 'static,
        <L::Service as Service<Request>>::Response: Into<Response>,
        <L::Service as Service<Request>>::Error: Into<BoxError>,
        <L::Service as Service<Request>>::Future: Send + 'static,
    {
        self.layers.push(Box::new(move |inner| {
            RequestService::new(layer.layer(inner))
        }));
    }

    /// Makes the services of the layers, one for the whole server. Without layers there is none.
    pub(crate) fn build(self) -> Option<RequestService> {
        if self.layers.is_empty() {
            return None;
        }
        let layers = self.layers.into_iter().rev();
        Some(layers.fold(RequestService::innermost(), |inner, layer| layer(inner)))
    }
}

/// Returns `true` if the requests of `method` pass through layers.
pub(crate) fn is_layered(method: Method) -> bool {
    matches!(
        method,
        Method::CallTool
            | Method::GetPrompt
            | Method::ReadResource
            | Method::Complete
            | Method::ListTools
            | Method::ListPrompts
            | Method::ListResources
            | Method::ListResourceTemplates
            | Method::Discover
    )
}

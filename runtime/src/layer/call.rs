//! Call of a tool, as layers see it.

use std::fmt;
use std::sync::Arc;

use treenail_schema::{JsonObject, Tool, ToolAnnotations};

use crate::call::{Call, CallState, Lifetime, OwnedCall};
use crate::context::Context;
use crate::extensions::Extensions;
use crate::handler::Handler;
use crate::revision::ResultFormat;
use crate::tool::shape::Shape;

/// Call of a tool, on its way through the layers of a server to the function. Needs the feature `tower`.
///
/// See [`ServerBuilder::layer`](crate::ServerBuilder::layer). A layer can inspect it, change its arguments, attach values
/// to it, pass it on, respond itself, or fail. A clone is the same call, for layers that retry.
///
/// ```
/// use std::task::{Context, Poll};
///
/// use tower::Service;
/// use treenail::tool::{BoxError, ToolCall, ToolFuture, ToolService};
///
/// /// Rejects calls that may be destructive.
/// struct ReadOnly(ToolService);
///
/// impl Service<ToolCall> for ReadOnly {
///     type Response = treenail::tool::ToolResponse;
///     type Error = BoxError;
///     type Future = ToolFuture;
///
///     fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
///         self.0.poll_ready(cx)
///     }
///
///     fn call(&mut self, call: ToolCall) -> ToolFuture {
///         if call.is_destructive() {
///             let message = format!("`{}` is not allowed here", call.name());
///             return Box::pin(async { Err(message.into()) });
///         }
///         self.0.call(call)
///     }
/// }
///
/// use tower::layer::layer_fn;
/// let server = treenail::Server::builder("demo", "1.0.0").layer(layer_fn(ReadOnly)).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[derive(Clone)]
pub struct ToolCall {
    pub(super) tool: Arc<LayeredTool>,
    pub(super) call: OwnedCall,
    pub(super) context: Context,
}

impl fmt::Debug for ToolCall {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolCall")
            .field("name", &self.name())
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl ToolCall {
    /// Starts the call, which lasts until the [`Lifetime`] is dropped.
    pub(super) fn new(tool: &Arc<LayeredTool>, call: &Call<'_>) -> (Self, Lifetime) {
        let (context, lifetime) = CallState::with_layers(call);
        let call = Self {
            tool: Arc::clone(tool),
            call: OwnedCall::new(call),
            context,
        };
        (call, lifetime)
    }

    /// Returns the name of the tool, as clients call it.
    pub fn name(&self) -> &str {
        &self.tool.descriptor.name
    }

    /// Returns the tool, as clients of the newest revision see it.
    pub fn tool(&self) -> &Tool {
        &self.tool.descriptor
    }

    /// Returns `true` if the tool is declared as read-only.
    pub fn is_read_only(&self) -> bool {
        self.hint(|hints| hints.read_only_hint, false)
    }

    /// Returns `true` if the tool may be destructive. By the protocol, it may be unless it is declared as not destructive or as
    /// read-only.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.hint(|hints| hints.destructive_hint, true)
    }

    fn hint(&self, hint: fn(&ToolAnnotations) -> Option<bool>, default: bool) -> bool {
        let hints = self.tool.descriptor.annotations.as_ref();
        hints.and_then(hint).unwrap_or(default)
    }

    /// Returns the arguments, as the JSON text of an object. They have not been validated yet.
    pub fn arguments(&self) -> &str {
        self.call.target.arguments.as_deref().unwrap_or("{}")
    }

    /// Replaces the arguments.
    pub fn set_arguments(&mut self, arguments: JsonObject) {
        let text = serde_json::Value::Object(arguments).to_string();
        self.call.target.arguments = Some(text.into());
    }

    /// Returns the context that the function will get.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the extensions of the call. Inner layers and the function see the values that are inserted here.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        self.context.extensions_mut()
    }
}

/// Tool in layers.
pub(super) struct LayeredTool {
    pub(super) descriptor: Tool,
    /// The shape of its output schema.
    pub(super) shape: Shape,
    pub(super) handler: Handler,
    /// The style in which the function writes its result for the layers.
    pub(super) style: ResultFormat,
}

impl LayeredTool {
    pub(super) fn new(descriptor: Tool, handler: Handler) -> Self {
        let style = ResultFormat::bare();
        let schema = descriptor.output_schema.as_ref();
        Self {
            shape: schema.map_or(Shape::Any, |schema| Shape::of_members(schema)),
            descriptor,
            handler,
            style,
        }
    }
}

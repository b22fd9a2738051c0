//! A call of a tool, as layers see it.

use std::fmt;
use std::sync::Arc;

use treenail_schema::{JsonObject, Tool, ToolAnnotations};

use crate::call::{Call, CallState, Lifetime};
use crate::context::Context;
use crate::extensions::Extensions;
use crate::owned_call::OwnedCall;
use crate::respond::Handler;
use crate::revision::ResultFormat;
use crate::tool::output::Shape;

/// A call of a tool on its way through the layers of a server to the tool's function; the feature `tower`.
///
/// See [`ServerBuilder::layer`](crate::ServerBuilder::layer). A layer can look at it, change its arguments, attach values
/// to it, pass it on, answer in its place, or fail. A clone is the same call of the same client once more, for layers that
/// try again.
///
/// ```
/// use std::task::{Context, Poll};
///
/// use tower::Service;
/// use treenail_runtime::{BoxError, ToolCall, ToolFuture, ToolService};
///
/// /// Refuses calls that may destroy something.
/// struct ReadOnly(ToolService);
///
/// impl Service<ToolCall> for ReadOnly {
///     type Response = treenail_runtime::ToolResponse;
///     type Error = BoxError;
///     type Future = ToolFuture;
///
///     fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
///         self.0.poll_ready(cx)
///     }
///
///     fn call(&mut self, call: ToolCall) -> ToolFuture {
///         if call.is_destructive() {
///             let refusal = format!("`{}` is not allowed here", call.name());
///             return Box::pin(async { Err(refusal.into()) });
///         }
///         self.0.call(call)
///     }
/// }
///
/// use tower::layer::layer_fn;
/// let server = treenail_runtime::Server::builder("demo", "1.0.0").layer(layer_fn(ReadOnly)).build()?;
/// # Ok::<(), treenail_runtime::Error>(())
/// ```
#[derive(Clone)]
pub struct ToolCall {
    pub(super) inner: Arc<Inner>,
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
    /// The call, which lasts until the [`Lifetime`] is dropped.
    pub(super) fn new(inner: &Arc<Inner>, call: &Call<'_>) -> (Self, Lifetime) {
        let (context, lifetime) = CallState::with_layers(call);
        let call = Self {
            inner: Arc::clone(inner),
            call: OwnedCall::new(call),
            context,
        };
        (call, lifetime)
    }

    /// The name of the tool, as clients call it.
    pub fn name(&self) -> &str {
        &self.inner.tool.name
    }

    /// The tool, as clients of the newest revision see it.
    pub fn tool(&self) -> &Tool {
        &self.inner.tool
    }

    /// Whether the tool changes nothing; not, unless it says so.
    pub fn is_read_only(&self) -> bool {
        self.hint(|hints| hints.read_only_hint, false)
    }

    /// Whether the tool may destroy something. As the protocol has it, a tool may, unless it says that it does not or that
    /// it is read-only.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.hint(|hints| hints.destructive_hint, true)
    }

    fn hint(&self, hint: fn(&ToolAnnotations) -> Option<bool>, default: bool) -> bool {
        let hints = self.inner.tool.annotations.as_ref();
        hints.and_then(hint).unwrap_or(default)
    }

    /// The arguments, as the JSON text of an object. They have not been compared with the schema of the tool yet.
    pub fn arguments(&self) -> &str {
        self.call.arguments.as_deref().unwrap_or("{}")
    }

    /// Calls the tool with other arguments.
    pub fn set_arguments(&mut self, arguments: JsonObject) {
        let text = serde_json::Value::Object(arguments).to_string();
        self.call.arguments = Some(text.into());
    }

    /// Who calls, and how the caller can be told of the call, as the tool's function will see it.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The values that come with the call; what is put in here is seen by inner layers and by the function.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        self.context.extensions_mut()
    }
}

/// What is within the layers: a tool.
pub(super) struct Inner {
    pub(super) tool: Tool,
    /// What its output schema says of its values.
    pub(super) shape: Shape,
    pub(super) handler: Handler,
    /// In which the function writes its result for the layers.
    pub(super) style: ResultFormat,
}

impl Inner {
    pub(super) fn new(tool: Tool, handler: Handler) -> Self {
        let style = ResultFormat::bare();
        let schema = tool.output_schema.as_ref();
        Self {
            shape: schema.map_or(Shape::Any, |schema| Shape::of_members(schema)),
            tool,
            handler,
            style,
        }
    }
}

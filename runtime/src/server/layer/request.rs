//! Request to a server, as layers see it.

use std::fmt;
use std::sync::Arc;

use treenail_schema::{
    JsonObject, Method, Prompt, Resource, ResourceTemplate, Tool, ToolAnnotations,
};

use crate::call::{Call, CallState, Lifetime, OwnedCall};
use crate::context::Context;
use crate::extensions::Extensions;
use crate::server::registry::Snapshot;

/// Request to a server, on its way through the layers to the function or list. Needs the feature `tower`.
///
/// See [`ServerBuilder::layer`](crate::ServerBuilder::layer). A layer can inspect it, change its arguments, attach values to it,
/// pass it on, respond itself, or fail. A clone is the same request, for layers that retry.
///
/// ```
/// use std::task::{Context, Poll};
///
/// use tower::Service;
/// use treenail::layer::{BoxError, Request, RequestService, Response, ResponseFuture};
///
/// /// Rejects calls that may be destructive.
/// struct ReadOnly(RequestService);
///
/// impl Service<Request> for ReadOnly {
///     type Response = Response;
///     type Error = BoxError;
///     type Future = ResponseFuture;
///
///     fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
///         self.0.poll_ready(cx)
///     }
///
///     fn call(&mut self, request: Request) -> ResponseFuture {
///         if request.is_destructive() {
///             let message = format!("`{}` is not allowed here", request.target());
///             return Box::pin(async { Err(message.into()) });
///         }
///         self.0.call(request)
///     }
/// }
///
/// use tower::layer::layer_fn;
/// let server = treenail::Server::builder("demo", "1.0.0").layer(layer_fn(ReadOnly)).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[cfg(feature = "tower")]
#[derive(Clone)]
pub struct Request {
    pub(super) snapshot: Arc<Snapshot>,
    pub(super) call: OwnedCall,
    /// The text of the parameters, as received.
    pub(super) params: Arc<str>,
    pub(super) context: Context,
}

impl fmt::Debug for Request {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Request")
            .field("method", &self.method())
            .field("target", &self.target())
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl Request {
    /// Starts the request, which lasts until the [`Lifetime`] is dropped.
    pub(super) fn new(snapshot: &Arc<Snapshot>, params: &str, call: &Call<'_>) -> (Self, Lifetime) {
        let (context, lifetime) = CallState::with_layers(call);
        let request = Self {
            snapshot: Arc::clone(snapshot),
            call: OwnedCall::new(call),
            params: params.into(),
            context,
        };
        (request, lifetime)
    }

    /// Returns the method, such as [`Method::CallTool`]. Its name is `method().as_str()`.
    pub fn method(&self) -> Method {
        self.call.target.method()
    }

    /// Returns the target within the method: the name of a tool or prompt, the URI of a resource, or the name of the argument to
    /// complete. It is empty for lists and `server/discover`.
    ///
    /// The target may not exist. The client then gets an error, unless a layer responds.
    pub fn target(&self) -> &str {
        self.call.target.name()
    }

    /// Returns the name of the tool or prompt, for `tools/call` and `prompts/get`.
    pub fn name(&self) -> Option<&str> {
        let named = matches!(self.method(), Method::CallTool | Method::GetPrompt);
        named.then(|| self.target())
    }

    /// Returns the URI, for `resources/read`.
    pub fn uri(&self) -> Option<&str> {
        (self.method() == Method::ReadResource).then(|| self.target())
    }

    /// Returns `true` for `tools/call`.
    pub fn is_tool_call(&self) -> bool {
        self.method() == Method::CallTool
    }

    /// Returns `true` for a request of a list: tools, prompts, resources or resource templates.
    pub fn is_list(&self) -> bool {
        matches!(
            self.method(),
            Method::ListTools
                | Method::ListPrompts
                | Method::ListResources
                | Method::ListResourceTemplates
        )
    }

    /// Returns the called tool, as clients of the newest revision see it. It is `None` if there is none, or if it is hidden from the
    /// caller.
    pub fn tool(&self) -> Option<&Tool> {
        let name = self.name().filter(|_| self.is_tool_call())?;
        self.snapshot.tool(name)
    }

    /// Returns the prompt, for `prompts/get`.
    pub fn prompt(&self) -> Option<&Prompt> {
        let name = self.name().filter(|_| !self.is_tool_call())?;
        self.snapshot.prompt(name)
    }

    /// Returns the resource with exactly the URI of a `resources/read`.
    pub fn resource(&self) -> Option<&Resource> {
        self.snapshot.resources.resource(self.uri()?)
    }

    /// Returns the template that the URI of a `resources/read` matches, if it is not the URI of a resource.
    pub fn resource_template(&self) -> Option<&ResourceTemplate> {
        self.snapshot.resources.template(self.uri()?)
    }

    /// Returns `true` unless it is the call of a tool that is not declared as read-only. A call of an unknown tool is not.
    pub fn is_read_only(&self) -> bool {
        !self.is_tool_call() || self.hint(|hints| hints.read_only_hint, false)
    }

    /// Returns `true` for the call of a tool that may be destructive. By the protocol, it may be unless it is declared as not
    /// destructive or as read-only. A call of a tool that does not exist, or is hidden from the caller, runs no function, so it is not
    /// destructive.
    pub fn is_destructive(&self) -> bool {
        let may_destroy = || self.hint(|hints| hints.destructive_hint, true);
        self.tool().is_some() && !self.is_read_only() && may_destroy()
    }

    fn hint(&self, hint: fn(&ToolAnnotations) -> Option<bool>, default: bool) -> bool {
        let hints = self.tool().and_then(|tool| tool.annotations.as_ref());
        hints.and_then(hint).unwrap_or(default)
    }

    /// Returns the arguments of a tool or prompt, as the JSON text of an object. They have not been validated yet.
    pub fn arguments(&self) -> &str {
        match self.name() {
            Some(_) => self.call.target.arguments.as_deref().unwrap_or("{}"),
            None => "{}",
        }
    }

    /// Replaces the arguments of a tool or prompt. Other requests do not change.
    pub fn set_arguments(&mut self, arguments: JsonObject) {
        if self.name().is_some() {
            let text = serde_json::Value::Object(arguments).to_string();
            self.call.target.arguments = Some(text.into());
        }
    }

    /// Returns the parameters as received, as the JSON text of an object.
    pub fn params(&self) -> &str {
        &self.params
    }

    /// Returns the context that the function will get: the caller, its id and `_meta`, and messages to the caller.
    ///
    /// A layer can [ask the client](Context#asking-the-client) of `tools/call`, `prompts/get` and `resources/read`. It should ask
    /// before it calls the inner service. In the modern era, the question stops the layer, becomes its response, and the next round
    /// runs all layers again.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the extensions of the request. Inner layers and the function see the values that are inserted here.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        self.context.extensions_mut()
    }
}

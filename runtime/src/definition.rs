//! Definitions that the macros generate: the metadata of a feature, and the function that implements it.

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use treenail_schema::{Icon, MetaObject};

use crate::completion::Completer;
use crate::function::{FeatureKind, Function};
use crate::handler::Handler;
use crate::naming::full_name;
use crate::policy::Policy;
use crate::prompt::PromptDefinition;
use crate::resource::ResourceDefinition;
use crate::scope::RequiredScopes;
use crate::task::TaskTool;
use crate::tool::ToolDefinition;

/// A type with tools, prompts and resources, from an `impl` block with `#[mcp_tool]`;
/// [`ServerBuilder::mount`](crate::ServerBuilder::mount) adds it to a server.
///
/// An `Arc` of such a type can be mounted too, to share the state with the program or to mount it several times.
///
/// ```
/// use std::sync::Arc;
///
/// use treenail::{Server, ServerBuilder};
/// use treenail::server::Mount;
///
/// fn two_names<T: Mount>(server: ServerBuilder, state: Arc<T>) -> ServerBuilder {
///     let other = Arc::clone(&state);
///     server.mount(state).namespace("other", |namespace| namespace.mount(other))
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has nothing to mount",
    label = "not mountable",
    note = "put `#[mcp_tool]` on an `impl` block of a type of your own, and `#[tool]`, `#[prompt]` or `#[resource]` on its methods; then the type or an `Arc` of it can be mounted"
)]
pub trait Mount: Sized + Send + Sync + 'static {
    /// Namespace of everything in the `impl` block: a prefix of all names, followed by a dot. Empty for no prefix.
    const NAMESPACE: &'static str;

    /// Documentation of the `impl` block. It becomes part of the server's instructions.
    const INSTRUCTIONS: &'static str;

    /// Returns the scopes of tools, prompts and resources that declare none.
    fn default_scopes() -> RequiredScopes {
        RequiredScopes::default()
    }

    /// Returns the tools in source order.
    fn tools() -> Vec<ToolDefinition<Self>> {
        Vec::new()
    }

    /// Returns the prompts in source order.
    fn prompts() -> Vec<PromptDefinition<Self>> {
        Vec::new()
    }

    /// Returns the resources and templates in source order.
    fn resources() -> Vec<ResourceDefinition<Self>> {
        Vec::new()
    }

    /// Returns the identity and the name of the type, for [`Component::mounted`](crate::Component::mounted).
    #[doc(hidden)]
    fn identity() -> (TypeId, &'static str) {
        (TypeId::of::<Self>(), type_name::<Self>())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Mount> Mount for Arc<T> {
    const NAMESPACE: &'static str = T::NAMESPACE;
    const INSTRUCTIONS: &'static str = T::INSTRUCTIONS;

    fn default_scopes() -> RequiredScopes {
        T::default_scopes()
    }

    fn tools() -> Vec<ToolDefinition<Self>> {
        shared(T::tools())
    }

    fn prompts() -> Vec<PromptDefinition<Self>> {
        shared(T::prompts())
    }

    fn resources() -> Vec<ResourceDefinition<Self>> {
        shared(T::resources())
    }

    fn identity() -> (TypeId, &'static str) {
        T::identity()
    }
}

/// Converts the definitions of a state to definitions of an `Arc` of it.
fn shared<S: Send + Sync + 'static, P: FeatureKind>(
    definitions: Vec<Definition<S, P>>,
) -> Vec<Definition<Arc<S>, P>> {
    let share = |definition: Definition<S, P>| Definition {
        metadata: definition.metadata,
        function: definition.function.shared(),
        completers: definition
            .completers
            .into_iter()
            .map(|(argument, completer)| (argument, completer.shared()))
            .collect(),
    };
    definitions.into_iter().map(share).collect()
}

/// Metadata of a tool, a prompt or a resource, beside the part that is derived from its function.
#[derive(Debug)]
pub struct Metadata<P: FeatureKind> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) title: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    icons: Vec<Icon>,
    pub(crate) meta: Option<MetaObject>,
    scopes: Option<RequiredScopes>,
    pub(crate) details: P::Details,
}

impl<P: FeatureKind> Metadata<P> {
    /// Creates metadata with a name, without a namespace.
    pub fn new(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            title: None,
            description: None,
            icons: Vec::new(),
            meta: None,
            scopes: None,
            details: P::Details::default(),
        }
    }

    /// Sets the display name.
    #[must_use]
    pub fn title(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    /// Sets the description, which is written for the model.
    #[must_use]
    pub fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// Sets the icons.
    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.icons = icons;
        self
    }

    /// Sets the `_meta` object.
    #[must_use]
    pub fn meta(mut self, meta: MetaObject) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Sets the scopes that requests need, instead of those of the `impl` block.
    #[must_use]
    pub fn scope(mut self, scopes: RequiredScopes) -> Self {
        self.scopes = Some(scopes);
        self
    }

    /// Adds the function that handles the requests.
    pub fn define<S>(self, function: Function<S, P>) -> Definition<S, P> {
        Definition {
            metadata: self,
            function,
            completers: Vec::new(),
        }
    }

    /// Returns the name including `namespace`, if it is valid.
    pub(crate) fn full_name(&self, kind: &str, namespace: &str) -> Result<String, String> {
        full_name(kind, namespace, &self.name)
    }

    pub(crate) fn take_icons(&mut self) -> Option<Vec<Icon>> {
        let icons = std::mem::take(&mut self.icons);
        (!icons.is_empty()).then_some(icons)
    }
}

/// A tool, a prompt or a resource on the state `S` that is not bound to a value of it yet.
pub struct Definition<S, P: FeatureKind> {
    pub(crate) metadata: Metadata<P>,
    pub(crate) function: Function<S, P>,
    completers: Vec<(&'static str, Completer<S>)>,
}

impl<S, P: FeatureKind> fmt::Debug for Definition<S, P> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Definition")
            .field("name", &self.metadata.name)
            .finish_non_exhaustive()
    }
}

impl<S: Send + Sync + 'static, P: FeatureKind> Definition<S, P> {
    /// Adds completion for `argument`.
    #[must_use]
    pub fn complete(mut self, argument: &'static str, completer: Completer<S>) -> Self {
        self.completers.push((argument, completer));
        self
    }

    /// Binds the functions to `state`. `info` returns the information that requests need, given the final descriptor.
    pub(crate) fn bind_to<D>(
        self,
        state: &Arc<S>,
        descriptor: D,
        info: impl FnOnce(&D) -> P + Send + Sync + 'static,
    ) -> Registered<D> {
        let (function, own) = (self.function, Arc::clone(state));
        let completers = self.completers.into_iter();
        let completers = completers.map(|(argument, completer)| completer.bind(argument, state));
        Registered {
            completers: completers.collect(),
            scopes: self.metadata.scopes,
            ..Registered::new(descriptor, move |descriptor| {
                function.bind(own, info(descriptor))
            })
        }
    }
}

/// A tool, a prompt or a resource that is complete except for its name, which the server may still change.
pub(crate) struct Registered<D, X = ()> {
    pub(crate) descriptor: D,
    /// Properties that only the server uses.
    pub(crate) detail: X,
    handler: Box<dyn FnOnce(&D) -> Handler + Send + Sync>,
    completers: Completers,
    policy: Policy,
    /// The task support of a tool.
    task: Option<Arc<dyn TaskTool>>,
    /// `None` for the default of the `impl` block.
    scopes: Option<RequiredScopes>,
}

/// Handlers of completion requests.
#[derive(Default)]
pub(crate) struct Completers {
    by_argument: Vec<(Cow<'static, str>, Handler)>,
    /// Handler for all other arguments, also those that the descriptor does not name.
    any: Option<Handler>,
}

impl Completers {
    pub(crate) fn is_empty(&self) -> bool {
        self.by_argument.is_empty() && self.any.is_none()
    }

    /// Returns the handler for an argument.
    pub(crate) fn find(&self, argument: &str) -> Option<&Handler> {
        let mut found = self.by_argument.iter();
        let found = found.find(|(name, _)| name == argument);
        found.map(|(_, handler)| handler).or(self.any.as_ref())
    }

    /// Sets the handler for all arguments without their own.
    #[cfg(feature = "dynamic")]
    pub(crate) fn set_any(&mut self, handler: Handler) {
        self.any = Some(handler);
    }
}

impl FromIterator<(Cow<'static, str>, Handler)> for Completers {
    fn from_iter<I: IntoIterator<Item = (Cow<'static, str>, Handler)>>(handlers: I) -> Self {
        Self {
            by_argument: handlers.into_iter().collect(),
            any: None,
        }
    }
}

impl<D> Registered<D> {
    /// Creates an entry without completers, policy and scopes. `handler` makes its handler, given the final descriptor.
    pub(crate) fn new(
        descriptor: D,
        handler: impl FnOnce(&D) -> Handler + Send + Sync + 'static,
    ) -> Self {
        Self {
            descriptor,
            detail: (),
            handler: Box::new(handler),
            completers: Completers::default(),
            policy: Policy::default(),
            task: None,
            scopes: None,
        }
    }

    #[cfg(feature = "dynamic")]
    pub(crate) fn with_completers(mut self, completers: Completers) -> Self {
        self.completers = completers;
        self
    }

    #[cfg(feature = "dynamic")]
    pub(crate) fn with_scopes(mut self, scopes: Option<RequiredScopes>) -> Self {
        self.scopes = scopes;
        self
    }

    /// Adds properties that only the server uses.
    pub(crate) fn with<X>(self, detail: X) -> Registered<D, X> {
        Registered {
            descriptor: self.descriptor,
            detail,
            handler: self.handler,
            completers: self.completers,
            policy: self.policy,
            task: self.task,
            scopes: self.scopes,
        }
    }
}

impl<D: 'static> Registered<D> {
    pub(crate) fn with_task(mut self, task: Option<Arc<dyn TaskTool>>) -> Self {
        self.task = task;
        self
    }

    pub(crate) fn task(&self) -> Option<&Arc<dyn TaskTool>> {
        self.task.as_ref()
    }

    pub(crate) fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Adds a wrapper around the handler, applied once the descriptor is final.
    pub(crate) fn wrap(
        mut self,
        wrap: impl FnOnce(&D, Policy, Handler) -> Handler + Send + Sync + 'static,
    ) -> Self {
        let (handler, policy) = (self.handler, self.policy);
        self.handler = Box::new(move |descriptor| wrap(descriptor, policy, handler(descriptor)));
        self
    }
}

impl<D, X> Registered<D, X> {
    /// Sets the scopes if it has none of its own, and checks them.
    pub(crate) fn or_scopes(&mut self, default: &RequiredScopes) -> Result<(), String> {
        let scopes = self.scopes.take().unwrap_or_else(|| default.clone());
        self.scopes = Some(scopes.check()?);
        Ok(())
    }

    /// Completes the entry; the descriptor is final now.
    pub(crate) fn finish(self) -> Entry<D, X> {
        Entry {
            handler: (self.handler)(&self.descriptor),
            descriptor: self.descriptor,
            detail: self.detail,
            completers: self.completers,
            scopes: self.scopes.unwrap_or_default(),
        }
    }
}

/// An entry of the registry: the descriptor that peers receive, and the handlers of its requests.
pub(crate) struct Entry<D, X = ()> {
    pub(crate) descriptor: D,
    pub(crate) detail: X,
    pub(crate) handler: Handler,
    pub(crate) completers: Completers,
    /// The scopes that its requests need.
    pub(crate) scopes: RequiredScopes,
}

impl<D: fmt::Debug, X> fmt::Debug for Entry<D, X> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Entry")
            .field("descriptor", &self.descriptor)
            .finish_non_exhaustive()
    }
}

impl<D: fmt::Debug, X> fmt::Debug for Registered<D, X> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Registered")
            .field("descriptor", &self.descriptor)
            .finish_non_exhaustive()
    }
}

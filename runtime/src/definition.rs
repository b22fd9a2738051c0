//! Definitions that the macros generate: the metadata of a feature, and the function that implements it.

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use treenail_schema::{Icon, MetaObject};

use crate::completion::Completer;
use crate::function::{FeatureKind, Function};
use crate::naming::full_name;
use crate::prompt::PromptDefinition;
use crate::registered::Registered;
use crate::resource::ResourceDefinition;
use crate::scope::RequiredScopes;
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
    note = "put `#[mcp_tool]` on an `impl` block of the type and `#[tool]`, `#[prompt]` or `#[resource]` on its methods; for a contract, only `#[mcp_tool]` on the `impl`",
    note = "the type or an `Arc` of it can be mounted; a lock goes inside of the type",
    note = "a function is registered by `.tools(tools![add])`"
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
    meta: Result<Option<MetaObject>, String>,
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
            meta: Ok(None),
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
        // Empty if all of it is within `cfg_attr` attributes whose conditions do not hold.
        self.description = (!description.is_empty()).then_some(description);
        self
    }

    /// Sets the icons.
    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.icons = icons;
        self
    }

    /// Sets the `_meta` object, or the reason why its value is not one, which fails the construction of the server.
    #[must_use]
    pub fn meta(mut self, meta: Result<MetaObject, String>) -> Self {
        self.meta = meta.map(Some);
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

    /// Takes the `_meta` object.
    pub(crate) fn take_meta(&mut self) -> Result<Option<MetaObject>, String> {
        std::mem::replace(&mut self.meta, Ok(None))
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
        let bound = Registered::new(descriptor, move |descriptor| {
            function.bind(own, info(descriptor))
        });
        bound
            .with_completers(completers.collect())
            .with_scopes(self.metadata.scopes)
    }
}

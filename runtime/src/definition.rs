//! What a type offers, as the macros write it down: a metadata that is told, and a function that answers.

use std::any::{TypeId, type_name};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use treenail_schema::{Icon, MetaObject};

use crate::completion::Completer;
use crate::function::{FeatureKind, Function};
use crate::name;
use crate::policy::Policy;
use crate::prompt::PromptDefinition;
use crate::resource::ResourceDefinition;
use crate::respond::Handler;
use crate::tool::ToolDefinition;

/// A type whose `impl` block `#[mcp_tool]` has made a set of tools, prompts and resources;
/// [`ServerBuilder::mount`](crate::ServerBuilder::mount) takes it.
///
/// An `Arc` of such a type can be mounted too: a state that the program keeps, or that is mounted in several places.
///
/// ```
/// use std::sync::Arc;
///
/// use treenail_runtime::{Mount, Server, ServerBuilder};
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
    /// What the names of all that it offers begin with, before a dot; empty if with nothing.
    const NAMESPACE: &'static str;

    /// The documentation of the `impl` block, which becomes part of the server's instructions.
    const INSTRUCTIONS: &'static str;

    /// The tools, in the order in which they are written.
    fn tools() -> Vec<ToolDefinition<Self>> {
        Vec::new()
    }

    /// The prompts, in the order in which they are written.
    fn prompts() -> Vec<PromptDefinition<Self>> {
        Vec::new()
    }

    /// The resources and templates, in the order in which they are written.
    fn resources() -> Vec<ResourceDefinition<Self>> {
        Vec::new()
    }

    /// The type that [`Item::mounted`](crate::Item::mounted) finds what it offers by, and its name.
    #[doc(hidden)]
    fn identity() -> (TypeId, &'static str) {
        (TypeId::of::<Self>(), type_name::<Self>())
    }
}

#[diagnostic::do_not_recommend]
impl<T: Mount> Mount for Arc<T> {
    const NAMESPACE: &'static str = T::NAMESPACE;
    const INSTRUCTIONS: &'static str = T::INSTRUCTIONS;

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

/// Definitions of a state as those of an `Arc` of it.
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

/// What is told about a tool, a prompt or a resource beside what its function says.
#[derive(Debug)]
pub struct Metadata<P: FeatureKind> {
    pub(crate) name: Cow<'static, str>,
    pub(crate) title: Option<&'static str>,
    pub(crate) description: Option<&'static str>,
    icons: Vec<Icon>,
    pub(crate) meta: Option<MetaObject>,
    pub(crate) details: P::Details,
}

impl<P: FeatureKind> Metadata<P> {
    /// Begins with the name, without its namespace.
    pub fn new(name: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            title: None,
            description: None,
            icons: Vec::new(),
            meta: None,
            details: P::Details::default(),
        }
    }

    /// The name that people see.
    #[must_use]
    pub fn title(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    /// What it is for, in words for the model.
    #[must_use]
    pub fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// Pictures for it.
    #[must_use]
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.icons = icons;
        self
    }

    /// What stands in its `_meta`.
    #[must_use]
    pub fn meta(mut self, meta: MetaObject) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Adds what answers the requests for it.
    pub fn define<S>(self, function: Function<S, P>) -> Definition<S, P> {
        Definition {
            metadata: self,
            function,
            completers: Vec::new(),
        }
    }

    /// The name in `namespace`, if peers may be told of it.
    pub(crate) fn full_name(&self, kind: &str, namespace: &str) -> Result<String, String> {
        let name = if namespace.is_empty() {
            self.name.clone().into_owned()
        } else {
            format!("{namespace}.{}", self.name)
        };
        match name::flaw(&name) {
            Some(flaw) => Err(format!("the {kind} name `{name}` {flaw}")),
            None => Ok(name),
        }
    }

    pub(crate) fn take_icons(&mut self) -> Option<Vec<Icon>> {
        let icons = std::mem::take(&mut self.icons);
        (!icons.is_empty()).then_some(icons)
    }
}

/// A tool, a prompt or a resource of the state `S`, not yet bound to a value of it.
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
    /// Proposes values for `argument`.
    #[must_use]
    pub fn complete(mut self, argument: &'static str, completer: Completer<S>) -> Self {
        self.completers.push((argument, completer));
        self
    }

    /// Binds the functions to `state`; `info` tells the main one what it needs to know of the descriptor.
    pub(crate) fn bind_to<D>(
        self,
        state: &Arc<S>,
        descriptor: D,
        info: impl FnOnce(&D) -> P + Send + Sync + 'static,
    ) -> Registered<D> {
        let (function, own) = (self.function, Arc::clone(state));
        Registered {
            descriptor,
            detail: (),
            handler: Box::new(move |descriptor| function.bind(own, info(descriptor))),
            completers: self
                .completers
                .into_iter()
                .map(|(argument, completer)| (argument, completer.bind(argument, state)))
                .collect(),
            policy: Policy::default(),
        }
    }
}

/// A tool, a prompt or a resource that is complete but for its name, which the server may still change.
pub(crate) struct Registered<D, X = ()> {
    pub(crate) descriptor: D,
    /// What the server needs to know of it beside what peers see.
    pub(crate) detail: X,
    handler: Box<dyn FnOnce(&D) -> Handler + Send + Sync>,
    completers: Completers,
    policy: Policy,
}

/// What proposes values, for each argument that has it.
pub(crate) type Completers = Vec<(&'static str, Handler)>;

impl<D> Registered<D> {
    /// The same with what the server needs to know of it.
    pub(crate) fn with<X>(self, detail: X) -> Registered<D, X> {
        Registered {
            descriptor: self.descriptor,
            detail,
            handler: self.handler,
            completers: self.completers,
            policy: self.policy,
        }
    }
}

impl<D: 'static> Registered<D> {
    pub(crate) fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Has `wrap` put something around what answers the requests, once the descriptor is final.
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
    /// The same, complete.
    pub(crate) fn finish(self) -> Entry<D, X> {
        Entry {
            handler: (self.handler)(&self.descriptor),
            descriptor: self.descriptor,
            detail: self.detail,
            completers: self.completers,
        }
    }
}

/// What peers see of a tool, a prompt or a resource, and what answers their requests for it.
pub(crate) struct Entry<D, X = ()> {
    pub(crate) descriptor: D,
    pub(crate) detail: X,
    pub(crate) handler: Handler,
    pub(crate) completers: Completers,
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

//! Changes of a running server.

use std::any::TypeId;
use std::fmt;

use crate::definition::Mount;
#[cfg(feature = "dynamic")]
use crate::dynamic::{FeatureSource, IntoFeatures};
use crate::entry::EntryKind;
use crate::server::namespace::{Namespace, Parts};
use crate::server::provider::Provider;
use crate::tool::IntoToolSet;

/// Sequence of changes to the tools, prompts and resources of a server; [`Server::edit`](crate::Server::edit) makes all or none.
#[derive(Debug)]
#[must_use = "an edit happens once the closure has returned it"]
pub struct Edit {
    pub(crate) steps: Vec<Step>,
}

/// One change.
#[derive(Debug)]
pub(crate) enum Step {
    Add(Result<Parts, String>),
    /// Adds, and removes the entries that have the same names or URIs.
    Replace(Result<Parts, String>),
    /// Replaces the entries of a provider.
    #[cfg_attr(
        not(feature = "resource-sources"),
        expect(dead_code, reason = "only run-time features have providers")
    )]
    Provide(Provider, Result<Parts, String>),
    Change(Component, Change),
}

/// Change to a component.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    Remove,
    Disable,
    Enable,
}

impl Edit {
    /// Adds the tools, prompts and resources of a type, as [`ServerBuilder::mount`](crate::ServerBuilder::mount) does.
    pub fn mount<T: Mount>(self, state: T) -> Self {
        self.push(Namespace::root().mount(state))
    }

    /// Adds tools that are free functions, as `tools![…]` lists them.
    pub fn tools(self, tools: impl IntoToolSet) -> Self {
        self.push(Namespace::root().tools(tools))
    }

    /// Adds the content that `fill` puts into a namespace. The namespace may exist already.
    pub fn namespace(
        self,
        name: impl AsRef<str>,
        fill: impl FnOnce(Namespace) -> Namespace,
    ) -> Self {
        self.push(Namespace::root().namespace(name, fill))
    }

    /// Adds features that are made at run time: one, or a collection of them.
    #[allow(
        clippy::should_implement_trait,
        reason = "a server is not a number, and the name is that of collections"
    )]
    #[cfg(feature = "dynamic")]
    pub fn add(self, features: impl IntoFeatures) -> Self {
        self.push(Namespace::root().add(features))
    }

    /// Adds the content that `fill` puts into the server, and replaces what has the same name (tools and prompts) or URI. A
    /// replacement takes the place of the old one in the list, and is enabled. Calls in flight continue with the old one.
    ///
    /// Macro-made features and those that are made at run time can replace each other.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::tool::ToolSet;
    ///
    /// # fn migrate(server: &Server, tools: ToolSet) -> treenail::Result<()> {
    /// server.edit(|edit| edit.replace(|all| all.namespace("weather", |weather| weather.tools(tools))))
    /// # }
    /// ```
    pub fn replace(mut self, fill: impl FnOnce(Namespace) -> Namespace) -> Self {
        let parts = fill(Namespace::root()).into_parts();
        self.steps.push(Step::Replace(parts));
        self
    }

    /// Sets the features of `source`, and removes those that it had before. The first call adds the source, and its features
    /// stay in this place of the lists.
    ///
    /// Features of a source yield: where the server itself, or a source that was added earlier, has an enabled feature with
    /// the same name or URI, that one is served.
    ///
    /// A feature that was [disabled](Self::disable) stays disabled when its source provides it again, until it is
    /// [enabled](Self::enable), also if the source has not had it meanwhile. The name or URI identifies it. While a source does not
    /// have them, at most the last 1,000 of its disabled features are remembered, and none once all clones of the source have been
    /// dropped.
    #[cfg(feature = "dynamic")]
    pub fn provide(mut self, source: &FeatureSource, features: impl IntoFeatures) -> Self {
        let parts = source.parts(features);
        self.steps.push(Step::Provide(source.provider(), parts));
        self
    }

    /// Removes `component` permanently, or until its source [provides](Self::provide) it again. Its calls in flight continue.
    ///
    /// Its state is dropped when the last of these calls has ended. If callers see [different](crate::ServerBuilder::visible)
    /// features, subscribers to lists also retain it, until they have read their notifications or 7 further edits have been made.
    /// Requests retain it as long as a layer has them or clones of them.
    pub fn remove(self, component: Component) -> Self {
        self.change(component, Change::Remove)
    }

    /// Hides `component`: it is not listed, and a call of it fails as if it did not exist. Calls in flight continue.
    pub fn disable(self, component: Component) -> Self {
        self.change(component, Change::Disable)
    }

    /// Enables `component` again, at its old position. A disabled feature of a [source](Self::provide) can also be enabled while
    /// the source does not have it.
    pub fn enable(self, component: Component) -> Self {
        self.change(component, Change::Enable)
    }

    fn push(mut self, namespace: Namespace) -> Self {
        self.steps.push(Step::Add(namespace.into_parts()));
        self
    }

    fn change(mut self, component: Component, change: Change) -> Self {
        self.steps.push(Step::Change(component, change));
        self
    }
}

/// One tool, prompt or resource, or a group of them, that an [`Edit`] removes, disables or enables.
///
/// Names are written with dots, also on a server with another [separator](crate::ServerBuilder::name_separator).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    pub(crate) which: Which,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Tool(String),
    Prompt(String),
    Resource(String),
    Namespace(String),
    Mounted(TypeId, &'static str),
}

impl Component {
    /// Selects the tool with this full name.
    pub fn tool(name: impl Into<String>) -> Self {
        Self::of(Which::Tool(name.into()))
    }

    /// Selects the prompt with this full name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::of(Which::Prompt(name.into()))
    }

    /// Selects the resource with this URI, or the template with this text.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::of(Which::Resource(uri.into()))
    }

    /// Selects all tools, prompts and resources in a namespace and in those nested in it.
    pub fn namespace(name: impl Into<String>) -> Self {
        Self::of(Which::Namespace(name.into()))
    }

    /// Selects all tools, prompts and resources of a mounted type, in all namespaces, also where an `Arc` of it was mounted.
    pub fn mounted<T: Mount>() -> Self {
        let (id, name) = T::identity();
        Self::of(Which::Mounted(id, name))
    }

    fn of(which: Which) -> Self {
        Self { which }
    }

    /// Returns true if it selects the feature with this name (with dots) and this key: a name or URI.
    pub(crate) fn selects(&self, kind: EntryKind, full_name: &str, key: &str) -> bool {
        match &self.which {
            Which::Tool(name) => kind == EntryKind::Tool && full_name == name,
            Which::Prompt(name) => kind == EntryKind::Prompt && full_name == name,
            Which::Resource(uri) => kind.has_uri() && key == uri,
            Which::Namespace(namespace) => full_name
                .strip_prefix(&**namespace)
                .is_some_and(|rest| rest.starts_with('.')),
            Which::Mounted(..) => false,
        }
    }
}

impl fmt::Display for Component {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = match &self.which {
            Which::Tool(name) => ("tool", &**name),
            Which::Prompt(name) => ("prompt", &**name),
            Which::Resource(uri) => ("resource", &**uri),
            Which::Namespace(name) => ("namespace", &**name),
            Which::Mounted(_, name) => ("mounted type", *name),
        };
        write!(formatter, "{kind} `{name}`")
    }
}

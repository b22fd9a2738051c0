//! Namespaces of tools, prompts and resources, before they are part of a server.

use std::any::TypeId;
use std::borrow::Cow;
use std::sync::Arc;

use treenail_schema::{Prompt, Tool};

use crate::definition::Mount;
#[cfg(feature = "dynamic")]
use crate::dynamic::{Bound, IntoFeatures};
use crate::extension::{Extension, ExtensionFacts};
use crate::naming::validate_name;
use crate::registered::Registered;
use crate::resource::RegisteredResource;
use crate::scope::RequiredScopes;
use crate::server::absence::Absence;
use crate::server::provider::Provider;
use crate::task::TaskTool;
use crate::tool::{IntoToolSet, ToolSet};
use crate::visibility::Rule;

/// Mounted types, functions and nested namespaces under one name.
///
/// [`ServerBuilder::namespace`](crate::ServerBuilder::namespace) and [`Edit::namespace`](crate::Edit::namespace) make
/// one. Its name is a prefix of the names of all tools, prompts and resources in it, also of the namespace that a mounted type
/// has of its own: `admin.users.list`. URIs of resources have no prefix, because they are known outside of the server.
///
/// Errors in it are returned when the server is built or edited.
#[derive(Debug)]
#[must_use = "a namespace is part of a server once the closure has returned it"]
pub struct Namespace {
    /// Empty for the root.
    path: String,
    parts: Result<Parts, String>,
    pub(super) rules: Vec<Rule>,
}

impl Namespace {
    /// Makes the root namespace, which has no name.
    pub(crate) fn root() -> Self {
        Self {
            path: String::new(),
            parts: Ok(Parts::default()),
            rules: Vec::new(),
        }
    }

    /// Adds the tools, prompts and resources of a type.
    ///
    /// The same type may be mounted under two namespaces, with a state of its own in each, unless it has resources: URIs are
    /// unique.
    pub fn mount<T: Mount>(mut self, state: T) -> Self {
        let path = join(&self.path, T::NAMESPACE);
        self.parts = self.parts.and_then(|parts| parts.mount(&path, state));
        self
    }

    /// Adds tools that are free functions, as `tools![…]` lists them.
    pub fn tools(mut self, tools: impl IntoToolSet) -> Self {
        let (path, tools) = (&self.path, tools.into_tool_set());
        self.parts = self.parts.and_then(|parts| parts.add(path, tools));
        self
    }

    /// Adds features that are made at run time: one, or a collection of them. Their names get the prefix of the namespace.
    #[allow(
        clippy::should_implement_trait,
        reason = "a server is not a number, and the name is that of collections"
    )]
    #[cfg(feature = "dynamic")]
    pub fn add(mut self, features: impl IntoFeatures) -> Self {
        let path = &self.path;
        self.parts = self
            .parts
            .and_then(|parts| parts.add_features(path, features));
        self
    }

    /// Adds a nested namespace with the content that `fill` puts into it.
    pub fn namespace(
        self,
        name: impl AsRef<str>,
        fill: impl FnOnce(Namespace) -> Namespace,
    ) -> Self {
        let name = name.as_ref();
        let path = match &*self.path {
            "" => name.to_owned(),
            outer => format!("{outer}.{name}"),
        };
        let parts = self.parts.and_then(|parts| match validate_name(&path) {
            Err(problem) => Err(format!("the namespace `{path}` {problem}")),
            Ok(()) => Ok(parts),
        });
        let outer = parts.as_ref().map_or(0, |parts| parts.groups.len());
        let rules = Vec::new();
        let inner = fill(Self { path, parts, rules });
        let parts = inner.finish(outer);
        Self { parts, ..self }
    }

    pub(crate) fn into_parts(self) -> Result<Parts, String> {
        self.finish(0)
    }

    /// Returns the parts, with the rules of this namespace for all groups but the first `outer` ones.
    fn finish(self, outer: usize) -> Result<Parts, String> {
        let mut parts = self.parts?;
        for group in parts.groups.iter_mut().skip(outer) {
            group.rules.extend(self.rules.iter().cloned());
        }
        Ok(parts)
    }
}

/// Returns the full name of `name` within `outer`; either may be empty.
fn join(outer: &str, name: &str) -> String {
    match (outer, name) {
        ("", name) => name.to_owned(),
        (outer, "") => outer.to_owned(),
        (outer, name) => format!("{outer}.{name}"),
    }
}

/// Content of a namespace, in the order in which it was added.
#[derive(Debug, Default)]
pub(crate) struct Parts {
    pub(crate) groups: Vec<Group>,
}

/// Content that was added together: a mounted type, or a set of functions.
#[derive(Debug)]
pub(crate) struct Group {
    /// The mounted type; `None` for functions.
    pub(crate) mounted: Option<TypeId>,
    pub(crate) instructions: Cow<'static, str>,
    /// The [`FeatureSource`](crate::FeatureSource) whose content it is.
    pub(crate) provider: Option<Provider>,
    pub(crate) absence: Option<Absence>,
    /// The scopes of entries that declare none.
    pub(crate) scopes: RequiredScopes,
    /// The rules of the namespaces around it.
    pub(crate) rules: Vec<Rule>,
    pub(crate) tools: Vec<Registered<Tool>>,
    pub(crate) prompts: Vec<Registered<Prompt>>,
    pub(crate) resources: Vec<RegisteredResource>,
}

impl Parts {
    /// Iterates over the tools with task support: their names and the support.
    fn tasks(&self) -> impl Iterator<Item = (&str, &Arc<dyn TaskTool>)> {
        let tools = self.groups.iter().flat_map(|group| &group.tools);
        tools.filter_map(|tool| Some((&*tool.descriptor.name, tool.task()?)))
    }

    /// Adds the extensions that the task support of its tools needs, unless there are extensions with the same identifiers.
    pub(crate) fn with_task_extensions(&self, mut extensions: Vec<Extension>) -> Vec<Extension> {
        for (_, task) in self.tasks() {
            let needed = task.extension();
            if extensions.iter().all(|given| given.id() != needed.id()) {
                extensions.push(needed);
            }
        }
        extensions
    }

    /// Rejects tools whose task support needs an extension that the server does not have.
    pub(crate) fn check_task_extensions(self, known: &ExtensionFacts) -> Result<Self, String> {
        for (tool, task) in self.tasks() {
            let needed = task.extension();
            let id = needed.id();
            if !known.has(id) {
                return Err(format!(
                    "the tool `{tool}` needs the extension `{id}`, which must be added to the builder of the server"
                ));
            }
        }
        Ok(self)
    }

    fn mount<T: Mount>(mut self, namespace: &str, state: T) -> Result<Self, String> {
        let state = Arc::new(state);
        let (tools, prompts, resources) = (T::tools(), T::prompts(), T::resources());
        self.groups.push(Group {
            mounted: Some(T::identity().0),
            instructions: Cow::Borrowed(T::INSTRUCTIONS),
            provider: None,
            absence: None,
            scopes: T::default_scopes(),
            rules: Vec::new(),
            tools: bind_all(tools, |tool| tool.bind(namespace, &state))?,
            prompts: bind_all(prompts, |prompt| prompt.bind(namespace, &state))?,
            resources: bind_all(resources, |resource| resource.bind(namespace, &state))?,
        });
        Ok(self)
    }

    #[cfg(feature = "dynamic")]
    fn add_features(
        mut self,
        namespace: &str,
        features: impl IntoFeatures,
    ) -> Result<Self, String> {
        let mut group = Group {
            mounted: None,
            instructions: Cow::Borrowed(""),
            provider: None,
            absence: None,
            scopes: RequiredScopes::default(),
            rules: Vec::new(),
            tools: Vec::new(),
            prompts: Vec::new(),
            resources: Vec::new(),
        };
        for feature in features {
            match feature.bind(namespace)? {
                Bound::Tool(tool) => group.tools.push(tool),
                Bound::Prompt(prompt) => group.prompts.push(prompt),
                Bound::Resource(resource) => group.resources.push(resource),
            }
        }
        self.groups.push(group);
        Ok(self)
    }

    #[inline]
    fn add(mut self, namespace: &str, tools: ToolSet) -> Result<Self, String> {
        let state = Arc::new(());
        let tools = tools.into_definitions();
        self.groups.push(Group {
            mounted: None,
            instructions: Cow::Borrowed(""),
            provider: None,
            absence: None,
            scopes: RequiredScopes::default(),
            rules: Vec::new(),
            tools: bind_all(tools, |tool| tool.bind(namespace, &state))?,
            prompts: Vec::new(),
            resources: Vec::new(),
        });
        Ok(self)
    }
}

fn bind_all<D, B>(
    definitions: Vec<D>,
    bind: impl Fn(D) -> Result<B, String>,
) -> Result<Vec<B>, String> {
    definitions.into_iter().map(bind).collect()
}

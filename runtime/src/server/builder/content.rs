//! Content of a server: its tools, prompts and resources, and their names.

use super::ServerBuilder;
use crate::definition::Mount;
#[cfg(feature = "dynamic")]
use crate::dynamic::Feature;
use crate::server::namespace::Namespace;
use crate::tool::IntoToolSet;

impl ServerBuilder {
    /// Adds the tools, prompts and resources of a type, under the namespace that its `#[mcp_tool]` names. Mount an `Arc` of the
    /// type if the program itself uses the state too.
    pub fn mount<T: Mount>(mut self, state: T) -> Self {
        self.registry = self.registry.mount(state);
        self
    }

    /// Adds tools that are free functions, as `tools![…]` lists them.
    pub fn tools(mut self, tools: impl IntoToolSet) -> Self {
        self.registry = self.registry.tools(tools);
        self
    }

    /// Adds features that are made at run time: one, or a collection of them. Needs the feature `dynamic`.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::dynamic::{Prompt, Tool};
    ///
    /// let now = Tool::new("now").handler(|_, _| async { "12:00" });
    /// let plan = Prompt::new("plan").handler(|_, _| async { "Plan my day." });
    /// let server = Server::builder("demo", "1.0.0").add([now, plan]).build()?;
    /// # Ok::<(), treenail::Error>(())
    /// ```
    #[allow(
        clippy::should_implement_trait,
        reason = "a server is not a number, and the name is that of collections"
    )]
    #[cfg(feature = "dynamic")]
    pub fn add(mut self, features: impl IntoIterator<Item = Feature>) -> Self {
        self.registry = self.registry.add(features);
        self
    }

    /// Adds a namespace with the content that `fill` puts into it: types and functions, whose names get the prefix `name`, and
    /// nested namespaces.
    ///
    /// ```
    /// use treenail::Server;
    /// use treenail::server::Namespace;
    /// use treenail::tool::ToolSet;
    ///
    /// fn reports(reports: Namespace) -> Namespace {
    ///     reports.tools(ToolSet::new()) // `admin.reports.…`
    /// }
    ///
    /// let server = Server::builder("demo", "1.0.0")
    ///     .namespace("admin", |admin| admin.namespace("reports", reports))
    ///     .build()?;
    /// # Ok::<(), treenail::Error>(())
    /// ```
    pub fn namespace(
        mut self,
        name: impl AsRef<str>,
        fill: impl FnOnce(Namespace) -> Namespace,
    ) -> Self {
        self.registry = self.registry.namespace(name, fill);
        self
    }

    /// Allows [`Server::edit`](crate::Server::edit) to change the tools, prompts and resources of the server while it runs.
    ///
    /// Such a server declares tools, prompts and resources with `listChanged`, even while it has none of a kind.
    pub fn dynamic(mut self) -> Self {
        self.dynamic = true;
        self
    }

    /// Replaces the dots in names of tools, prompts and resources by `separator`, for hosts that reject dots.
    ///
    /// The APIs of `OpenAI`'s and Anthropic's models allow `a-z A-Z 0-9 _ -` in names of tools, up to 64 characters. Most hosts
    /// replace dots before they pass names to a model. Set `"_"` or `"__"` for hosts that pass names unchanged, such as
    /// openai-agents, `LangChain` and pydantic-ai.
    ///
    /// Calls must use the separator, so names stay unique. Building fails if a name contains the separator already, because the
    /// end of the namespace would be ambiguous.
    ///
    /// Without a separator, `tools/call` also accepts a name with `_` or `__` for each dot, such as `weather_forecast` for
    /// `weather.forecast`. The form must be unambiguous and not the name of another tool. A proxy that filters calls by tool name
    /// needs an allow list, or has to block these forms too.
    pub fn name_separator(mut self, separator: impl Into<String>) -> Self {
        self.separator = Some(separator.into());
        self
    }
}

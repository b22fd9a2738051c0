//! Tools: declarations made with `#[mcp_tool]`, and their registration with the server.

pub(crate) mod error;
pub(crate) mod header_params;
mod info;
mod keywords;
pub(crate) mod output;
#[cfg(all(debug_assertions, feature = "schema-validation"))]
mod output_check;
pub(crate) mod reply;
pub(crate) mod shape;
pub(crate) mod structured;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
#[cfg(feature = "client")]
use treenail_schema::SchemaObject;
use treenail_schema::{Tool as Descriptor, ToolAnnotations};

pub use self::info::{ToolDetails, ToolInfo};
use crate::definition::{Definition, Metadata};
#[cfg(feature = "client")]
use crate::function::Function;
use crate::policy::Policy;
use crate::registered::Registered;
use crate::task::{TaskTool, declare_task};
use crate::tool::output::declare;
#[cfg(feature = "client")]
use crate::tool::output::undeclared;
use crate::tool::shape::Shape;

/// A function that is annotated with `#[mcp_tool]`; `tools![…]` collects such functions.
///
/// The macro implements it for an empty type with the name of the function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "put `#[mcp_tool]` on the function; a type with an `#[mcp_tool]` block is registered by `.mount(value)`"
)]
pub trait Tool {
    /// The name of the tool.
    const NAME: &'static str;

    /// Returns the definition of the tool.
    fn definition() -> ToolDefinition<()>;
}

/// A list of tools that are free functions; `tools![…]` creates one.
#[derive(Debug, Default)]
pub struct ToolSet {
    tools: Vec<ToolDefinition<()>>,
}

impl ToolSet {
    /// Creates an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a tool.
    #[must_use]
    pub fn with<T: Tool>(mut self) -> Self {
        self.tools.push(T::definition());
        self
    }

    pub(crate) fn into_definitions(self) -> Vec<ToolDefinition<()>> {
        self.tools
    }
}

impl<const N: usize> From<[ToolDefinition<()>; N]> for ToolSet {
    fn from(tools: [ToolDefinition<()>; N]) -> Self {
        Self {
            tools: Vec::from(tools),
        }
    }
}

/// Set of tools for a server: a [`ToolSet`], which `tools![…]` creates.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a set of tools",
    label = "write `tools![…]` around the names of the functions",
    note = "as in `.tools(tools![add, search])`; the macro is in `treenail::prelude`; a type with an `#[mcp_tool]` block is registered by `.mount(value)`"
)]
pub trait IntoToolSet {
    /// Returns the set.
    fn into_tool_set(self) -> ToolSet;
}

#[diagnostic::do_not_recommend]
impl IntoToolSet for ToolSet {
    fn into_tool_set(self) -> Self {
        self
    }
}

/// Metadata of a tool beside its arguments and output.
pub type ToolMetadata = Metadata<ToolInfo>;

/// A tool on the state `S` that is not bound to a value of it yet.
pub type ToolDefinition<S> = Definition<S, ToolInfo>;

impl ToolMetadata {
    /// Sets the hint that the tool does not modify its environment.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.annotations().read_only_hint = Some(hint);
        self
    }

    /// Sets the hint that the tool may perform destructive updates.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.annotations().destructive_hint = Some(hint);
        self
    }

    /// Sets the hint that repeated calls with the same arguments have no additional effect.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.annotations().idempotent_hint = Some(hint);
        self
    }

    /// Sets the hint that the tool interacts with external entities.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.annotations().open_world_hint = Some(hint);
        self
    }

    /// Adds keywords to the input schema, for example to constrain combinations of arguments.
    #[must_use]
    pub fn schema(mut self, keywords: Value) -> Self {
        self.details.schema = Some(keywords);
        self
    }

    /// Sets the timeout of a call. The default is [`Limits::call_timeout`](crate::Limits::call_timeout).
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.details.policy.timeout = Some(timeout);
        self
    }

    /// Limits the number of concurrent calls, for the whole server. Further calls wait in order.
    #[must_use]
    pub fn max_concurrency(mut self, calls: usize) -> Self {
        self.details.policy.concurrency = Some(calls);
        self
    }

    /// Sets the task support.
    #[must_use]
    pub fn task(mut self, task: impl TaskTool) -> Self {
        self.details.task = Some(Arc::new(task));
        self
    }

    fn annotations(&mut self) -> &mut ToolAnnotations {
        self.details.annotations.get_or_insert_default()
    }
}

impl<S: Send + Sync + 'static> ToolDefinition<S> {
    /// Binds the tool to `state`, in `namespace`.
    pub(crate) fn bind(
        mut self,
        namespace: &str,
        state: &Arc<S>,
    ) -> Result<Registered<Descriptor>, String> {
        let (mut descriptor, policy, shape) = self.take_description(namespace)?;
        let task = self.metadata.details.task.take();
        declare_task(&mut descriptor, task.as_ref());
        if descriptor.description.is_none() {
            let (tool, advice) = (&descriptor.name, "write `/// …` above the function");
            tracing::warn!(
                tool,
                advice,
                "a tool has no documentation; models choose tools by it"
            );
        }
        let bound = self.bind_to(state, descriptor, move |descriptor| {
            ToolInfo::new(descriptor, shape)
        });
        Ok(bound.with_policy(policy).with_task(task))
    }

    /// Returns the descriptor that peers receive, in `namespace`, and the schema of an output that it does not declare.
    #[cfg(feature = "client")]
    pub(crate) fn describe(
        mut self,
        namespace: &str,
    ) -> Result<(Descriptor, Option<SchemaObject>), String> {
        let output = undeclared(self.function.output_schema);
        let (descriptor, ..) = self.take_description(namespace)?;
        Ok((descriptor, output.map(Into::into)))
    }

    /// Takes the descriptor, the policy and the output shape; a second call returns incomplete metadata.
    fn take_description(&mut self, namespace: &str) -> Result<(Descriptor, Policy, Shape), String> {
        let name = self.metadata.full_name("tool", namespace)?;
        let policy = self.metadata.details.policy.check(&name)?;
        let (output_schema, shape) = declare(self.function.output_schema);
        let metadata = &mut self.metadata;
        let input_schema = self
            .function
            .take_input_schema()
            .and_then(|schema| keywords::merge(metadata.details.schema.take(), schema))
            .map_err(|error| format!("tool `{name}`: {error}"))?;
        let meta = metadata.take_meta();
        let meta = meta.map_err(|error| format!("tool `{name}`: {error}"))?;
        header_params::header_params(&input_schema)
            .map_err(|error| format!("tool `{name}`: {error}"))?;
        let mut descriptor = Descriptor::new(name, input_schema);
        descriptor.title = metadata.title.map(str::to_owned);
        descriptor.description = metadata.description.map(str::to_owned);
        descriptor.annotations = metadata.details.annotations.take();
        descriptor.icons = metadata.take_icons();
        descriptor.meta = meta;
        descriptor.output_schema = output_schema.map(Into::into);
        Ok((descriptor, policy, shape))
    }
}

#[cfg(feature = "client")]
impl<S: Send + Sync + 'static> Function<S, ToolInfo> {
    /// Makes calls fail with the returned message, if there is one.
    pub(crate) fn fail_if(
        self,
        reason: impl Fn(&S) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.map_handler(move |state, info, handler| {
            Box::new(move |call, result| match reason(&state) {
                Some(reason) => {
                    info.fail(reason, result);
                    Ok(None)
                }
                None => handler(call, result),
            })
        })
    }
}

//! Tools: what `#[mcp_tool]` declares, and what the server makes of it.

pub(crate) mod argument;
pub(crate) mod bounds;
pub(crate) mod error;
pub(crate) mod name;
pub(crate) mod output;
pub(crate) mod problem;
pub(crate) mod reply;
pub(crate) mod run;
pub(crate) mod schema;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use serde_json::{Map, Value};
use treenail_schema::{Icon, MetaObject, Tool as Descriptor, ToolAnnotations};

use crate::call::{Call, CallValue};
use crate::respond::{Handler, Responding};
use crate::tool::argument::ArgumentList;
use crate::tool::output::{Output, Shape};
use crate::tool::reply::ToolReply;
use crate::tool::run::{Running, ToolFacts, blocking};

/// A function that `#[mcp_tool]` has made a tool; `tools![…]` collects them.
///
/// The type that implements it is an empty one with the name of the function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool",
    label = "not a tool",
    note = "put `#[mcp_tool]` on the function"
)]
pub trait Tool {
    /// The name of the tool.
    const NAME: &'static str;

    /// The tool.
    fn definition() -> ToolDefinition<()>;
}

/// A type whose `impl` block `#[mcp_tool]` has made a set of tools; [`ServerBuilder::mount`](crate::ServerBuilder::mount)
/// takes it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tools to mount",
    label = "not mountable",
    note = "put `#[mcp_tool]` on an `impl` block of `{Self}`, and `#[tool]` on its methods"
)]
pub trait Mount: Sized + Send + Sync + 'static {
    /// What the names of its tools begin with, before a dot; empty if with nothing.
    const NAMESPACE: &'static str;

    /// The documentation of the `impl` block, which becomes part of the server's instructions.
    const INSTRUCTIONS: &'static str;

    /// The tools, in the order in which they are written.
    fn tools() -> Vec<ToolDefinition<Self>>;
}

/// Tools that are free functions, in order; `tools![…]` makes one.
#[derive(Debug, Default)]
pub struct ToolSet {
    tools: Vec<ToolDefinition<()>>,
}

impl ToolSet {
    /// A set without tools.
    pub fn new() -> Self {
        Self::default()
    }

    /// The set with one tool more.
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

/// What is told about a tool beside its arguments and output.
#[derive(Clone, Debug)]
pub struct ToolHead {
    name: &'static str,
    title: Option<&'static str>,
    description: Option<&'static str>,
    annotations: Option<ToolAnnotations>,
    icons: Vec<Icon>,
    meta: Option<MetaObject>,
}

impl ToolHead {
    /// The tool called `name`, without its namespace.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            title: None,
            description: None,
            annotations: None,
            icons: Vec::new(),
            meta: None,
        }
    }

    /// The name that people see.
    #[must_use]
    pub fn title(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    /// What the tool does, for the model.
    #[must_use]
    pub fn description(mut self, description: &'static str) -> Self {
        self.description = Some(description);
        self
    }

    /// Whether the tool changes nothing.
    #[must_use]
    pub fn read_only(mut self, hint: bool) -> Self {
        self.annotations().read_only_hint = Some(hint);
        self
    }

    /// Whether the tool may destroy something.
    #[must_use]
    pub fn destructive(mut self, hint: bool) -> Self {
        self.annotations().destructive_hint = Some(hint);
        self
    }

    /// Whether calling the tool again with the same arguments changes nothing more.
    #[must_use]
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.annotations().idempotent_hint = Some(hint);
        self
    }

    /// Whether the tool deals with the world outside.
    #[must_use]
    pub fn open_world(mut self, hint: bool) -> Self {
        self.annotations().open_world_hint = Some(hint);
        self
    }

    /// Pictures for the tool.
    #[must_use]
    pub fn icons<I>(mut self, icons: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<Icon>,
    {
        self.icons = icons.into_iter().map(Into::into).collect();
        self
    }

    /// What stands in the `_meta` of the tool.
    #[must_use]
    pub fn meta(mut self, meta: impl Into<MetaObject>) -> Self {
        self.meta = Some(meta.into());
        self
    }

    /// A tool whose function answers at once; it runs on the thread of the session.
    pub fn synchronous<S, A, C, T, B>(
        self,
        arguments: A,
        output: Output<T>,
        body: B,
    ) -> ToolDefinition<S>
    where
        S: Send + Sync + 'static,
        A: ArgumentList,
        C: CallValue,
        T: 'static,
        B: Fn(&Arc<S>, C, A::Values) -> T + Send + Sync + 'static,
    {
        self.define(arguments, output, move |state, _, call, values, reply| {
            let value = C::from_call(call);
            let lifetime = value.lifetime();
            let output_value = body(state, value, values);
            drop(lifetime);
            output.write(output_value, reply);
            None
        })
    }

    /// A tool whose function blocks; it runs on a thread for that.
    pub fn blocking<S, A, C, T, B>(
        self,
        arguments: A,
        output: Output<T>,
        body: B,
    ) -> ToolDefinition<S>
    where
        S: Send + Sync + 'static,
        A: ArgumentList,
        C: CallValue,
        T: Send + 'static,
        B: Fn(Arc<S>, C, A::Values) -> T + Send + Sync + 'static,
    {
        let body = Arc::new(body);
        self.define(arguments, output, move |state, facts, call, values, _| {
            let (body, state) = (Arc::clone(&body), Arc::clone(state));
            let (turns, value) = (Arc::clone(call.blocking), C::from_call(call));
            let lifetime = value.lifetime();
            let future = blocking(turns, move || body(state, value, values));
            Some(Box::pin(Running::new(future, output, facts, lifetime)))
        })
    }

    /// A tool whose function is asynchronous.
    pub fn asynchronous<S, A, C, T, B, F>(
        self,
        arguments: A,
        output: Output<T>,
        body: B,
    ) -> ToolDefinition<S>
    where
        S: Send + Sync + 'static,
        A: ArgumentList,
        C: CallValue,
        T: 'static,
        B: Fn(Arc<S>, C, A::Values) -> F + Send + Sync + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.define(arguments, output, move |state, facts, call, values, _| {
            let value = C::from_call(call);
            let lifetime = value.lifetime();
            let future = body(Arc::clone(state), value, values);
            Some(Box::pin(Running::new(future, output, facts, lifetime)))
        })
    }

    fn annotations(&mut self) -> &mut ToolAnnotations {
        self.annotations.get_or_insert_default()
    }

    fn define<S, A, T, R>(self, arguments: A, output: Output<T>, run: R) -> ToolDefinition<S>
    where
        S: Send + Sync + 'static,
        A: ArgumentList,
        R: Fn(
                &Arc<S>,
                &Arc<ToolFacts>,
                &Call<'_>,
                A::Values,
                &mut ToolReply<'_, '_>,
            ) -> Option<Responding>
            + Send
            + Sync
            + 'static,
    {
        let (output_schema, shape) = output.declare();
        ToolDefinition {
            head: self,
            input_schema: arguments.schema(),
            output_schema,
            shape,
            bind: Box::new(move |state, facts| {
                Box::new(move |call, result| {
                    let left = facts.guard(result, |reply| match arguments.read(call.arguments) {
                        Ok(values) => run(&state, &facts, call, values, reply),
                        Err(problems) => {
                            facts.reject(&problems, reply);
                            None
                        }
                    });
                    Ok(left.flatten())
                })
            }),
        }
    }
}

/// A tool of the state `S`, not yet bound to a value of it.
pub struct ToolDefinition<S> {
    head: ToolHead,
    input_schema: Result<Map<String, Value>, String>,
    output_schema: Option<Map<String, Value>>,
    shape: Shape,
    bind: Box<dyn FnOnce(Arc<S>, Arc<ToolFacts>) -> Handler + Send + Sync>,
}

impl<S> fmt::Debug for ToolDefinition<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolDefinition")
            .field("head", &self.head)
            .finish_non_exhaustive()
    }
}

impl<S: Send + Sync + 'static> ToolDefinition<S> {
    /// The tool in `namespace`, run on `state`.
    pub(crate) fn bind(self, namespace: &str, state: Arc<S>) -> Result<BoundTool, String> {
        let ToolHead {
            name,
            title,
            description,
            annotations,
            icons,
            meta,
        } = self.head;
        let name = if namespace.is_empty() {
            name.to_owned()
        } else {
            format!("{namespace}.{name}")
        };
        if let Some(flaw) = name::flaw(&name) {
            return Err(format!("the tool name `{name}` {flaw}"));
        }
        let input_schema = self
            .input_schema
            .map_err(|error| format!("tool `{name}`: {error}"))?;
        let mut descriptor = Descriptor::new(name, input_schema);
        descriptor.title = title.map(str::to_owned);
        descriptor.description = description.map(str::to_owned);
        descriptor.annotations = annotations;
        descriptor.icons = (!icons.is_empty()).then_some(icons);
        descriptor.meta = meta;
        descriptor.output_schema = self.output_schema.map(Into::into);
        Ok(BoundTool {
            descriptor,
            shape: self.shape,
            bind: Box::new(move |facts| (self.bind)(state, facts)),
        })
    }
}

/// A tool that is complete but for its name, which the server may still change.
pub(crate) struct BoundTool {
    pub(crate) descriptor: Descriptor,
    shape: Shape,
    bind: Box<dyn FnOnce(Arc<ToolFacts>) -> Handler + Send + Sync>,
}

impl BoundTool {
    /// The tool as peers see it, and what answers the calls of it.
    pub(crate) fn finish(self) -> (Descriptor, Handler) {
        let facts = ToolFacts {
            name: self.descriptor.name.clone(),
            input_schema: self.descriptor.input_schema.clone(),
            shape: self.shape,
        };
        (self.descriptor, (self.bind)(Arc::new(facts)))
    }
}

impl fmt::Debug for BoundTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BoundTool")
            .field("name", &self.descriptor.name)
            .finish_non_exhaustive()
    }
}

//! Tools that are made at run time.

mod registration;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use treenail_schema::ToolAnnotations;
use treenail_schema::internal::ValidationLimits;

use super::common::metadata;
use crate::attribute_value::IntoSchema;
use crate::context::Context;
use crate::dynamic::arguments::{Arguments, Form};
use crate::dynamic::checked::{Shared, Unchecked, WithArguments, of_object};
use crate::dynamic::raw::{RawOutcome, RawResult, bounded};
use crate::dynamic::{Feature, results};
use crate::function::kind::Kind;
use crate::function::{Function, Output};
use crate::policy::Policy;
use crate::scope::RequiredScopes;
use crate::stream::{Fold, Streaming, ToolItem, ToolStream};
use crate::task::TaskTool;
use crate::tool::ToolInfo;
use crate::tool::output::ToolOutput;
use crate::wire::RpcError;

/// Maximum number of steps for validating the arguments of a call. They are taken on the thread of the connection, so the
/// number is lower than that of clients.
const ARGUMENT_STEPS: u64 = 500_000;

/// Builder of a tool that is made at run time. Needs the feature `dynamic`.
///
/// Its handler completes it: [`handler`](Self::handler), [`blocking`](Self::blocking), [`stream`](Self::stream) or
/// [`raw`](Self::raw).
///
/// ```
/// use treenail::dynamic::Tool;
/// use treenail::{Server, json};
///
/// let find = Tool::new("place.find")
///     .description("Finds places by their name.")
///     .input(json!({
///         "type": "object",
///         "properties": {"name": {"type": "string", "description": "A part of the name"}},
///         "required": ["name"],
///         "additionalProperties": false,
///     }))
///     .read_only(true)
///     .handler(|_, arguments| async move { format!("no place matches {}", arguments.text()) });
/// let server = Server::builder("demo", "1.0.0").add(find).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
///
/// A `Tool` can be made from a descriptor too, which is sent to clients unchanged except for the namespace:
///
/// ```
/// use treenail::dynamic::Tool;
/// use treenail::{json, schema};
///
/// let descriptor = json!({"name": "now", "inputSchema": {"type": "object"}});
/// let descriptor: schema::Tool = serde_json::from_value(descriptor)?;
/// let tool = Tool::from(descriptor).handler(|_, _| async { "12:00" });
/// # let _ = tool;
/// # Ok::<(), serde_json::Error>(())
/// ```
#[must_use = "a tool is complete once it has a handler"]
pub struct Tool {
    descriptor: treenail_schema::Tool,
    scopes: Option<RequiredScopes>,
    policy: Policy,
    task: Option<Arc<dyn TaskTool>>,
    fold: Option<Fold>,
    limits: ValidationLimits,
    problem: Result<(), String>,
}

metadata!(Tool);

impl From<treenail_schema::Tool> for Tool {
    fn from(descriptor: treenail_schema::Tool) -> Self {
        Self {
            descriptor,
            scopes: None,
            policy: Policy::default(),
            task: None,
            fold: None,
            limits: ValidationLimits::default().steps(ARGUMENT_STEPS),
            problem: Ok(()),
        }
    }
}

impl Tool {
    /// Creates a tool without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        let schema = json!({"type": "object", "properties": {}, "additionalProperties": false});
        let schema = schema.as_object().cloned().unwrap_or_default();
        treenail_schema::Tool::new(name, schema).into()
    }

    /// Sets the JSON Schema of the arguments: an object with `"type": "object"`, without references to other documents.
    ///
    /// The arguments of each call are validated against it. Building the server fails if the schema is invalid.
    pub fn input(mut self, schema: impl IntoSchema) -> Self {
        match schema.into_schema() {
            Value::Object(schema) => self.descriptor.input_schema = schema.into(),
            _ => self.problem = Err("its input schema is not an object".to_owned()),
        }
        self
    }

    /// Sets the JSON Schema of the structured content. Default: that of the handler's output type.
    ///
    /// Clients may validate results against it. The server does so in builds with debug assertions, except for those of a
    /// [`raw`](Self::raw) handler: one that does not match becomes a failure.
    pub fn output(mut self, schema: impl IntoSchema) -> Self {
        match schema.into_schema() {
            Value::Object(schema) => self.descriptor.output_schema = Some(schema.into()),
            _ => self.problem = Err("its output schema is not an object".to_owned()),
        }
        self
    }

    /// Sets the hint that the tool does not modify its environment.
    pub fn read_only(mut self, hint: bool) -> Self {
        self.annotations().read_only_hint = Some(hint);
        self
    }

    /// Sets the hint that the tool may perform destructive updates.
    pub fn destructive(mut self, hint: bool) -> Self {
        self.annotations().destructive_hint = Some(hint);
        self
    }

    /// Sets the hint that repeated calls with the same arguments have no additional effect.
    pub fn idempotent(mut self, hint: bool) -> Self {
        self.annotations().idempotent_hint = Some(hint);
        self
    }

    /// Sets the hint that the tool interacts with external entities.
    pub fn open_world(mut self, hint: bool) -> Self {
        self.annotations().open_world_hint = Some(hint);
        self
    }

    /// Sets the timeout of a call. Default: [`Limits::call_timeout`](crate::Limits::call_timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.policy.timeout = Some(timeout);
        self
    }

    /// Limits the number of concurrent calls, for the whole server. Further calls wait in order.
    pub fn max_concurrency(mut self, calls: usize) -> Self {
        self.policy.concurrency = Some(calls);
        self
    }

    /// Lets calls of the tool become tasks, which outlive their request. The feature `tasks` of `treenail` provides the values.
    pub fn task(mut self, task: impl TaskTool) -> Self {
        self.task = Some(Arc::new(task));
        self
    }

    /// Sets the method that combines the items of a [stream](Self::stream) to one result. Default: all items, as one array or as
    /// content blocks; of items without a value, such as `()`, the last one.
    ///
    /// The result must match a declared [`output`](Self::output). A tool that declares a string, for example, and whose stream has the
    /// parts of it, needs [`Fold::Concat`]. Building the server fails if the schema does not allow the type of the result.
    pub fn fold(mut self, fold: Fold) -> Self {
        self.fold = Some(fold);
        self
    }

    /// Sets the limits of the input schema and of the validation of arguments. Default: [`ValidationLimits::default`] with
    /// 500,000 steps. Arguments beyond a limit are rejected with a message for the model.
    pub fn validation(mut self, limits: ValidationLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Completes the tool with an asynchronous handler.
    ///
    /// The handler is dropped when its call is cancelled. In the modern era, it runs again from its start when the client has
    /// answered [`Context::elicit`], as a macro-made tool does. An error in its output must not be a type that serializes,
    /// such as `String`: use [`ToolError`](crate::ToolError) or another [`std::error::Error`].
    pub fn handler<F, R, T, K>(self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = T> + Send + 'static,
        T: ToolOutput<K> + 'static,
    {
        self.validated(T::output(Kind::any()), |arguments, output| {
            let body = move |_, call: WithArguments, values| {
                let (context, arguments) = call.split(values);
                handler(context, arguments)
            };
            Function::asynchronous(Shared(arguments), output, body)
        })
    }

    /// Completes the tool with a blocking handler, which runs on a thread for blocking work.
    pub fn blocking<F, T, K>(self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> T + Send + Sync + 'static,
        T: ToolOutput<K> + Send + 'static,
    {
        self.validated(T::output(Kind::any()), |arguments, output| {
            let body = move |_, context, values| handler(context, values);
            Function::blocking(arguments, output, body)
        })
    }

    /// Completes the tool with a handler that returns a stream of items, see [`ToolItem`]. The items are collected to one
    /// result; a caller that requested progress receives each of them.
    pub fn stream<F, S, I, M, K>(self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> S + Send + Sync + 'static,
        S: ToolStream<I, M> + Send + 'static,
        I: ToolItem<K> + 'static,
    {
        let items = I::items(Kind::any(), self.fold);
        let handler = Arc::new(handler);
        self.combining(items.form, items.fold)
            .validated(items.output(), |arguments, output| {
                let body = move |_, call: Streaming<Context>, values| {
                    let handler = Arc::clone(&handler);
                    async move {
                        let stream = handler(call.context().clone(), values);
                        stream.collect_items(items, &call).await
                    }
                };
                Function::asynchronous(arguments, output, body)
            })
    }

    /// Completes the tool with a handler that takes the arguments as they are and returns the text of a `CallToolResult`.
    ///
    /// The arguments are an object, but nothing else is checked. The input schema is only checked for `"type": "object"`, which
    /// is added if it has no type. An error of the handler becomes a JSON-RPC error. A result that is not valid becomes a
    /// failure that the model reads.
    pub fn raw<F, R>(mut self, handler: F) -> Feature
    where
        F: Fn(Context, Arguments) -> R + Send + Sync + 'static,
        R: Future<Output = Result<RawResult, RpcError>> + Send + 'static,
    {
        let output = Output::<RawOutcome, ToolInfo> {
            schema: |_| None,
            write: |outcome, info, (), result| results::tool(outcome, info, result),
        };
        let body =
            move |_, context: Context, values| bounded(context.clone(), handler(context, values));
        let function = Function::asynchronous(Unchecked(Form::Json), output, body);
        self.problem = self
            .problem
            .and(of_object(&mut self.descriptor.input_schema));
        self.feature(function)
    }

    fn annotations(&mut self) -> &mut ToolAnnotations {
        self.descriptor.annotations.get_or_insert_default()
    }
}

//! Tools that are made at run time.

mod handlers;

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use treenail_schema::ToolAnnotations;
use treenail_schema::internal::ValidationLimits;

use super::common::metadata;
use crate::attribute_value::IntoSchema;
use crate::policy::Policy;
use crate::scope::RequiredScopes;
use crate::stream::Fold;
use crate::task::TaskTool;

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
    /// Results are not validated against it; clients may do so.
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
    pub fn timeout(mut self, within: Duration) -> Self {
        self.policy.timeout = Some(within);
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

    /// Sets the method that combines the items of a [stream](Self::stream) to one result. Default: that of the item type, see
    /// [`ToolItem`](crate::stream::ToolItem).
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

    fn annotations(&mut self) -> &mut ToolAnnotations {
        self.descriptor.annotations.get_or_insert_default()
    }
}

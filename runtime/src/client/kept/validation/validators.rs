//! The schemas of the tools that have been called, compiled once each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde_json::Value;
use tokio::task::spawn_blocking;
use tokio::time::{Instant, timeout_at};
use treenail_schema::{CallToolResult, SchemaObject, Tool};

use crate::client::kept::list::Fetched;
use crate::client::kept::validation::compile::{CompiledSchema, check_value, is_simple};
use crate::client::{ClientError, ClientLimits};
use crate::deadline;
use crate::wire::quoted;

/// The compiled schemas, by the names of their tools.
#[derive(Debug, Default)]
pub(in crate::client::kept) struct Validators {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The list that the tools are of.
    list: Weak<Fetched<Tool>>,
    kept: HashMap<Box<str>, Kept>,
}

#[derive(Debug)]
struct Kept {
    tool: Arc<Tool>,
    schema: Arc<CompiledSchema>,
}

/// What the result of one call has to be.
#[derive(Debug)]
pub(in crate::client::kept) struct Expected {
    tool: Arc<Tool>,
    schema: Arc<CompiledSchema>,
}

impl Validators {
    /// What the result of a call has to be; nothing, if its tool is not listed or does not say.
    pub(in crate::client::kept) async fn expected(
        &self,
        list: &Arc<Fetched<Tool>>,
        name: &str,
        limits: &ClientLimits,
    ) -> Result<Option<Expected>, ClientError> {
        let Some(tool) = list.get(name) else {
            return Ok(None);
        };
        let Some(schema) = &tool.output_schema else {
            return Ok(None);
        };
        // Not in the condition, which would hold the lock to the end of what depends on it.
        let kept = self.state().find(list, tool);
        let schema = if let Some(schema) = kept {
            schema
        } else {
            // This is done once for each tool.
            let schema = Arc::new(Box::pin(compile(tool, schema, limits)).await?);
            self.state().keep(tool, &schema, limits);
            schema
        };
        let tool = Arc::clone(tool);
        Ok(Some(Expected { tool, schema }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn find(&mut self, list: &Arc<Fetched<Tool>>, tool: &Arc<Tool>) -> Option<Arc<CompiledSchema>> {
        if !std::ptr::eq(self.list.as_ptr(), Arc::as_ptr(list)) {
            // A list that was fetched anew has the same tools in it, most of the time.
            let is_listed = |kept: &Kept| {
                let tool = list.get(&kept.tool.name);
                tool.is_some_and(|tool| tool.output_schema == kept.tool.output_schema)
            };
            self.kept.retain(|_, kept| is_listed(kept));
            self.list = Arc::downgrade(list);
        }
        let kept = self.kept.get(&*tool.name)?;
        Some(Arc::clone(&kept.schema))
    }

    fn keep(&mut self, tool: &Arc<Tool>, schema: &Arc<CompiledSchema>, limits: &ClientLimits) {
        if limits.validation.compiled_schemas == 0 {
            return;
        }
        if self.kept.len() >= limits.validation.compiled_schemas {
            // Any one makes room: which will be wanted next is not known.
            let name = self.kept.keys().next().cloned();
            name.and_then(|name| self.kept.remove(&name));
        }
        let kept = Kept {
            tool: Arc::clone(tool),
            schema: Arc::clone(schema),
        };
        self.kept.insert(tool.name.as_str().into(), kept);
    }
}

/// Compiles a schema, in the time of a request, on another thread if that may take long.
async fn compile(
    tool: &Arc<Tool>,
    schema: &SchemaObject,
    limits: &ClientLimits,
) -> Result<CompiledSchema, ClientError> {
    let compiled = if is_simple(schema) {
        CompiledSchema::new(schema, limits)
    } else {
        let (tool, own) = (Arc::clone(tool), limits.clone());
        let deadline = deadline::after(limits.request_timeout);
        elsewhere(deadline, limits.request_timeout, move || {
            match &tool.output_schema {
                Some(schema) => CompiledSchema::new(schema, &own),
                None => Err("it is gone".to_owned()),
            }
        })
        .await?
    };
    compiled.map_err(|reason| {
        let tool = quoted(&tool.name);
        ClientError::protocol(format!(
            "tool {tool} was not called, because its output schema cannot be used: {reason}"
        ))
    })
}

/// Does work on a thread for blocking work, and waits for it until the deadline. Work that is too late is not waited for; it
/// ends by itself, since its steps are bounded.
async fn elsewhere<T: Send + 'static>(
    deadline: Instant,
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ClientError> {
    match timeout_at(deadline, spawn_blocking(work)).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) if error.is_panic() => Err(ClientError::protocol("the validator failed")),
        Ok(Err(_)) => Err(ClientError::closed("the runtime has stopped")),
        Err(_) => Err(ClientError::Timeout(limit)),
    }
}

/// The time of a request, which its validation has a part in.
#[derive(Clone, Copy, Debug)]
pub(in crate::client::kept) struct Clock {
    start: Instant,
    limit: Duration,
}

impl Clock {
    /// Starts with a request that may take so long.
    pub(in crate::client::kept) fn start(limit: Duration) -> Self {
        let start = Instant::now();
        Self { start, limit }
    }
}

impl Expected {
    /// Returns a result if it is what it has to be. One that reports a failure need not be anything.
    pub(in crate::client::kept) async fn check(
        self,
        result: CallToolResult,
        limits: &ClientLimits,
        clock: Clock,
    ) -> Result<CallToolResult, ClientError> {
        if result.is_error == Some(true) {
            return Ok(result);
        }
        let Some(content) = &result.structured_content else {
            return Err(self.wrong("it has no structured content"));
        };
        check_value(content, limits).map_err(|reason| self.wrong(&reason))?;
        let Some(cost) = self.schema.cheap(content, limits) else {
            // What is rare must not make every call large.
            return Box::pin(self.check_elsewhere(result, limits.clone(), clock)).await;
        };
        let checked = self.schema.validate(content, cost, limits);
        checked.map_err(|reason| self.wrong(&reason))?;
        Ok(result)
    }

    async fn check_elsewhere(
        self,
        result: CallToolResult,
        limits: ClientLimits,
        clock: Clock,
    ) -> Result<CallToolResult, ClientError> {
        let deadline = deadline::from(clock.start, clock.limit);
        let checked = elsewhere(deadline, clock.limit, move || {
            let content = result.structured_content.as_ref();
            let content = content.unwrap_or(&Value::Null);
            let cost = self.schema.cost(content, &limits);
            let checked = cost.and_then(|cost| self.schema.validate(content, cost, &limits));
            match checked {
                Ok(()) => Ok(result),
                Err(reason) => Err(self.wrong(&reason)),
            }
        });
        checked.await?
    }

    fn wrong(&self, reason: &str) -> ClientError {
        let tool = quoted(&self.tool.name);
        ClientError::protocol(format!(
            "the result of tool {tool} is not what its output schema says: {reason}"
        ))
    }
}

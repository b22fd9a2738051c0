//! Validation of the results of tools against the schemas of their server, with a cache of the compiled schemas.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;
use treenail_schema::{CallToolResult, SchemaObject, Tool};
use treenail_validation::{CompiledSchema, is_simple};

use crate::client::cache::list::Snapshot;
use crate::client::{ClientError, ClientLimits};
use crate::environment;
use crate::wire::quoted;

/// Compiled schemas, by the names of their tools.
#[derive(Debug, Default)]
pub(in crate::client::cache) struct ValidatorCache {
    state: Mutex<CacheState>,
}

#[derive(Debug, Default)]
struct CacheState {
    /// The snapshot that the cached tools were last compared with.
    snapshot: Weak<Snapshot<Tool>>,
    schemas: HashMap<Box<str>, CachedSchema>,
}

#[derive(Debug)]
struct CachedSchema {
    tool: Arc<Tool>,
    schema: Arc<CompiledSchema>,
}

/// Validator for the result of one call.
#[derive(Debug)]
pub(in crate::client) struct ExpectedOutput {
    tool: Arc<Tool>,
    schema: Arc<CompiledSchema>,
}

/// Check that a result has not passed, or that may take long.
#[derive(Debug)]
pub(in crate::client) struct Unchecked {
    expected: ExpectedOutput,
    /// The reason why the result does not match; `None` for a large result, which is checked on a blocking thread.
    mismatch: Option<String>,
}

/// A result that does not match the output schema of its tool.
#[derive(Debug)]
pub(in crate::client::cache) struct Mismatch {
    /// The tool as it was listed.
    pub(in crate::client::cache) tool: Arc<Tool>,
    pub(in crate::client::cache) result: CallToolResult,
    reason: String,
}

impl Mismatch {
    pub(in crate::client::cache) fn into_error(self) -> ClientError {
        let (tool, reason) = (quoted(&self.tool.name), self.reason);
        ClientError::protocol(format!(
            "the result of tool {tool} does not match its output schema: {reason}"
        ))
    }
}

impl ValidatorCache {
    /// Returns the validator for the result of a call; `None` if its tool is not listed or has no output schema.
    pub(in crate::client::cache) async fn expected_output(
        &self,
        list: &Arc<Snapshot<Tool>>,
        name: &str,
        limits: &ClientLimits,
    ) -> Result<Option<ExpectedOutput>, ClientError> {
        let Some(tool) = list.get(name) else {
            return Ok(None);
        };
        let Some(schema) = &tool.output_schema else {
            return Ok(None);
        };
        // A condition would hold the lock during compilation.
        let cached = self.lock().find(list, tool);
        let schema = if let Some(schema) = cached {
            schema
        } else {
            // Boxed, because this happens once for each tool.
            let schema = Arc::new(Box::pin(compile(tool, schema, limits)).await?);
            self.lock().insert(list, tool, &schema, limits);
            schema
        };
        let tool = Arc::clone(tool);
        Ok(Some(ExpectedOutput { tool, schema }))
    }

    fn lock(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl CacheState {
    fn find(
        &mut self,
        list: &Arc<Snapshot<Tool>>,
        tool: &Arc<Tool>,
    ) -> Option<Arc<CompiledSchema>> {
        if !self.is_current(list) {
            // Most tools are unchanged in a new snapshot of the list.
            let is_listed = |cached: &CachedSchema| {
                let tool = list.get(&cached.tool.name);
                tool.is_some_and(|tool| tool.output_schema == cached.tool.output_schema)
            };
            self.schemas.retain(|_, cached| is_listed(cached));
            self.snapshot = Arc::downgrade(list);
        }
        let cached = self.schemas.get(&*tool.name)?;
        Some(Arc::clone(&cached.schema))
    }

    /// Caches the schema of a tool in `list`, unless another snapshot has replaced it during the compilation.
    fn insert(
        &mut self,
        list: &Arc<Snapshot<Tool>>,
        tool: &Arc<Tool>,
        schema: &Arc<CompiledSchema>,
        limits: &ClientLimits,
    ) {
        if limits.validation.compiled_schemas == 0 || !self.is_current(list) {
            return;
        }
        if self.schemas.len() >= limits.validation.compiled_schemas {
            // Evicts an arbitrary schema: the next use of each is unknown.
            let name = self.schemas.keys().next().cloned();
            name.and_then(|name| self.schemas.remove(&name));
        }
        let cached = CachedSchema {
            tool: Arc::clone(tool),
            schema: Arc::clone(schema),
        };
        self.schemas.insert(tool.name.as_str().into(), cached);
    }

    /// Returns true if the cached tools were last compared with `list`.
    fn is_current(&self, list: &Arc<Snapshot<Tool>>) -> bool {
        std::ptr::eq(self.snapshot.as_ptr(), Arc::as_ptr(list))
    }
}

/// Compiles a schema within the timeout of a request, on a blocking thread if it may take long.
async fn compile(
    tool: &Arc<Tool>,
    schema: &SchemaObject,
    limits: &ClientLimits,
) -> Result<CompiledSchema, ClientError> {
    let compiled = if is_simple(schema) {
        CompiledSchema::new(schema, &limits.validation)
    } else {
        let (tool, validation) = (Arc::clone(tool), limits.validation.clone());
        run_blocking(limits.request_timeout, move || match &tool.output_schema {
            Some(schema) => CompiledSchema::new(schema, &validation),
            None => Err("it does not exist".to_owned()),
        })
        .await?
    };
    compiled.map_err(|reason| {
        ClientError::protocol(format!("its output schema cannot be used: {reason}"))
    })
}

/// Runs work on a blocking thread and waits for it for at most `limit`. Late work is abandoned; it ends by itself,
/// because its steps are bounded.
async fn run_blocking<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ClientError> {
    match timeout(limit, environment::spawn_blocking(work)).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) if error.is_panic() => Err(ClientError::protocol("the validator failed")),
        Ok(Err(_)) => Err(ClientError::closed("the async runtime has shut down")),
        Err(_) => Err(ClientError::Timeout(limit)),
    }
}

impl ExpectedOutput {
    /// Checks a small result. A result that reports a failure always passes.
    pub(in crate::client) fn check(self, result: &CallToolResult) -> Result<(), Unchecked> {
        if result.is_error == Some(true) {
            return Ok(());
        }
        let mismatch = match &result.structured_content {
            None => Some("it has no structured content".to_owned()),
            Some(content) => match self.check_small(content) {
                Ok(true) => return Ok(()),
                Ok(false) => None,
                Err(reason) => Some(reason),
            },
        };
        Err(Unchecked {
            expected: self,
            mismatch,
        })
    }

    /// Returns false for a value that may take long.
    fn check_small(&self, content: &Value) -> Result<bool, String> {
        self.schema.check_value(content)?;
        let Some(cost) = self.schema.inline_cost(content) else {
            return Ok(false);
        };
        self.schema.validate(content, cost).map(|()| true)
    }

    fn check_large(self, result: CallToolResult) -> Result<CallToolResult, Box<Mismatch>> {
        let content = result.structured_content.as_ref();
        let content = content.unwrap_or(&Value::Null);
        let cost = self.schema.cost(content);
        match cost.and_then(|cost| self.schema.validate(content, cost)) {
            Ok(()) => Ok(result),
            Err(reason) => Err(self.mismatch(result, reason)),
        }
    }

    fn mismatch(self, result: CallToolResult, reason: String) -> Box<Mismatch> {
        Box::new(Mismatch {
            tool: self.tool,
            result,
            reason,
        })
    }
}

impl Unchecked {
    /// Ends the check, within `limit`.
    pub(in crate::client::cache) async fn check(
        self,
        result: CallToolResult,
        limit: Duration,
    ) -> Result<Result<CallToolResult, Box<Mismatch>>, ClientError> {
        let expected = self.expected;
        match self.mismatch {
            Some(reason) => Ok(Err(expected.mismatch(result, reason))),
            None => run_blocking(limit, move || expected.check_large(result)).await,
        }
    }
}

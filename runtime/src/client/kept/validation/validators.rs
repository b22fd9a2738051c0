//! The schemas of the tools that have been called, compiled once each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use treenail_schema::{CallToolResult, SchemaObject, Tool};

use crate::client::kept::list::Fetched;
use crate::client::kept::validation::compile::CompiledSchema;
use crate::client::{ClientError, ClientLimits};
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
    pub(in crate::client::kept) fn expected(
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
            let schema = Arc::new(compile(tool, schema, limits)?);
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
        if limits.compiled_schemas == 0 {
            return;
        }
        if self.kept.len() >= limits.compiled_schemas {
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

fn compile(
    tool: &Tool,
    schema: &SchemaObject,
    limits: &ClientLimits,
) -> Result<CompiledSchema, ClientError> {
    CompiledSchema::new(schema, limits).map_err(|reason| {
        let tool = quoted(&tool.name);
        ClientError::protocol(format!(
            "tool {tool} was not called, because its output schema cannot be used: {reason}"
        ))
    })
}

impl Expected {
    /// Whether a result is what it has to be. One that tells of a failure need not be anything.
    pub(in crate::client::kept) fn check(
        &self,
        result: &CallToolResult,
        limits: &ClientLimits,
    ) -> Result<(), ClientError> {
        if result.is_error == Some(true) {
            return Ok(());
        }
        let checked = match &result.structured_content {
            Some(content) => self.schema.validate(content, limits),
            None => Err("it has no structured content".to_owned()),
        };
        checked.map_err(|reason| {
            let tool = quoted(&self.tool.name);
            ClientError::protocol(format!(
                "the result of tool {tool} is not what its output schema says: {reason}"
            ))
        })
    }
}

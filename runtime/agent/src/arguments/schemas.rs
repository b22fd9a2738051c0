//! Cache of the compiled input schemas of called tools.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use treenail_schema::{SchemaObject, Tool};
use treenail_validation::{CompiledSchema, ValidationLimits};

/// Compiled schemas by tool name.
#[derive(Debug, Default)]
pub(super) struct SchemaCache(Mutex<HashMap<Box<str>, CachedSchema>>);

/// Compiled schema, or the reason why it is unusable.
type Compiled = Result<Arc<CompiledSchema>, Arc<str>>;

#[derive(Debug)]
struct CachedSchema {
    schema: SchemaObject,
    compiled: Compiled,
}

impl SchemaCache {
    pub(super) fn compiled(&self, tool: &Tool, limits: &ValidationLimits) -> Compiled {
        let schema = &tool.input_schema;
        if let Some(cached) = self.entries().get(&*tool.name) {
            // A refreshed list usually contains the same tools.
            if *schema == cached.schema {
                return cached.compiled.clone();
            }
        }
        let compiled = CompiledSchema::new(schema, limits)
            .map(Arc::new)
            .map_err(Arc::from);
        self.insert(tool, &compiled, limits);
        compiled
    }

    /// Returns true if the schema of a tool is compiled already.
    pub(super) fn contains(&self, tool: &Tool) -> bool {
        let entries = self.entries();
        let cached = entries.get(&*tool.name);
        cached.is_some_and(|cached| cached.schema == tool.input_schema)
    }

    fn insert(&self, tool: &Tool, compiled: &Compiled, limits: &ValidationLimits) {
        if limits.compiled_schemas == 0 {
            return;
        }
        let mut entries = self.entries();
        if entries.len() >= limits.compiled_schemas {
            // Evicts an arbitrary entry: nothing is known about future calls.
            let name = entries.keys().next().cloned();
            name.and_then(|name| entries.remove(&name));
        }
        let entry = CachedSchema {
            schema: tool.input_schema.clone(),
            compiled: compiled.clone(),
        };
        entries.insert(tool.name.as_str().into(), entry);
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<Box<str>, CachedSchema>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl SchemaCache {
    pub(super) fn len(&self) -> usize {
        self.entries().len()
    }
}

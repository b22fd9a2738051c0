//! The schemas of the tools that have been called, compiled once each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use treenail_schema::{SchemaObject, Tool};

use crate::client::ClientLimits;
use crate::client::validation::CompiledSchema;

/// The compiled schemas, by the names of their tools.
#[derive(Debug, Default)]
pub(super) struct SchemaCache(Mutex<HashMap<Box<str>, CachedSchema>>);

/// A schema, or why it cannot be used.
type Compiled = Result<Arc<CompiledSchema>, Arc<str>>;

#[derive(Debug)]
struct CachedSchema {
    schema: SchemaObject,
    compiled: Compiled,
}

impl SchemaCache {
    pub(super) fn compiled(&self, tool: &Tool, limits: &ClientLimits) -> Compiled {
        let schema = &tool.input_schema;
        if let Some(entries) = self.entries().get(&*tool.name) {
            // A list that was fetched anew has the same tools in it, most of the time.
            if *schema == entries.schema {
                return entries.compiled.clone();
            }
        }
        let compiled = CompiledSchema::new(schema, limits)
            .map(Arc::new)
            .map_err(Arc::from);
        self.insert(tool, &compiled, limits);
        compiled
    }

    fn insert(&self, tool: &Tool, compiled: &Compiled, limits: &ClientLimits) {
        if limits.compiled_schemas == 0 {
            return;
        }
        let mut entries = self.entries();
        if entries.len() >= limits.compiled_schemas {
            // Any one makes room: which will be wanted next is not known.
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

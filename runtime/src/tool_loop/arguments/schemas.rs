//! The schemas of the tools that have been called, compiled once each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use treenail_schema::{SchemaObject, Tool};

use crate::client::ClientLimits;
use crate::client::validation::CompiledSchema;

/// The compiled schemas, by the names of their tools.
#[derive(Debug, Default)]
pub(super) struct Schemas(Mutex<HashMap<Box<str>, Kept>>);

/// A schema, or why it cannot be used.
type Compiled = Result<Arc<CompiledSchema>, Arc<str>>;

#[derive(Debug)]
struct Kept {
    schema: SchemaObject,
    compiled: Compiled,
}

impl Schemas {
    pub(super) fn compiled(&self, tool: &Tool, limits: &ClientLimits) -> Compiled {
        let schema = &tool.input_schema;
        if let Some(kept) = self.kept().get(&*tool.name) {
            // A list that was fetched anew has the same tools in it, most of the time.
            if *schema == kept.schema {
                return kept.compiled.clone();
            }
        }
        let compiled = CompiledSchema::new(schema, limits)
            .map(Arc::new)
            .map_err(Arc::from);
        self.keep(tool, &compiled, limits);
        compiled
    }

    /// Whether the schema of a tool has been compiled already.
    pub(super) fn is_known(&self, tool: &Tool) -> bool {
        let kept = self.kept();
        let kept = kept.get(&*tool.name);
        kept.is_some_and(|kept| kept.schema == tool.input_schema)
    }

    fn keep(&self, tool: &Tool, compiled: &Compiled, limits: &ClientLimits) {
        if limits.compiled_schemas == 0 {
            return;
        }
        let mut kept = self.kept();
        if kept.len() >= limits.compiled_schemas {
            // Any one makes room: which will be wanted next is not known.
            let name = kept.keys().next().cloned();
            name.and_then(|name| kept.remove(&name));
        }
        let entry = Kept {
            schema: tool.input_schema.clone(),
            compiled: compiled.clone(),
        };
        kept.insert(tool.name.as_str().into(), entry);
    }

    fn kept(&self) -> MutexGuard<'_, HashMap<Box<str>, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
impl Schemas {
    pub(super) fn len(&self) -> usize {
        self.kept().len()
    }
}

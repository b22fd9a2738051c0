//! The tools that a model has been told of, as far as its text is read by them.

use std::collections::HashMap;

use serde_json::Value;
use treenail_schema::Tool;

use crate::name::nearest;

/// The tools that a model has been told of: their names, and whether they need arguments.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<Box<str>, bool>);

impl Known {
    pub(super) fn new(tools: &[Tool]) -> Self {
        let known = tools.iter().map(|tool| {
            let required = tool.input_schema.get("required").and_then(Value::as_array);
            let needs = required.is_some_and(|names| !names.is_empty());
            (tool.name.as_str().into(), needs)
        });
        Self(known.collect())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Whether it is the name of a tool, or one that was mistaken for it.
    pub(super) fn has_nearly(&self, name: &str) -> bool {
        self.has(name) || nearest(name, self.0.keys().map(|known| &**known)).is_some()
    }

    /// Whether there is such a tool, and it can be called without arguments.
    pub(super) fn goes_without(&self, name: &str) -> bool {
        self.0.get(name) == Some(&false)
    }
}

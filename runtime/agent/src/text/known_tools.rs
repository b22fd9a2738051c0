//! Known tools, as far as parsing depends on them.

use std::collections::HashMap;

use serde_json::Value;
use treenail_schema::Tool;
use treenail_schema::internal::nearest;

/// Tools listed in the prompt, by name.
#[derive(Debug, Default)]
pub(super) struct KnownTools(HashMap<Box<str>, ArgumentNeed>);

/// Arguments that a tool accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArgumentNeed {
    None,
    /// Only optional ones.
    Optional,
    Required,
}

impl KnownTools {
    pub(super) fn new(tools: &[Tool]) -> Self {
        let known = tools
            .iter()
            .map(|tool| (tool.name.as_str().into(), argument_need(tool)));
        Self(known.collect())
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Returns true if a tool has this name or a similar one.
    pub(super) fn has_similar(&self, name: &str) -> bool {
        self.has(name) || nearest(name, self.0.keys().map(|known| &**known)).is_some()
    }

    /// Returns true if the tool exists and can be called without arguments.
    pub(super) fn callable_without_arguments(&self, name: &str) -> bool {
        matches!(
            self.0.get(name),
            Some(ArgumentNeed::None | ArgumentNeed::Optional)
        )
    }

    /// Returns true if the tool exists and can be called both with and without arguments.
    pub(super) fn has_only_optional_arguments(&self, name: &str) -> bool {
        self.0.get(name) == Some(&ArgumentNeed::Optional)
    }
}

fn argument_need(tool: &Tool) -> ArgumentNeed {
    let schema = &*tool.input_schema;
    let required = schema.get("required").and_then(Value::as_array);
    if required.is_some_and(|names| !names.is_empty()) {
        return ArgumentNeed::Required;
    }
    let properties = schema.get("properties").and_then(Value::as_object);
    // Other keywords are left to the validation of arguments.
    let is_simple = schema.keys().all(|name| {
        matches!(
            &**name,
            "type"
                | "properties"
                | "required"
                | "additionalProperties"
                | "$schema"
                | "title"
                | "description"
        )
    });
    match properties {
        Some(properties) if !properties.is_empty() => ArgumentNeed::Optional,
        _ if is_simple => ArgumentNeed::None,
        _ => ArgumentNeed::Optional,
    }
}

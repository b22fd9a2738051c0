//! Known tools, as far as parsing depends on them.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::Value;
use treenail_schema::Tool;
use treenail_schema::internal::nearest;

/// Maximum number of unknown names in a message that are compared with all tools, which takes long.
const MAX_COMPARED: usize = 64;

/// Tools listed in the prompt, by name.
#[derive(Debug, Default)]
pub(super) struct KnownTools {
    tools: HashMap<Box<str>, ArgumentNeed>,
    /// Unknown names of this message, and whether a tool has a similar one.
    compared: RefCell<HashMap<Box<str>, bool>>,
}

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
        Self {
            tools: known.collect(),
            compared: RefCell::default(),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Returns true if a tool has this name or a similar one. After many unknown names, no further one is similar.
    pub(super) fn has_similar(&self, name: &str) -> bool {
        if self.has(name) {
            return true;
        }
        let mut compared = self.compared.borrow_mut();
        if let Some(is_similar) = compared.get(name) {
            return *is_similar;
        }
        if compared.len() >= MAX_COMPARED {
            return false;
        }
        let is_similar = nearest(name, self.tools.keys().map(|known| &**known)).is_some();
        compared.insert(name.into(), is_similar);
        is_similar
    }

    /// Returns true if the tool exists and can be called without arguments.
    pub(super) fn callable_without_arguments(&self, name: &str) -> bool {
        matches!(
            self.tools.get(name),
            Some(ArgumentNeed::None | ArgumentNeed::Optional)
        )
    }

    /// Returns true if the tool exists and can be called both with and without arguments.
    pub(super) fn has_only_optional_arguments(&self, name: &str) -> bool {
        self.tools.get(name) == Some(&ArgumentNeed::Optional)
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

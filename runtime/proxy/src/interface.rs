//! URIs of the user interfaces that tools refer to (MCP Apps).

use serde_json::Value;
use treenail_schema::{MetaObject, Tool};

/// Returns the URIs of the user interface of a tool: the one of its extension, and the older one.
pub(crate) fn interface_uris(tool: &Tool) -> impl Iterator<Item = &str> {
    let meta = tool.meta.as_ref();
    let nested = meta.and_then(|meta| meta.get("ui")?.get("resourceUri"));
    let flat = meta.and_then(|meta| meta.get("ui/resourceUri"));
    nested.into_iter().chain(flat).filter_map(Value::as_str)
}

/// Replaces the URIs of a user interface for which `replace` returns another one.
pub(crate) fn map_interface(meta: &mut MetaObject, replace: impl Fn(&str) -> Option<String>) {
    let map = |value: &mut Value| {
        if let Some(other) = value.as_str().and_then(&replace) {
            *value = other.into();
        }
    };
    if let Some(value) = meta.get_mut("ui/resourceUri") {
        map(value);
    }
    if let Some(Value::Object(ui)) = meta.get_mut("ui") {
        if let Some(value) = ui.get_mut("resourceUri") {
            map(value);
        }
    }
}

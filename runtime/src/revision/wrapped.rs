//! Wrapping of results that are not objects, as `{"result": …}`, for peers that accept objects only.
//!
//! The format and the marks are those of Python's `FastMCP`, so that clients that support them unwrap the value.

use serde_json::{Map, Value, json};
use treenail_schema::ResultMetaObject;

/// Policy for wrapping results that are not JSON objects as `{"result": …}`, so that they can be structured content.
///
/// It applies to structured outputs such as numbers, lists and `Option`s. A tool that returns plain text has no structured
/// content, and an output that is always an object is sent unchanged. For a type that can hold any JSON, such as
/// `serde_json::Value`, objects are sent unchanged and other values as text. The text copy contains the bare value.
///
/// The output schema in the list of tools is wrapped in the same way, and has the mark `x-fastmcp-wrap-result` of `FastMCP`.
/// The `_meta` of a wrapped result contains `{"fastmcp": {"wrap_result": true}}`, also as in `FastMCP`. Clients made with
/// Treenail or `FastMCP` unwrap the value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrapResults {
    /// Never wraps. Peers of revisions before 2026-07-28 receive such results as text, without an output schema.
    Never,
    /// Wraps for peers of 2025-06-18 and 2025-11-25, where structured content must be an object. Peers of 2026-07-28 receive
    /// the bare values.
    #[default]
    Legacy,
    /// Wraps for those peers and for peers of 2026-07-28. Meant for hosts and proxies that still expect an object there.
    Always,
}

/// Member that holds the wrapped value.
pub(crate) const MEMBER: &str = "result";

/// Mark of a wrapped schema.
const SCHEMA_MARK: &str = "x-fastmcp-wrap-result";

/// Mark of a wrapped result: a member of its `_meta`, and the flag in that member.
const RESULT_MARK: (&str, &str) = ("fastmcp", "wrap_result");

/// Keywords that hold definitions. They stay at the root, to which references point.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// Prefix of references into the wrapped schema.
const WRAPPED_PREFIX: &str = "#/properties/result";

/// Returns the schema of an object that wraps a value of `schema`.
pub(crate) fn wrap_schema(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut inner = schema.clone();
    let mut outer = Map::new();
    let definitions = take_definitions(&mut inner);
    let mut inner = Value::Object(inner);
    rewrite_references(&mut inner, &into_wrapped);
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({ MEMBER: inner }));
    outer.insert("required".to_owned(), json!([MEMBER]));
    outer.insert(SCHEMA_MARK.to_owned(), true.into());
    for (keyword, mut definitions) in definitions {
        rewrite_references(&mut definitions, &into_wrapped);
        outer.insert(keyword, definitions);
    }
    outer
}

fn take_definitions(schema: &mut Map<String, Value>) -> Vec<(String, Value)> {
    let taken = DEFINITIONS.into_iter();
    taken
        .filter_map(|keyword| schema.shift_remove_entry(keyword))
        .collect()
}

/// Replaces each reference in a schema for which `rewrite` returns a new target.
fn rewrite_references(schema: &mut Value, rewrite: &impl Fn(&str) -> Option<String>) {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members {
                match value {
                    Value::String(target) if keyword == "$ref" => {
                        if let Some(changed) = rewrite(target) {
                            *target = changed;
                        }
                    }
                    // These keywords hold values, not schemas.
                    _ if matches!(&**keyword, "default" | "const" | "enum" | "examples") => {}
                    _ => rewrite_references(value, rewrite),
                }
            }
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| rewrite_references(item, rewrite)),
        _ => {}
    }
}

/// Returns true if a JSON pointer leads into the definitions at the root of a schema.
fn is_definition(pointer: &str) -> bool {
    let first = pointer.strip_prefix('/').unwrap_or_default();
    let first = first.split_once('/').map_or(first, |(first, _)| first);
    DEFINITIONS.contains(&first)
}

/// Returns the new target of a reference within a schema that is being wrapped, unless it keeps its target.
fn into_wrapped(target: &str) -> Option<String> {
    let pointer = target.strip_prefix('#')?;
    let is_moved = pointer.is_empty() || (pointer.starts_with('/') && !is_definition(pointer));
    is_moved.then(|| format!("{WRAPPED_PREFIX}{pointer}"))
}

/// Marks a result as wrapped in its `_meta`.
pub(crate) fn mark_wrapped(meta: &mut ResultMetaObject) {
    let (member, flag) = RESULT_MARK;
    let marks = meta.extra.entry(member).or_insert_with(|| json!({}));
    if let Some(marks) = marks.as_object_mut() {
        marks.insert(flag.to_owned(), true.into());
    }
}

/// Returns the member of `_meta` that marks a result as wrapped.
pub(super) fn wrapped_mark() -> (&'static str, Value) {
    let (member, flag) = RESULT_MARK;
    (member, json!({ flag: true }))
}

/// Returns true if the `_meta` of a result marks it as wrapped.
pub(crate) fn is_marked(meta: Option<&ResultMetaObject>) -> bool {
    let (member, flag) = RESULT_MARK;
    let marks = meta.and_then(|meta| meta.extra.get(member));
    marks.and_then(|marks| marks.get(flag)) == Some(&Value::Bool(true))
}

/// Returns the inner value if structured content has the form of a wrapped value, with or without the mark.
pub(crate) fn wrapped_value(content: &Value) -> Option<&Value> {
    let members = content.as_object().filter(|members| members.len() == 1)?;
    members.get(MEMBER)
}

/// Returns true if an output schema is marked as wrapped.
#[cfg(feature = "client")]
pub(crate) fn is_wrapped_schema(schema: &Map<String, Value>) -> bool {
    schema.get(SCHEMA_MARK) == Some(&Value::Bool(true))
}

/// Returns the schema of the bare value if an output schema is marked as wrapped.
#[cfg(feature = "client")]
pub(crate) fn unwrap_schema(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let properties = schema
        .get("properties")
        .filter(|_| is_wrapped_schema(schema))?;
    let mut inner = properties.get(MEMBER)?.as_object()?.clone();
    for keyword in DEFINITIONS {
        let Some(definitions) = schema.get(keyword) else {
            continue;
        };
        if inner.contains_key(keyword) {
            return None;
        }
        inner.insert(keyword.to_owned(), definitions.clone());
    }
    let mut inner = Value::Object(inner);
    rewrite_references(&mut inner, &|target| {
        let pointer = target.strip_prefix(WRAPPED_PREFIX)?;
        let within = pointer.is_empty() || pointer.starts_with('/');
        within.then(|| format!("#{pointer}"))
    });
    match inner {
        Value::Object(inner) => Some(inner),
        _ => None,
    }
}

#[cfg(all(test, feature = "client"))]
mod tests {
    use super::*;

    #[test]
    fn unwrapping_a_wrapped_schema_restores_it() {
        for schema in [
            json!({"type": "integer", "description": "d"}),
            json!({}),
            json!({"type": "array", "items": {"$ref": "#/$defs/T"}, "$defs": {"T": {"properties": {"t": {"$ref": "#/$defs/T"}}}}}),
            json!({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]}),
            json!({"prefixItems": [{"type": "string"}, {"$ref": "#/prefixItems/0"}], "const": [{"$ref": "#"}]}),
            json!({"$ref": "https://example.com/other"}),
        ] {
            let Value::Object(schema) = schema else {
                panic!("not an object");
            };
            let wrapped = wrap_schema(&schema);
            assert_eq!(wrapped["type"], "object");
            assert!(references_resolve(&wrapped));
            assert_eq!(
                unwrap_schema(&wrapped).as_ref(),
                Some(&schema),
                "{wrapped:?}"
            );
            assert_eq!(unwrap_schema(&schema), None);
        }
    }

    /// Returns true if each reference within the schema resolves.
    fn references_resolve(schema: &Map<String, Value>) -> bool {
        let root = Value::Object(schema.clone());
        let unresolved = std::cell::Cell::new(false);
        rewrite_references(&mut root.clone(), &|target| {
            let pointer = target.strip_prefix('#')?;
            unresolved.set(unresolved.get() || root.pointer(pointer).is_none());
            None
        });
        !unresolved.get()
    }

    #[test]
    fn marking_a_result_preserves_other_meta() {
        let mut meta = ResultMetaObject::new();
        assert!(!is_marked(None) && !is_marked(Some(&meta)));
        meta.extra
            .insert("fastmcp".to_owned(), json!({"tags": ["a"]}));
        mark_wrapped(&mut meta);
        assert!(is_marked(Some(&meta)));
        assert_eq!(
            meta.extra["fastmcp"],
            json!({"tags": ["a"], "wrap_result": true})
        );
    }
}

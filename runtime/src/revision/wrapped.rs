//! Structured content that is no object, for peers that take objects only: `{"result": …}`, the form that servers in Python
//! give it. The marks are those of `FastMCP`, so that clients which know them take the value out again.

use serde_json::{Map, Value, json};
use treenail_schema::ResultMetaObject;

/// When results that are no JSON objects are wrapped in one, as `{"result": …}`, so that they can be structured content.
///
/// It is about outputs that are structured: numbers, lists, `Option`s and the like. A tool that returns a plain text has no
/// structured content, and an output that always is an object goes as it is. Of a type that can be anything, such as
/// `serde_json::Value`, objects go as they are and other values as text. The text copy is that of the value alone.
///
/// The output schema in the list of tools is wrapped likewise, and carries the mark `x-fastmcp-wrap-result` that `FastMCP`
/// gives such schemas; the `_meta` of a result has `FastMCP`'s `{"fastmcp": {"wrap_result": true}}`. Clients made with Treenail
/// or `FastMCP` take the value out again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrapResults {
    /// Never. Peers of the revisions before 2026-07-28 get such results as text, without an output schema.
    Never,
    /// For peers of 2025-06-18 and 2025-11-25, where structured content has to be an object; those of 2026-07-28 get the
    /// values as they are.
    #[default]
    Legacy,
    /// For these, and for peers of 2026-07-28 as well: for hosts and proxies that still expect an object there.
    Always,
}

/// The member that holds the value.
pub(crate) const MEMBER: &str = "result";

/// The mark of a wrapped schema.
const SCHEMA_MARK: &str = "x-fastmcp-wrap-result";

/// The mark of a wrapped result: a member of its `_meta`, and the flag in there.
const RESULT_MARK: (&str, &str) = ("fastmcp", "wrap_result");

/// Keywords that hold definitions, which stay at the root: references lead there.
const DEFINITIONS: [&str; 2] = ["$defs", "definitions"];

/// What references to the wrapped schema begin with.
const PLACE: &str = "#/properties/result";

/// The schema of an object that holds a value of `schema`.
pub(crate) fn wrap_schema(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut inner = schema.clone();
    let mut outer = Map::new();
    let definitions = take_definitions(&mut inner);
    let mut inner = Value::Object(inner);
    refer(&mut inner, &into_wrapped);
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({ MEMBER: inner }));
    outer.insert("required".to_owned(), json!([MEMBER]));
    outer.insert(SCHEMA_MARK.to_owned(), true.into());
    for (keyword, mut definitions) in definitions {
        refer(&mut definitions, &into_wrapped);
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

/// Rewrites the references in a schema that lead to a place within it.
fn refer(schema: &mut Value, to: &impl Fn(&str) -> Option<String>) {
    match schema {
        Value::Object(members) => {
            for (keyword, value) in members {
                match value {
                    Value::String(target) if keyword == "$ref" => {
                        if let Some(changed) = to(target) {
                            *target = changed;
                        }
                    }
                    // These hold values, not schemas.
                    _ if matches!(&**keyword, "default" | "const" | "enum" | "examples") => {}
                    _ => refer(value, to),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, to)),
        _ => {}
    }
}

/// Whether the rest of a reference within a schema leads to the definitions at its root.
fn is_definition(pointer: &str) -> bool {
    let first = pointer.strip_prefix('/').unwrap_or_default();
    let first = first.split_once('/').map_or(first, |(first, _)| first);
    DEFINITIONS.contains(&first)
}

fn into_wrapped(target: &str) -> Option<String> {
    let pointer = target.strip_prefix('#')?;
    let moves = pointer.is_empty() || (pointer.starts_with('/') && !is_definition(pointer));
    moves.then(|| format!("{PLACE}{pointer}"))
}

/// Adds the mark of a wrapped result to its `_meta`.
pub(crate) fn mark(meta: &mut ResultMetaObject) {
    let (member, flag) = RESULT_MARK;
    let marks = meta.extra.entry(member).or_insert_with(|| json!({}));
    if let Some(marks) = marks.as_object_mut() {
        marks.insert(flag.to_owned(), true.into());
    }
}

/// The member of `_meta` that is the mark of a wrapped result.
pub(super) fn marks() -> (&'static str, Value) {
    let (member, flag) = RESULT_MARK;
    (member, json!({ flag: true }))
}

/// Whether the `_meta` of a result says that it is wrapped.
pub(crate) fn is_marked(meta: Option<&ResultMetaObject>) -> bool {
    let (member, flag) = RESULT_MARK;
    let marks = meta.and_then(|meta| meta.extra.get(member));
    marks.and_then(|marks| marks.get(flag)) == Some(&Value::Bool(true))
}

/// The value in structured content that may be wrapped, whoever has wrapped it.
pub(crate) fn wrapped_value(content: &Value) -> Option<&Value> {
    let members = content.as_object().filter(|members| members.len() == 1)?;
    members.get(MEMBER)
}

/// Whether an output schema says that results are wrapped.
#[cfg(feature = "client")]
pub(crate) fn is_wrapped_schema(schema: &Map<String, Value>) -> bool {
    schema.get(SCHEMA_MARK) == Some(&Value::Bool(true))
}

/// The schema of the value, of an output schema that says that results are wrapped.
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
    refer(&mut inner, &|target| {
        let pointer = target.strip_prefix(PLACE)?;
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
    fn a_schema_comes_out_as_it_went_in() {
        for schema in [
            json!({"type": "integer", "description": "d"}),
            json!({}),
            json!({"type": "array", "items": {"$ref": "#/$defs/T"}, "$defs": {"T": {"properties": {"t": {"$ref": "#/$defs/T"}}}}}),
            json!({"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#"}}]}),
            json!({"prefixItems": [{"type": "string"}, {"$ref": "#/prefixItems/0"}], "const": [{"$ref": "#"}]}),
            json!({"$ref": "https://example.com/other"}),
        ] {
            let Value::Object(schema) = schema else {
                panic!("it is an object");
            };
            let wrapped = wrap_schema(&schema);
            assert_eq!(wrapped["type"], "object");
            assert!(references_hold(&wrapped));
            assert_eq!(
                unwrap_schema(&wrapped).as_ref(),
                Some(&schema),
                "{wrapped:?}"
            );
            assert_eq!(unwrap_schema(&schema), None);
        }
    }

    /// Whether each reference within the schema leads to a place in it.
    fn references_hold(schema: &Map<String, Value>) -> bool {
        let root = Value::Object(schema.clone());
        let lost = std::cell::Cell::new(false);
        refer(&mut root.clone(), &|target| {
            let pointer = target.strip_prefix('#')?;
            lost.set(lost.get() || root.pointer(pointer).is_none());
            None
        });
        !lost.get()
    }

    #[test]
    fn a_mark_is_added_beside_others() {
        let mut meta = ResultMetaObject::new();
        assert!(!is_marked(None) && !is_marked(Some(&meta)));
        meta.extra
            .insert("fastmcp".to_owned(), json!({"tags": ["a"]}));
        mark(&mut meta);
        assert!(is_marked(Some(&meta)));
        assert_eq!(
            meta.extra["fastmcp"],
            json!({"tags": ["a"], "wrap_result": true})
        );
    }
}

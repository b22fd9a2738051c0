//! Output schemas of values that are wrapped in an object, `{"result": …}`, as servers in Python do.

use serde_json::{Map, Value, json};

use crate::json_schema::DEFINITIONS;

/// The member that holds the value.
pub const WRAPPED_VALUE: &str = "result";

/// The mark of a wrapped schema.
const SCHEMA_MARK: &str = "x-fastmcp-wrap-result";

/// Keywords that hold values, not schemas.
const VALUES: [&str; 4] = ["default", "const", "enum", "examples"];

/// Keywords that hold schemas by name.
const SCHEMAS: [&str; 6] = [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
];

/// What references to the wrapped schema begin with.
const PLACE: &str = "#/properties/result";

/// The schema of an object that holds a value of `schema`.
pub fn wrap_schema(schema: &Map<String, Value>) -> Map<String, Value> {
    let mut inner = schema.clone();
    let mut outer = Map::new();
    let definitions = take_definitions(&mut inner);
    let mut inner = Value::Object(inner);
    refer(&mut inner, &into_wrapped);
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({ WRAPPED_VALUE: inner }));
    outer.insert("required".to_owned(), json!([WRAPPED_VALUE]));
    outer.insert(SCHEMA_MARK.to_owned(), true.into());
    for (keyword, mut definitions) in definitions {
        refer_each(&mut definitions, &into_wrapped);
        outer.insert(keyword, definitions);
    }
    outer
}

/// Removes the definitions, which stay at the root: references lead there.
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
                    _ if VALUES.contains(&&**keyword) => {}
                    _ if SCHEMAS.contains(&&**keyword) => refer_each(value, to),
                    _ => refer(value, to),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| refer(item, to)),
        _ => {}
    }
}

/// Rewrites the references in the schemas of an object, whose keys are names and not keywords.
fn refer_each(schemas: &mut Value, to: &impl Fn(&str) -> Option<String>) {
    let schemas = schemas.as_object_mut().into_iter();
    schemas
        .flat_map(Map::values_mut)
        .for_each(|schema| refer(schema, to));
}

/// Returns whether the rest of a reference within a schema leads to the definitions at its root.
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

/// Returns whether an output schema declares that results are wrapped.
pub fn is_wrapped_schema(schema: &Map<String, Value>) -> bool {
    schema.get(SCHEMA_MARK) == Some(&Value::Bool(true))
}

/// The schema of the value, of an output schema that says that results are wrapped.
#[inline]
pub fn unwrap_schema(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let marked = Some(schema).filter(|it| is_wrapped_schema(it));
    marked.and_then(wrapped_value_schema)
}

/// The schema of the value, of an output schema that has it as a member, with or without the mark.
#[inline]
pub fn wrapped_value_schema(schema: &Map<String, Value>) -> Option<Map<String, Value>> {
    let properties = schema.get("properties")?;
    let mut inner = properties.get(WRAPPED_VALUE)?.as_object()?.clone();
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

#[cfg(test)]
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

    #[test]
    fn references_below_members_with_the_names_of_keywords_lead_to_their_place() {
        let tree = json!({"default": {"$ref": "#"}, "enum": {"$ref": "#/$defs/const"}});
        let schema = json!({
            "anyOf": [{"type": "integer"}, {"properties": tree}],
            "$defs": {"const": {"properties": tree}},
        });
        let Value::Object(schema) = schema else {
            panic!("it is an object");
        };
        let wrapped = wrap_schema(&schema);
        let inner = &wrapped["properties"]["result"]["anyOf"][1]["properties"];
        for tree in [inner, &wrapped["$defs"]["const"]["properties"]] {
            assert_eq!(tree["default"]["$ref"], "#/properties/result");
            assert_eq!(tree["enum"]["$ref"], "#/$defs/const");
        }
        assert_eq!(unwrap_schema(&wrapped), Some(schema));
    }

    /// Returns whether each reference within the schema leads to a place in it.
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
}

//! Loading of the distilled schema of one revision into a uniform form.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};

/// Definitions of one revision. References are `#/definitions/…`, and `allOf` is flattened.
#[derive(Debug)]
pub(crate) struct Revision {
    /// The revision's date, as in `2025-11-25`.
    pub name: String,
    pub definitions: BTreeMap<String, Value>,
}

impl Revision {
    /// Renames a definition and the references to it. Returns `false` if there is none of this name.
    pub(crate) fn rename(&mut self, from: &str, to: &str) -> bool {
        let Some(schema) = self.definitions.remove(from) else {
            return false;
        };
        self.definitions.insert(to.to_owned(), schema);
        for schema in self.definitions.values_mut() {
            rename_references(schema, from, to);
        }
        true
    }
}

/// Parses the text of one distilled schema.
pub(crate) fn revision(name: &str, text: &str) -> Result<Revision> {
    let mut schema: Value =
        serde_json::from_str(text).with_context(|| format!("the schema of {name} is not JSON"))?;
    let definitions = ["definitions", "$defs"]
        .iter()
        .find_map(|key| schema.get_mut(key).map(Value::take))
        .and_then(|definitions| definitions.as_object().cloned())
        .with_context(|| format!("the schema of {name} has no definitions"))?;
    let mut definitions: BTreeMap<String, Value> = definitions.into_iter().collect();
    definitions.values_mut().for_each(unify_references);
    let originals = definitions.clone();
    for (definition, schema) in &mut definitions {
        flatten_all_of(schema, &originals).with_context(|| format!("{definition} of {name}"))?;
    }
    Ok(Revision {
        name: name.to_owned(),
        definitions,
    })
}

/// Calls `visit` with every schema directly inside `schema`.
///
/// A property can be named `anyOf` or `items`, and a walk over plain JSON would mistake it for a
/// keyword. This function distinguishes maps of names from keywords.
pub(crate) fn visit_children(schema: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    let Some(schema) = schema.as_object_mut() else {
        return;
    };
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("properties" | "definitions" | "$defs", Value::Object(named)) => {
                named.values_mut().for_each(&mut *visit);
            }
            ("anyOf" | "allOf" | "oneOf", Value::Array(members)) => {
                members.iter_mut().for_each(&mut *visit);
            }
            ("items" | "additionalProperties", value @ Value::Object(_)) => visit(value),
            _ => {}
        }
    }
}

/// The name that a `$ref` refers to.
pub(crate) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// A schema that refers to the definition `name`.
pub(crate) fn refer_to(name: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{name}") })
}

/// The strings listed under a keyword, as in `required` and `enum`.
pub(crate) fn strings(schema: &Value, keyword: &str) -> Option<BTreeSet<String>> {
    let values = schema.get(keyword)?.as_array()?.iter();
    Some(
        values
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
    )
}

/// Returns `true` if an object allows properties besides the listed ones.
pub(crate) fn is_open(schema: &Value) -> bool {
    schema
        .get("additionalProperties")
        .is_some_and(|values| *values != json!(false))
}

/// Returns `true` if `additionalProperties` is a schema of the values.
pub(crate) fn is_schema(values: &Value) -> bool {
    values.as_object().is_some_and(|values| !values.is_empty())
}

fn unify_references(schema: &mut Value) {
    if let Some(name) = reference(schema) {
        *schema = refer_to(name);
    }
    visit_children(schema, &mut unify_references);
}

fn rename_references(schema: &mut Value, from: &str, to: &str) {
    if reference(schema) == Some(from) {
        *schema = refer_to(to);
    }
    visit_children(schema, &mut |child| rename_references(child, from, to));
}

/// Merges the members of each `allOf` into one object; typify panics on some of them.
fn flatten_all_of(schema: &mut Value, definitions: &BTreeMap<String, Value>) -> Result<()> {
    let mut result = Ok(());
    visit_children(schema, &mut |child| {
        if let Err(error) = flatten_all_of(child, definitions) {
            result = Err(error);
        }
    });
    result?;
    let Some(members) = schema.get("allOf").and_then(Value::as_array).cloned() else {
        return Ok(());
    };
    let mut merged = Map::new();
    for mut member in members {
        if let Some(name) = reference(&member) {
            member = definitions
                .get(name)
                .with_context(|| format!("`allOf` names the unknown `{name}`"))?
                .clone();
            flatten_all_of(&mut member, definitions)?;
        }
        merge_object(&mut merged, member)?;
    }
    *schema = Value::Object(merged);
    Ok(())
}

fn merge_object(into: &mut Map<String, Value>, from: Value) -> Result<()> {
    let Value::Object(from) = from else {
        bail!("a member of `allOf` is not an object")
    };
    for (keyword, value) in from {
        match (into.get_mut(&keyword), value) {
            (None, value) => {
                into.insert(keyword, value);
            }
            (Some(Value::Object(known)), Value::Object(new)) if keyword == "properties" => {
                known.extend(new);
            }
            (Some(Value::Array(known)), Value::Array(new)) if keyword == "required" => {
                let names: BTreeSet<String> = known
                    .iter()
                    .chain(&new)
                    .filter_map(|name| name.as_str().map(str::to_owned))
                    .collect();
                *known = names.into_iter().map(Value::String).collect();
            }
            (Some(known), new) if *known == new => {}
            (Some(_), _) => bail!("members of `allOf` disagree on `{keyword}`"),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_becomes_one_object_with_both_requirements() {
        let text = r##"{"$defs": {
            "A": {"type": "object", "properties": {"a": {}}, "required": ["a"]},
            "B": {"allOf": [
                {"$ref": "#/$defs/A"},
                {"type": "object", "properties": {"b": {}}, "required": ["b"]}
            ]}
        }}"##;
        let loaded = revision("test", text).unwrap();
        assert_eq!(
            loaded.definitions["B"],
            json!({"type": "object", "properties": {"a": {}, "b": {}}, "required": ["a", "b"]})
        );
    }

    #[test]
    fn a_property_called_any_of_is_not_taken_for_the_keyword() {
        let text = r##"{"definitions": {"A": {"type": "object", "properties": {
            "anyOf": {"type": "array", "items": {"$ref": "#/$defs/A"}}
        }}}}"##;
        let loaded = revision("test", text).unwrap();
        let items = &loaded.definitions["A"]["properties"]["anyOf"]["items"];
        assert_eq!(*items, refer_to("A"));
    }
}

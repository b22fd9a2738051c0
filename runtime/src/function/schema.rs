//! JSON schemas as hosts of language models accept them.
//!
//! What comes from schemars is correct JSON Schema 2020-12, but many hosts refuse parts of it. So subschemas stand
//! inline, a property that may be left out is not also `null`, other nulls are an `anyOf` and not a list of types,
//! formats are those that the standard defines, and a schema that allows everything is `{}` and not `true`.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// The formats that JSON Schema 2020-12 defines; others are Rust's own, such as `uint8`.
const FORMATS: [&str; 19] = [
    "date-time",
    "date",
    "time",
    "duration",
    "email",
    "idn-email",
    "hostname",
    "idn-hostname",
    "ipv4",
    "ipv6",
    "uri",
    "uri-reference",
    "iri",
    "iri-reference",
    "uuid",
    "uri-template",
    "json-pointer",
    "relative-json-pointer",
    "regex",
];

/// The keywords whose value maps names to schemas.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// The keywords whose value is a list of schemas.
const LISTED: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// The keywords whose value is a schema.
const SINGLE: [&str; 8] = [
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
];

/// Whom a schema is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// What the model writes: a property that may be left out need not be `null` as well.
    Input,
    /// What the tool writes: every value that can occur must be allowed.
    Output,
}

impl Direction {
    /// A generator for types in this direction.
    pub(crate) fn generator(self) -> SchemaGenerator {
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        });
        match self {
            Self::Input => settings.for_deserialize().into_generator(),
            Self::Output => settings.for_serialize().into_generator(),
        }
    }

    /// Rewrites a schema in place so that hosts accept it.
    pub(crate) fn tidy(self, schema: &mut Value) {
        if let Value::Bool(true) = schema {
            *schema = json!({});
        }
        let Value::Object(schema) = schema else {
            return;
        };
        if schema
            .get("format")
            .and_then(Value::as_str)
            .is_some_and(|format| !FORMATS.contains(&format))
        {
            schema.remove("format");
        }
        if self == Self::Input {
            drop_null_of_optional_properties(schema);
        }
        spell_out_null(schema);
        for (keyword, value) in schema.iter_mut() {
            self.tidy_keyword(keyword, value);
        }
    }

    fn tidy_keyword(self, keyword: &str, value: &mut Value) {
        match value {
            Value::Object(named) if NAMED.contains(&keyword) => self.tidy_all(named.values_mut()),
            Value::Array(listed) if LISTED.contains(&keyword) => self.tidy_all(listed.iter_mut()),
            single if SINGLE.contains(&keyword) => self.tidy(single),
            _ => {}
        }
    }

    fn tidy_all<'a>(self, schemas: impl Iterator<Item = &'a mut Value>) {
        for schema in schemas {
            self.tidy(schema);
        }
    }

    /// The definitions that recursive types have left in the generator, tidied, for the keyword `$defs`.
    pub(crate) fn definitions(self, generator: &mut SchemaGenerator) -> Option<Value> {
        let mut definitions = generator.take_definitions(true);
        self.tidy_all(definitions.values_mut());
        (!definitions.is_empty()).then(|| definitions.into())
    }
}

fn drop_null_of_optional_properties(schema: &mut Map<String, Value>) {
    let required: Vec<String> = match schema.get("required") {
        Some(Value::Array(required)) => required
            .iter()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties {
            if !required.contains(name) {
                drop_null(property);
            }
        }
    }
}

/// Takes `null` out of what a schema allows, where it is one of several things.
pub(crate) fn drop_null(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if let Some(Value::Array(variants)) = schema.get_mut("anyOf") {
        variants.retain(|variant| variant.get("type").is_none_or(|name| name != "null"));
        if let [Value::Object(only)] = variants.as_slice() {
            // What stands beside `anyOf`, such as the description of the property, wins over what is inside.
            let only = only.clone();
            schema.remove("anyOf");
            for (keyword, value) in only {
                schema.entry(keyword).or_insert(value);
            }
        }
    }
    if schema.get("default") == Some(&Value::Null) {
        schema.remove("default");
    }
}

/// Writes `"type": ["T", "null"]` as an `anyOf`, which hosts accept.
fn spell_out_null(schema: &mut Map<String, Value>) {
    let nullable = matches!(schema.get("type"), Some(Value::Array(types)) if types.iter().any(|name| name == "null"));
    if !nullable {
        return;
    }
    let mut variant = Map::new();
    for (keyword, value) in std::mem::take(schema) {
        let outer = matches!(
            keyword.as_str(),
            "description" | "title" | "default" | "$defs" | "examples"
        );
        let target = if outer { &mut *schema } else { &mut variant };
        target.insert(keyword, value);
    }
    let mut variant = Value::Object(variant);
    drop_null(&mut variant);
    schema.insert("anyOf".to_owned(), json!([variant, { "type": "null" }]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_get_schemas_that_they_accept() {
        let table = [
            (
                Direction::Input,
                json!({"type": "integer", "format": "uint8"}),
                json!({"type": "integer"}),
            ),
            (
                Direction::Input,
                json!({"type": "string", "format": "date"}),
                json!({"type": "string", "format": "date"}),
            ),
            (
                Direction::Input,
                json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": true}}),
                json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {}}}),
            ),
            (
                Direction::Input,
                json!({"properties": {"a": {"anyOf": [{"type": "object"}, {"type": "null"}], "description": "d"}}}),
                json!({"properties": {"a": {"type": "object", "description": "d"}}}),
            ),
            (
                Direction::Output,
                json!({"properties": {"a": {"type": ["integer", "null"], "minimum": 0, "description": "d"}}}),
                json!({"properties": {"a": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "description": "d"}}}),
            ),
            (
                Direction::Input,
                json!({"type": "array", "items": {"type": ["number", "null"]}}),
                json!({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}}),
            ),
            (
                Direction::Output,
                json!({"additionalProperties": true}),
                json!({"additionalProperties": {}}),
            ),
        ];
        for (direction, mut schema, expected) in table {
            direction.tidy(&mut schema);
            assert_eq!(schema, expected);
        }
    }
}

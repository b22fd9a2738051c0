//! JSON schemas in the form that hosts of language models accept.
//!
//! The output of schemars is valid JSON Schema 2020-12, but many hosts reject parts of it. Therefore:
//!
//! - Subschemas are inlined.
//! - An optional property is not also nullable, unless `null` differs from absence.
//! - Other nullable values use `anyOf`, not a list of types.
//! - Only standard formats are used.
//! - A schema that allows every value is `{}`, not `true`.

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::function::bounds::widen;
use crate::function::default_value::for_model;
use crate::function::schema_format::drop_unknown_format;

/// Keywords whose value maps names to schemas.
const NAMED: [&str; 5] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
];

/// Keywords whose value is a list of schemas.
const LISTED: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// Keywords whose value is a schema.
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

/// Keyword of a property whose absence and `null` differ. `#[mcp_type]` adds it; it is in no schema that a peer sees.
const KEEPS_NULL: &str = "x-treenail-null";

/// Direction of the values that a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Values written by the model: an optional property need not allow `null`.
    Input,
    /// Values written by the tool: every possible value must be allowed.
    Output,
}

impl Direction {
    /// Creates a generator for types in this direction.
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

    /// Rewrites a schema in place to the form that hosts accept.
    pub(crate) fn tidy(self, schema: &mut Value) {
        if let Value::Bool(true) = schema {
            *schema = json!({});
        }
        let Value::Object(schema) = schema else {
            return;
        };
        schema.remove(KEEPS_NULL);
        shorten_default(schema);
        drop_unknown_format(schema);
        if self == Self::Input {
            drop_null_of_optional_properties(schema);
        }
        spell_out_types(schema);
        for (keyword, value) in schema.iter_mut() {
            self.tidy_keyword(keyword, value);
        }
        if self == Self::Input {
            tidy_default(schema);
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

    /// Takes the definitions of recursive types from the generator, normalized, as the value of `$defs`.
    pub(crate) fn definitions(self, generator: &mut SchemaGenerator) -> Option<Value> {
        let mut definitions = generator.take_definitions(true);
        self.tidy_all(definitions.values_mut());
        (!definitions.is_empty()).then(|| definitions.into())
    }
}

/// Writes the default of an `f32` with the digits of an `f32`.
fn shorten_default(schema: &mut Map<String, Value>) {
    let is_f32 = schema.get("format").is_some_and(|format| format == "float");
    let default = schema.get_mut("default").filter(|_| is_f32);
    let Some((default, number)) = default.and_then(|it| it.as_f64().map(|number| (it, number)))
    else {
        return;
    };
    #[allow(clippy::cast_possible_truncation, reason = "the number was an `f32`")]
    let number = number as f32;
    *default = widen(number).into();
}

/// Writes a default as the model would, or removes it.
fn tidy_default(schema: &mut Map<String, Value>) {
    let Some(default) = schema.get_mut("default").map(Value::take) else {
        return;
    };
    match for_model(default, schema) {
        Some(default) => schema.insert("default".to_owned(), default),
        None => schema.remove("default"),
    };
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
            // With a default, omitting the property does not mean null.
            let default = property.get("default").filter(|it| !it.is_null());
            let keeps_null = default.is_some() || property.get(KEEPS_NULL).is_some();
            if !required.contains(name) && !keeps_null {
                drop_null(property);
            }
        }
    }
}

/// Removes `null` from a schema that also allows other values.
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
            // Keywords beside `anyOf`, such as the description of the property, override those inside it.
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

/// Rewrites `"type": ["T", "U"]` as an `anyOf`, which hosts accept.
fn spell_out_types(schema: &mut Map<String, Value>) {
    let types = match schema.get("type") {
        Some(Value::Array(types)) if types.len() > 1 => types.clone(),
        _ => return,
    };
    let mut variant = Map::new();
    for (keyword, value) in std::mem::take(schema) {
        let outer = matches!(
            keyword.as_str(),
            "description" | "title" | "default" | "$defs" | "examples"
        );
        let target = if outer { &mut *schema } else { &mut variant };
        target.insert(keyword, value);
    }
    let variants = types.into_iter().map(|name| {
        if name == "null" {
            return json!({ "type": name });
        }
        let mut variant = variant.clone();
        variant.insert("type".to_owned(), name);
        let mut variant = variant.into();
        drop_null(&mut variant);
        variant
    });
    schema.insert("anyOf".to_owned(), variants.collect());
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
                Direction::Input,
                json!({"type": ["string", "number"], "pattern": "^-?\\d+$"}),
                json!({"anyOf": [{"pattern": "^-?\\d+$", "type": "string"}, {"pattern": "^-?\\d+$", "type": "number"}]}),
            ),
            (
                Direction::Input,
                json!({"type": "string", "format": "partial-time"}),
                json!({"type": "string", "examples": ["10:00:00"]}),
            ),
            (
                Direction::Input,
                json!({"properties": {"a": {"type": ["string", "null"], "x-treenail-null": true, "description": "d"}}}),
                json!({"properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "d"}}}),
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

    #[test]
    fn a_default_of_32_bits_has_its_own_digits() {
        for (format, expected) in [("float", 0.1), ("double", f64::from(0.1_f32))] {
            let mut schema = json!({"type": "number", "format": format, "default": 0.1_f32});
            Direction::Input.tidy(&mut schema);
            assert_eq!(schema, json!({"type": "number", "default": expected}));
        }
    }
}

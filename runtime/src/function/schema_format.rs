//! Formats in JSON Schemas: the standard ones, and replacements of those that only schemars knows.

use serde_json::{Map, Value, json};

/// Formats that JSON Schema 2020-12 defines. The others, such as `uint8`, are specific to Rust.
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

/// Formats of the crates `chrono` and `jiff` that are not standard, with an example for the model in place of each.
const EXAMPLES: [(&str, &str); 3] = [
    ("partial-date-time", "2026-12-01T10:00:00"),
    ("partial-time", "10:00:00"),
    ("zoned-date-time", "2026-12-01T10:00:00+01:00[Europe/Oslo]"),
];

/// Formats of integers for which schemars declares no range, with the range. That of 64 bits is too large for many clients, which
/// represent numbers as floating-point numbers.
const LIMITS: [(&str, i64, i64); 2] = [
    ("int32", i32::MIN as i64, i32::MAX as i64),
    ("uint32", 0, u32::MAX as i64),
];

/// Removes a format that is not standard, or replaces it by an example or by its range.
pub(crate) fn drop_unknown_format(schema: &mut Map<String, Value>) {
    let format = schema.get("format").and_then(Value::as_str);
    let Some(format) = format.filter(|format| !FORMATS.contains(format)) else {
        return;
    };
    let example = EXAMPLES.iter().find(|(known, _)| *known == format);
    let limits = LIMITS.iter().find(|(known, ..)| *known == format);
    schema.remove("format");
    if let Some((_, low, high)) = limits {
        schema.entry("minimum").or_insert_with(|| (*low).into());
        schema.entry("maximum").or_insert_with(|| (*high).into());
    }
    if let Some((_, example)) = example {
        schema.insert("examples".to_owned(), json!([example]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_32_bits_have_a_range() {
        let table = [
            (
                json!({"type": "integer", "format": "int32"}),
                json!({"type": "integer", "minimum": -2_147_483_648_i64, "maximum": 2_147_483_647}),
            ),
            (
                json!({"type": "integer", "format": "uint32", "minimum": 1}),
                json!({"type": "integer", "minimum": 1, "maximum": 4_294_967_295_u32}),
            ),
            (
                json!({"type": "integer", "format": "uint64", "minimum": 0}),
                json!({"type": "integer", "minimum": 0}),
            ),
        ];
        for (schema, expected) in table {
            let mut schema = schema.as_object().cloned().unwrap();
            drop_unknown_format(&mut schema);
            assert_eq!(Value::Object(schema), expected);
        }
    }
}

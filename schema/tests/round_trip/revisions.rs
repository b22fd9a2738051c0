//! Validators for the distilled schemas.

use serde_json::{Value, json};
use treenail_schema::Revision;

const SCHEMAS: [&str; 5] = [
    include_str!("../../json/2024-11-05.json"),
    include_str!("../../json/2025-03-26.json"),
    include_str!("../../json/2025-06-18.json"),
    include_str!("../../json/2025-11-25.json"),
    include_str!("../../json/2026-07-28.json"),
];

/// Panics unless `value` is valid for the schema of `revision` at `place`, the name of a definition or
/// a path inside one.
pub(crate) fn assert_valid(revision: Revision, place: &str, value: &Value) {
    let mut schema: Value = serde_json::from_str(SCHEMAS[revision.index()]).unwrap();
    let definitions = if schema.get("$defs").is_some() {
        "$defs"
    } else {
        "definitions"
    };
    let reference = format!("#/{definitions}/{place}");
    assert!(
        schema.pointer(&reference[1..]).is_some(),
        "{revision} has no {place}"
    );
    schema["allOf"] = json!([{ "$ref": reference }]);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(value)
        .map(|e| e.to_string())
        .collect();
    assert!(
        errors.is_empty(),
        "{value} is no {place} of {revision}: {}",
        errors.join("; ")
    );
}

#[test]
fn the_distilled_schemas_are_schemas() {
    for schema in SCHEMAS {
        let schema: Value = serde_json::from_str(schema).unwrap();
        jsonschema::meta::validate(&schema).unwrap();
    }
}

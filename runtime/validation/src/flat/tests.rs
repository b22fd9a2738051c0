//! Comparison of the quick validation with the full one.

use serde_json::json;
use treenail_schema::SchemaObject;

use super::*;
use crate::{CompiledSchema, ValidationLimits, Verdict};

fn flat(schema: &Value) -> Option<FlatSchema> {
    FlatSchema::new(schema.as_object().unwrap())
}

#[test]
fn accepted_objects_are_valid() {
    let properties = json!({
        "text": {"type": "string", "description": "a text"},
        "short": {"type": "string", "minLength": 1, "maxLength": 3},
        "unit": {"type": "string", "enum": ["metric", "a\"b"]},
        "count": {"type": "integer", "minimum": -2, "maximum": 7, "default": 1},
        "any": {"type": "integer"},
        "ratio": {"type": "number"},
        "flag": {"type": "boolean"},
        "list": {"type": "array"},
    });
    let values = [
        json!(""),
        json!("é"),
        json!("éééé"),
        json!("a\"b"),
        json!("metric"),
        json!(-2),
        json!(8),
        json!(7),
        json!(1.0),
        json!(1.5),
        json!(1e3),
        json!(true),
        json!(null),
        json!([]),
        json!({}),
        json!(9_007_199_254_740_993_i64),
        json!(u64::MAX),
        json!(-9e99),
    ];
    let mut accepted = 0;
    for additional in [json!(true), json!(false)] {
        let schema = json!({
            "type": "object", "properties": properties, "required": ["text"],
            "additionalProperties": additional,
        });
        let flat = flat(&schema).unwrap();
        let object = SchemaObject::from(schema.as_object().unwrap().clone());
        let full = CompiledSchema::new(&object, &ValidationLimits::default()).unwrap();
        let names = properties.as_object().unwrap().keys().map(String::as_str);
        let pairs = names
            .chain(["other"])
            .flat_map(|name| values.iter().map(move |value| (name, value)));
        for (name, value) in pairs {
            for object in [json!({"text": "a", name: value}), json!({ name: value })] {
                let valid = full.verdict(&object) == Ok(Verdict::Valid);
                let quick = flat.accepts(&object.to_string()).is_some();
                assert!(valid || !quick, "{object} against {schema}");
                accepted += usize::from(quick);
            }
        }
    }
    assert!(accepted > 60, "{accepted} were accepted quickly");
}

#[test]
fn repeated_members_and_other_keywords_are_left_to_the_full_validation() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "integer"}}});
    let schema = flat(&schema).unwrap();
    assert!(schema.accepts("{\"a\":1}").is_some());
    assert!(schema.accepts("{\"a\":1,\"a\":2}").is_none());
    for other in [
        json!({"type": "object", "not": {}}),
        json!({"type": "object", "required": ["b"]}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"type": "object", "patternProperties": {}}),
        json!({"properties": {}}),
    ] {
        assert!(flat(&other).is_none(), "{other}");
    }
}

#[test]
fn keys_that_serde_json_reserves_are_left_to_the_full_validation() {
    let schema = json!({"type": "object", "properties": {}});
    let open = flat(&schema).unwrap();
    assert!(open.accepts(r#"{"$ref":{"$ref":"a"}}"#).is_some());
    for object in [
        r#"{"$serde_json::private::RawValue":"a"}"#,
        r#"{"\u0024serde_json::private::RawValue":"a"}"#,
        r#"{"a":[{"$serde_json::private::RawValue":"a"}]}"#,
    ] {
        assert!(open.accepts(object).is_none(), "{object}");
    }
    let property = json!({"$serde_json::private::RawValue": {"type": "string"}});
    assert!(flat(&json!({"type": "object", "properties": property})).is_none());
}

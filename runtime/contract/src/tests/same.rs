//! Tables: what is the same in other words, and what cannot be judged.

use serde_json::{Value, json};

use super::schemas::check;

#[test]
#[allow(clippy::too_many_lines, reason = "it is a table")]
fn the_same_in_other_words_is_no_drift() {
    let with_definitions = |schema: Value| {
        let mut schema = schema;
        schema["$defs"] = json!({"city": {"type": "string", "minLength": 1}});
        schema
    };
    let city = || {
        with_definitions(
            json!({"type": "object", "properties": {"c": {"$ref": "#/properties/a/$defs/city"}}}),
        )
    };
    for (one, other) in [
        (json!({"type": "string"}), json!({"type": ["string"]})),
        (
            json!({"type": ["null", "string"]}),
            json!({"type": ["string", "null"]}),
        ),
        (json!({"const": "a"}), json!({"enum": ["a"]})),
        (
            json!({"const": "a"}),
            json!({"type": "string", "enum": ["a"]}),
        ),
        (
            json!({"enum": ["a", "b"]}),
            json!({"enum": ["b", "a"], "type": "string"}),
        ),
        (json!({"type": "boolean"}), json!({"enum": [true, false]})),
        (json!({"type": "null"}), json!({"const": null})),
        (
            json!({"type": "integer", "minimum": 1}),
            json!({"type": "integer", "exclusiveMinimum": 0}),
        ),
        (
            json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}),
            json!({"type": "number", "exclusiveMinimum": 0}),
        ),
        (
            json!({"type": "number", "minimum": 1}),
            json!({"type": "number", "minimum": 1.0}),
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "minLength": 0}),
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "maximum": 3}),
        ),
        (
            json!({"type": "array"}),
            json!({"type": "array", "items": {}, "uniqueItems": false}),
        ),
        (
            json!({"type": "array", "items": [{"type": "string"}], "additionalItems": false}),
            json!({"type": "array", "prefixItems": [{"type": "string"}], "items": false}),
        ),
        (
            json!({"type": "object"}),
            json!({"type": "object", "required": [], "additionalProperties": true}),
        ),
        (
            json!({"type": "object", "required": ["b", "a"]}),
            json!({"type": "object", "required": ["a", "b"]}),
        ),
        (
            json!({"type": ["string", "null"]}),
            json!({"anyOf": [{"type": "string"}, {"type": "null"}]}),
        ),
        (
            json!({"type": ["string", "null"], "maxLength": 4}),
            json!({"oneOf": [{"const": null}, {"type": "string", "maxLength": 4}]}),
        ),
        (
            json!({"enum": ["a", null]}),
            json!({"anyOf": [{"type": "null"}, {"const": "a"}]}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}),
            json!({"oneOf": [{"type": "integer"}, {"type": "string"}]}),
        ),
        (
            json!({"type": "string"}),
            json!({"allOf": [{"type": "string"}]}),
        ),
        (
            json!({"type": "string"}),
            json!({"anyOf": [{"oneOf": [{"type": "string"}]}]}),
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "$schema": "http://json-schema.org/draft-07/schema#"}),
        ),
        (json!(true), json!({})),
        (
            json!({"type": "object", "additionalProperties": false}),
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
        ),
        (json!(false), json!({"not": {}})),
        (
            city(),
            json!({"type": "object", "properties": {"c": {"type": "string", "minLength": 1}}}),
        ),
    ] {
        check(&one, &other, "", "");
        check(&other, &one, "", "");
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "it is a table")]
fn what_cannot_be_judged_is_breaking() {
    let not = |inner: Value| json!({"type": "string", "not": inner});
    let condition =
        |then: Value| json!({"type": "object", "if": {"required": ["a"]}, "then": then});
    let overlapping = |least: u8| json!({"oneOf": [{"type": "integer", "minimum": least}, {"type": "number", "maximum": 5}]});
    for (one, other, path) in [
        (
            not(json!({"const": "a"})),
            not(json!({"const": "b"})),
            "!/not/enum !/not/enum",
        ),
        (
            condition(json!({"minProperties": 2})),
            condition(json!({"minProperties": 3})),
            "!/then/minProperties",
        ),
        (
            condition(json!({"minProperties": 2})),
            json!({"type": "object"}),
            "!/if",
        ),
        (overlapping(1), overlapping(2), "!/oneOf/0/minimum"),
        (
            json!({"pattern": "a", "type": "string"}),
            json!({"pattern": "b", "type": "string"}),
            "!/pattern",
        ),
        (
            json!({"format": "date", "type": "string"}),
            json!({"format": "time", "type": "string"}),
            "!/format",
        ),
        (
            json!({"type": "integer", "multipleOf": 4}),
            json!({"type": "integer", "multipleOf": 6}),
            "!/multipleOf",
        ),
        (
            json!({"$ref": "https://example.com/a"}),
            json!({"$ref": "https://example.com/b"}),
            "!/$ref",
        ),
        (
            json!({"$ref": "#/nowhere"}),
            json!({"$ref": "#name"}),
            "!/$ref",
        ),
        (
            json!({"type": "array", "contains": {"const": 1}, "minContains": 2}),
            json!({"type": "array", "contains": {"const": 1}, "minContains": 1}),
            "!/minContains",
        ),
        (
            json!({"type": "object", "dependencies": {"a": ["b"]}}),
            json!({"type": "object", "dependencies": {"a": ["c"]}}),
            "!/dependencies",
        ),
        (
            json!({"type": "object", "additionalProperties": false, "patternProperties": {"^a": {}}}),
            json!({"type": "object", "additionalProperties": false}),
            "!/patternProperties/^a",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "null"}]}),
            json!({"anyOf": [{"type": "boolean"}, {"type": "array"}, {"type": "null"}]}),
            "!/anyOf",
        ),
        (
            json!({"$id": "https://example.com/a", "type": "string"}),
            json!({"$id": "https://example.com/a", "type": "integer"}),
            "!",
        ),
    ] {
        check(&one, &other, path, path);
    }
}

//! Tests with tables of a recorded and a live schema, and of the changes as input and as output.

use serde_json::{Value, json};

use super::{summaries, tool, tool_drift};

/// Compares two schemas as the schemas of an argument and of a member of the result.
fn drifts(recorded: &Value, live: &Value) -> [Vec<String>; 2] {
    let whole = |schema: &Value| json!({"type": "object", "properties": {"a": schema}});
    let input = |schema: &Value| tool("t", whole(schema));
    let output = |schema: &Value| {
        tool("t", json!({"type": "object"})).with_output_schema(super::object(whole(schema)))
    };
    let found = [
        tool_drift(input(recorded), input(live)),
        tool_drift(output(recorded), output(live)),
    ];
    found.map(|drift| {
        let lines = summaries(&drift).into_iter();
        lines
            .map(|line| {
                line.replace("/inputSchema/properties/a", "")
                    .replace("/outputSchema/properties/a", "")
            })
            .collect()
    })
}

/// Compares the changes with the expected ones: `!` is breaking, `+` additive, `~` wording, each with a path.
#[track_caller]
pub(super) fn check(recorded: &Value, live: &Value, input: &str, output: &str) {
    let expected = |signs: &str| -> Vec<String> {
        let mut all: Vec<_> = signs
            .split_whitespace()
            .map(|sign| {
                let severity = match &sign[..1] {
                    "!" => "breaking",
                    "+" => "additive",
                    "~" => "wording",
                    other => panic!("{other}"),
                };
                format!("{severity} {}", &sign[1..])
            })
            .collect();
        all.sort();
        all
    };
    let found = drifts(recorded, live);
    assert_eq!(found[0], expected(input), "as input: {recorded} → {live}");
    assert_eq!(found[1], expected(output), "as output: {recorded} → {live}");
}

/// Checks a table in both directions: the reverse of a narrowing is a widening.
#[track_caller]
fn check_narrowing(table: &[(Value, Value, &str)]) {
    for (wide, narrow, path) in table {
        let (breaking, additive) = (format!("!{path}"), format!("+{path}"));
        check(wide, narrow, &breaking, &additive);
        check(narrow, wide, &additive, &breaking);
    }
}

#[test]
#[allow(clippy::too_many_lines, reason = "a table")]
fn narrowing_breaks_inputs_and_widening_breaks_outputs() {
    check_narrowing(&[
        (
            json!({"type": ["string", "integer"]}),
            json!({"type": "string"}),
            "/type",
        ),
        (
            json!({"type": "number"}),
            json!({"type": "integer"}),
            "/type",
        ),
        (
            json!({"type": ["string", "null"]}),
            json!({"type": "string"}),
            "/type",
        ),
        (json!({}), json!({"type": "string"}), "/type"),
        (json!(true), json!({"type": "string"}), "/type"),
        (
            json!({"type": "string"}),
            json!({"type": "string", "enum": ["a"]}),
            "/enum",
        ),
        (
            json!({"type": "string", "enum": ["a", "b"]}),
            json!({"type": "string", "enum": ["b"]}),
            "/enum",
        ),
        (json!({"enum": ["a", 1]}), json!({"const": "a"}), "/enum"),
        (
            json!({"type": "string"}),
            json!({"type": "string", "minLength": 1}),
            "/minLength",
        ),
        (
            json!({"type": "string", "maxLength": 9}),
            json!({"type": "string", "maxLength": 8}),
            "/maxLength",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "maxLength": 8}),
            "/maxLength",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "pattern": "^a"}),
            "/pattern",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "format": "date"}),
            "/format",
        ),
        (
            json!({"type": "integer"}),
            json!({"type": "integer", "minimum": 0}),
            "/minimum",
        ),
        (
            json!({"type": "integer", "maximum": 10}),
            json!({"type": "integer", "maximum": 9.5}),
            "/maximum",
        ),
        (
            json!({"type": "integer"}),
            json!({"type": "integer", "multipleOf": 5}),
            "/multipleOf",
        ),
        (
            json!({"type": "integer", "multipleOf": 5}),
            json!({"type": "integer", "multipleOf": 10}),
            "/multipleOf",
        ),
        (
            json!({"type": "array"}),
            json!({"type": "array", "minItems": 1}),
            "/minItems",
        ),
        (
            json!({"type": "array", "maxItems": 3}),
            json!({"type": "array", "maxItems": 2}),
            "/maxItems",
        ),
        (
            json!({"type": "array"}),
            json!({"type": "array", "uniqueItems": true}),
            "/uniqueItems",
        ),
        (
            json!({"type": "array", "items": {}}),
            json!({"type": "array", "items": {"type": "string"}}),
            "/items/type",
        ),
        (
            json!({"type": "array"}),
            json!({"type": "array", "contains": {"const": 1}}),
            "/contains",
        ),
        (
            json!({"type": "array", "prefixItems": [{}]}),
            json!({"type": "array", "prefixItems": [{"type": "null"}]}),
            "/prefixItems/0/type",
        ),
        (
            json!({"type": "array", "items": true}),
            json!({"type": "array", "items": false}),
            "/items",
        ),
        (
            json!({"type": "object"}),
            json!({"type": "object", "minProperties": 1}),
            "/minProperties",
        ),
        (
            json!({"type": "object"}),
            json!({"type": "object", "additionalProperties": {"type": "string"}}),
            "/additionalProperties/type",
        ),
        (
            json!({"type": "object"}),
            json!({"type": "object", "propertyNames": {"maxLength": 3}}),
            "/propertyNames",
        ),
        (
            json!({"type": "object"}),
            json!({"type": "object", "dependentRequired": {"a": ["b"]}}),
            "/dependentRequired/a",
        ),
        (
            json!({"type": "object"}),
            json!({"type": "object", "dependentSchemas": {"a": {"minProperties": 2}}}),
            "/dependentSchemas/a",
        ),
        (
            json!({"items": {"type": "string"}}),
            json!({"items": {"not": {}}}),
            "/items",
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}]}),
            json!({"anyOf": [{"type": "boolean"}, {"type": "string"}]}),
            "/anyOf",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "not": {"const": ""}}),
            "/not",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "not": {}}),
            "/not",
        ),
        (
            json!({"type": "array"}),
            json!({"type": "array", "contains": {}}),
            "/contains",
        ),
        (
            json!({"type": "string"}),
            json!({"type": "string", "allOf": [{"minLength": 1}, {"maxLength": 3}]}),
            "/allOf",
        ),
    ]);
}

#[test]
fn a_different_type_breaks_inputs_and_outputs() {
    for (one, other) in [
        (json!({"type": "string"}), json!({"type": "integer"})),
        (json!({"enum": ["1"]}), json!({"type": "integer"})),
        (json!({"type": "array"}), json!({"type": "object"})),
    ] {
        check(&one, &other, "!/type", "!/type");
    }
    let above = json!({"type": "number", "exclusiveMinimum": 0});
    let from = json!({"type": "number", "minimum": 0});
    check(&from, &above, "!/exclusiveMinimum", "+/exclusiveMinimum");
    check(&above, &from, "+/minimum", "!/minimum");
    let (one, other) = (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "c"]}));
    check(&one, &other, "!/enum +/enum", "!/enum +/enum");
}

#[test]
fn nullable_allows_null() {
    let plain = json!({"type": "string"});
    let nullable = json!({"type": "string", "nullable": true});
    check(&nullable, &plain, "!/type ~/nullable", "+/type ~/nullable");
    check(&plain, &nullable, "+/type ~/nullable", "!/type ~/nullable");
    check(
        &nullable,
        &json!({"type": ["null", "string"]}),
        "~/nullable",
        "~/nullable",
    );
    let choice = json!({"enum": ["a"]});
    let optional = json!({"enum": ["a"], "nullable": true});
    check(&optional, &choice, "!/enum ~/nullable", "+/enum ~/nullable");
}

//! Tests of the validation and repair of arguments.

#![allow(
    clippy::too_many_lines,
    reason = "a table of cases is as long as there are cases"
)]

mod aside;
mod random;

use serde_json::{Value, json};
use treenail_runtime::client::{ClientLimits, ValidationLimits};
use treenail_schema::{JsonObject, Tool};

use super::{ArgumentChecker, Prepared};

fn tool(schema: &Value) -> Tool {
    serde_json::from_value(json!({"name": "t", "inputSchema": schema})).unwrap()
}

fn prepare(schema: &Value, input: &Value) -> Result<Prepared, String> {
    let input: JsonObject = serde_json::from_value(input.clone()).unwrap();
    ArgumentChecker::new(&ClientLimits::default()).prepare(&tool(schema), "own__echo", input)
}

/// Checks that arguments are repaired, or accepted unchanged.
#[track_caller]
fn check(schema: &Value, table: &[(Value, Value)]) {
    for (given, expected) in table {
        let prepared = prepare(schema, given).unwrap_or_else(|report| panic!("{given}: {report}"));
        assert_eq!(Value::Object(prepared.input.clone()), *expected, "{given}");
        assert_eq!(prepared.unchecked, None);
        // The order of members is preserved too.
        let order = |value: &Value| {
            value
                .as_object()
                .map(|it| it.keys().cloned().collect::<Vec<_>>())
        };
        assert_eq!(
            order(&Value::Object(prepared.input)),
            order(expected),
            "{given}"
        );
    }
}

/// Checks which problems are reported.
#[track_caller]
fn check_wrong(schema: &Value, table: &[(Value, &[&str])]) {
    for (given, problems) in table {
        let report = prepare(schema, given).expect_err(&given.to_string());
        let mut expected = "Wrong arguments for the tool `own__echo`:".to_owned();
        for problem in *problems {
            expected = expected + "\n- " + problem;
        }
        expected += "\nCorrect them and call the tool again.";
        assert_eq!(report, expected, "{given}");
    }
}

fn types() -> Value {
    json!({
        "type": "object",
        "properties": {
            "int": {"type": "integer", "maximum": 7},
            "num": {"type": "number"},
            "bool": {"type": "boolean"},
            "text": {"type": "string", "minLength": 1},
            "list": {"type": "array", "items": {"type": "integer"}},
            "words": {"type": "array", "items": {"type": "string"}},
            "object": {"$ref": "#/$defs/Point"},
            "maybe": {"type": ["integer", "null"]},
            "either": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
            "point": {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]},
            "some": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]},
            "unit": {"enum": [1, "two", true]},
        },
        "$defs": {
            "Point": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "y": {"type": "integer"}},
                "required": ["x"],
                "additionalProperties": false,
            },
        },
        "additionalProperties": false,
    })
}

#[test]
fn unambiguous_type_mismatches_are_repaired() {
    let same = |value: Value| (value.clone(), value);
    check(
        &types(),
        &[
            (json!({"int": "3"}), json!({"int": 3})),
            (json!({"int": "3.0"}), json!({"int": 3})),
            (json!({"int": 3.0}), json!({"int": 3})),
            (json!({"num": "3.5"}), json!({"num": 3.5})),
            (json!({"num": "-1e3"}), json!({"num": -1000.0})),
            (json!({"bool": "true"}), json!({"bool": true})),
            (json!({"bool": "False"}), json!({"bool": false})),
            (json!({"text": 3}), json!({"text": "3"})),
            (json!({"text": 3.5}), json!({"text": "3.5"})),
            (json!({"text": true}), json!({"text": "true"})),
            (json!({"list": 3}), json!({"list": [3]})),
            (json!({"list": "3"}), json!({"list": [3]})),
            (json!({"list": "[1, \"2\"]"}), json!({"list": [1, 2]})),
            (json!({"list": ["1", 2.0]}), json!({"list": [1, 2]})),
            (json!({"words": "a, b"}), json!({"words": ["a, b"]})),
            (json!({"words": 7}), json!({"words": ["7"]})),
            (
                json!({"object": "{\"x\": \"1\"}"}),
                json!({"object": {"x": 1}}),
            ),
            (json!({"object": {"X": 1}}), json!({"object": {"x": 1}})),
            (json!({"maybe": "7"}), json!({"maybe": 7})),
            (json!({"either": "true"}), json!({"either": true})),
            (json!({"either": "12"}), json!({"either": 12})),
            (json!({"point": {"x": "1"}}), json!({"point": {"x": 1}})),
            (
                json!({"point": {"x": "1", "y": "2"}}),
                json!({"point": {"x": 1, "y": 2}}),
            ),
            (
                json!({"point": "{\"x\": \"1\"}"}),
                json!({"point": {"x": 1}}),
            ),
            (json!({"point": {"x": 2.0}}), json!({"point": {"x": 2}})),
            (json!({"some": "3"}), json!({"some": [3]})),
            (json!({"unit": "1"}), json!({"unit": 1})),
            (json!({"unit": "true"}), json!({"unit": true})),
            // `null` for an optional argument removes it.
            (json!({"int": null, "text": "a"}), json!({"text": "a"})),
            (
                json!({"object": {"x": 1, "y": null}}),
                json!({"object": {"x": 1}}),
            ),
            (json!({"either": null}), json!({})),
            (
                json!({"bool": "true", "int": "7", "text": 1}),
                json!({"bool": true, "int": 7, "text": "1"}),
            ),
            // Valid arguments are unchanged.
            same(json!({})),
            same(json!({"int": 3, "num": 3, "text": "3", "maybe": null, "either": 1, "list": []})),
            same(json!({"num": 3.0})),
            same(json!({"text": "true", "words": ["1"], "unit": "two", "point": null})),
        ],
    );
}

#[test]
fn remaining_mistakes_are_reported_as_by_a_server() {
    check_wrong(
        &types(),
        &[
            (
                json!({"int": "9", "num": "1e400", "bool": 1}),
                &[
                    "/int: expected an integer (at most 7), got the string \"9\"",
                    "/num: expected a number, got the string \"1e400\"",
                    "/bool: expected true or false, got 1",
                ],
            ),
            (
                json!({"int": "03"}),
                &["/int: expected an integer (at most 7), got the string \"03\""],
            ),
            (
                json!({"int": 3.5}),
                &["/int: expected an integer (at most 7), got 3.5"],
            ),
            (
                json!({"int": 9}),
                &["/int: expected an integer (at most 7), got 9"],
            ),
            (
                json!({"text": ""}),
                &["/text: expected a string (characters at least 1), got the string \"\""],
            ),
            (
                json!({"text": 1e300}),
                &["/text: expected a string (characters at least 1), got 1e+300"],
            ),
            (
                json!({"text": ["a"]}),
                &["/text: expected a string (characters at least 1), got the array [\"a\"]"],
            ),
            (
                json!({"list": "a"}),
                &["/list: expected an array, got the string \"a\""],
            ),
            (
                json!({"list": [1, "a"]}),
                &["/list/1: expected an integer, got the string \"a\""],
            ),
            (
                json!({"words": null, "object": {}}),
                &["/object/x: missing; expected an integer"],
            ),
            (
                json!({"object": {"x": null}}),
                &["/object/x: expected an integer, got null"],
            ),
            (
                json!({"object": "{\"x\": 1, \"z\": 2}"}),
                &["/object/z: unknown argument; known arguments: `x`, `y`"],
            ),
            (
                json!({"object": "{x: 1}"}),
                &["/object: expected an object, got the string \"{x: 1}\""],
            ),
            (
                json!({"either": "no"}),
                &["/either: expected an integer or true or false, got the string \"no\""],
            ),
            (
                json!({"point": {"y": 1}}),
                &["/point/x: missing; expected an integer"],
            ),
            (
                json!({"unit": "three"}),
                &["/unit: expected one of 1, \"two\", true, got the string \"three\""],
            ),
            (
                json!({"nothing like it": 1}),
                &[
                    "/nothing like it: unknown argument; known arguments: `int`, `num`, `bool`, `text`, `list`, `words`, `object`, `maybe`, `either`, `point`, `some`, `unit`",
                ],
            ),
            (
                json!({"itn": 1}),
                &["/itn: unknown argument; did you mean `int`?"],
            ),
        ],
    );
}

#[test]
fn differently_spelled_names_are_repaired() {
    let schema = json!({
        "type": "object",
        "properties": {"user_name": {"type": "string"}, "maxItems": {"type": "integer"}, "max_size": {}},
        "required": ["user_name"],
        "additionalProperties": false,
    });
    check(
        &schema,
        &[
            (json!({"userName": "a"}), json!({"user_name": "a"})),
            (
                json!({"max-items": "3", "User Name": 7, "max_size": 1}),
                json!({"maxItems": 3, "user_name": "7", "max_size": 1}),
            ),
        ],
    );
    check_wrong(
        &schema,
        &[
            // Ambiguous.
            (
                json!({"userName": "a", "username": "b"}),
                &[
                    "/userName: unknown argument; did you mean `user_name`?",
                    "/username: unknown argument; did you mean `user_name`?",
                    "/user_name: missing; expected a string",
                ],
            ),
            (
                // The near name is given already.
                json!({"user_name": "a", "userName": "b"}),
                &[
                    "/userName: unknown argument; known arguments: `user_name`, `maxItems`, `max_size`",
                ],
            ),
            (
                json!({"name": "a"}),
                &[
                    "/name: unknown argument; known arguments: `user_name`, `maxItems`, `max_size`",
                    "/user_name: missing; expected a string",
                ],
            ),
        ],
    );
    // An unknown member that the schema allows is unchanged.
    let open = json!({"type": "object", "properties": {"days": {"type": "integer"}}});
    check(&open, &[(json!({"Days": "3"}), json!({"Days": "3"}))]);
    let required = json!({"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]});
    check(
        &required,
        &[(json!({"Days": "3", "a": 1}), json!({"days": 3, "a": 1}))],
    );
}

#[test]
fn mistakes_in_a_choice_refer_to_the_closest_branch() {
    let schema = json!({
        "type": "object",
        "oneOf": [
            {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
            {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}, "unit": {"type": "string"}},
             "required": ["kind", "side"]},
        ],
    });
    check(
        &schema,
        &[
            (
                json!({"kind": "circle", "radius": "1.5"}),
                json!({"kind": "circle", "radius": 1.5}),
            ),
            (
                json!({"kind": "square", "side": "2", "unit": 1}),
                json!({"kind": "square", "side": 2, "unit": "1"}),
            ),
        ],
    );
    check_wrong(
        &schema,
        &[(
            json!({"kind": "circle"}),
            &["/radius: missing; expected a number"],
        )],
    );
}

#[test]
fn unvalidatable_arguments_pass_unchanged() {
    let schemas = [
        (
            json!({"$ref": "https://example.com/schema.json"}),
            "external references are not supported",
        ),
        (
            json!({"type": "object", "$schema": "https://example.com/own"}),
            "the dialect",
        ),
        (json!({"type": 7}), "anyOf"),
        (
            json!({"description": "a".repeat(300_000)}),
            "it is larger than",
        ),
        (json!({"properties": {"a": {"pattern": "("}}}), "regex"),
    ];
    for (schema, reason) in schemas {
        let input = json!({"a": "3"});
        let prepared = prepare(&schema, &input).unwrap();
        assert_eq!(Value::Object(prepared.input), input);
        let message = prepared.unchecked.unwrap();
        assert!(message.contains(reason), "{message}");
    }
    let limits = ClientLimits::default().validation(ValidationLimits::default().steps(100));
    let input: JsonObject = serde_json::from_value(json!({"list": vec!["1"; 1000]})).unwrap();
    let prepared = ArgumentChecker::new(&limits)
        .prepare(&tool(&types()), "own__echo", input.clone())
        .unwrap();
    assert_eq!(prepared.input, input);
    assert!(prepared.unchecked.unwrap().contains("more than 100 steps"));
}

#[test]
fn attempts_and_reports_are_bounded() {
    let many: Vec<_> = (0..2000).map(|_| "1").collect();
    let report = prepare(&types(), &json!({"list": many})).expect_err("it has been repaired");
    assert!(
        report.contains("- and more") && report.len() < 4000,
        "{report}"
    );
    let limits = ClientLimits::default().validation(ValidationLimits::default().steps(10_000));
    let input: JsonObject = serde_json::from_value(json!({"list": many})).unwrap();
    let report = ArgumentChecker::new(&limits)
        .prepare(&tool(&types()), "own__echo", input)
        .expect_err("it has been repaired");
    assert!(report.contains("too large to tell where"), "{report}");
    // Each level of the value matches one of two schemas.
    let schema = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {
        "anyOf": [
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["b"]},
            {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "required": ["c"]},
        ],
    }}});
    let mut value = json!({"a": "x"});
    for _ in 0..60 {
        value = json!({"a": value});
    }
    let prepared = prepare(&schema, &value);
    assert!(prepared.is_ok_and(|prepared| prepared.unchecked.is_some()));
}

#[test]
fn schemas_are_compiled_once_and_again_when_they_change() {
    let arguments = ArgumentChecker::new(
        &ClientLimits::default().validation(ValidationLimits::default().compiled_schemas(2)),
    );
    let input = || JsonObject::from_iter([("a".to_owned(), json!("1"))]);
    let of = |kind: &str| tool(&json!({"type": "object", "properties": {"a": {"type": kind}}}));
    let integer = of("integer");
    for _ in 0..2 {
        assert_eq!(
            arguments.prepare(&integer, "t", input()).unwrap().input["a"],
            1
        );
    }
    assert_eq!(
        arguments
            .prepare(&of("string"), "t", input())
            .unwrap()
            .input["a"],
        "1"
    );
    for name in ["b", "c", "d"] {
        let mut tool = integer.clone();
        name.clone_into(&mut tool.name);
        assert_eq!(
            arguments.prepare(&tool, "t", input()).unwrap().input["a"],
            1
        );
    }
    assert!(arguments.schemas.len() <= 2);
}

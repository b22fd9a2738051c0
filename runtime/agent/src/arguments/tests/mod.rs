//! Tests of the validation and repair of arguments.

mod aside;
mod bounds;
mod names;
mod random;
mod values;

use serde_json::{Value, json};
use treenail_runtime::client::ClientLimits;
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

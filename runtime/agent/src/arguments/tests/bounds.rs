//! Tests of arguments that cannot be checked, and of the bounds of checks, reports and compiled schemas.

use serde_json::{Value, json};
use treenail_runtime::client::{ClientLimits, ValidationLimits};
use treenail_schema::JsonObject;

use super::{prepare, tool, types};
use crate::arguments::ArgumentChecker;

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

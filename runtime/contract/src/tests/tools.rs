//! Tests of drifts of the members of tools: annotations, output schemas and task support.

use serde_json::{Value, json};
use treenail_schema::Tool;

use super::entries::read;
use super::{object, summaries, tool, tool_drift};
use crate::{Contract, Severity};

#[test]
fn less_favourable_annotations_are_breaking() {
    let annotated = |annotations: Value| -> Tool {
        read(json!({"name": "t", "inputSchema": {}, "annotations": annotations}))
    };
    let plain = json!({});
    let read_only = json!({"readOnlyHint": true});
    let mild = json!({"destructiveHint": false});
    for (one, other, expected) in [
        (&read_only, &plain, "breaking /annotations/readOnlyHint"),
        (&plain, &read_only, "additive /annotations/readOnlyHint"),
        (&mild, &plain, "breaking /annotations/destructiveHint"),
        (&plain, &mild, "additive /annotations/destructiveHint"),
        (
            &mild,
            &json!({"destructiveHint": true}),
            "breaking /annotations/destructiveHint",
        ),
        (
            &json!({"idempotentHint": true}),
            &plain,
            "breaking /annotations/idempotentHint",
        ),
        (
            &json!({"openWorldHint": false}),
            &plain,
            "breaking /annotations/openWorldHint",
        ),
        (
            &plain,
            &json!({"openWorldHint": false}),
            "additive /annotations/openWorldHint",
        ),
        (&plain, &json!({"title": "T"}), "wording /annotations/title"),
        // These are the defaults of absent hints.
        (
            &plain,
            &json!({"destructiveHint": true, "openWorldHint": true}),
            "",
        ),
        (
            &read_only,
            &json!({"readOnlyHint": true, "destructiveHint": true}),
            "",
        ),
    ] {
        let drift = tool_drift(annotated(one.clone()), annotated(other.clone()));
        assert_eq!(summaries(&drift).join(" "), expected, "{one} → {other}");
    }
}

#[test]
fn output_schemas_and_task_support_are_compared() {
    let tool = |rest: Value| -> Tool {
        let mut tool = json!({"name": "t", "inputSchema": {}});
        tool.as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        read(tool)
    };
    let task = |support: &str| tool(json!({"execution": {"taskSupport": support}}));
    let schema = || tool(json!({"outputSchema": {"type": "object"}}));
    for (one, other, expected) in [
        (schema(), tool(json!({})), "breaking /outputSchema"),
        (tool(json!({})), schema(), "additive /outputSchema"),
        (tool(json!({})), task("forbidden"), ""),
        (
            tool(json!({})),
            task("optional"),
            "additive /execution/taskSupport",
        ),
        (
            task("optional"),
            task("required"),
            "breaking /execution/taskSupport",
        ),
        (
            task("required"),
            task("optional"),
            "additive /execution/taskSupport",
        ),
        (
            task("optional"),
            tool(json!({})),
            "breaking /execution/taskSupport",
        ),
    ] {
        assert_eq!(summaries(&tool_drift(one, other)).join(" "), expected);
    }
}

#[test]
fn results_that_a_trait_does_not_declare_are_compared_with_a_schema() {
    let text = json!({"type": "string"});
    let optional = json!({"anyOf": [{"type": "string"}, {"type": "null"}]});
    let number = json!({"type": "number"});
    let wrapped = |value: &Value| json!({"type": "object", "properties": {"result": value}, "required": ["result"]});
    let marked = |value: &Value| {
        let mut schema = wrapped(value);
        schema["x-fastmcp-wrap-result"] = true.into();
        schema
    };
    for (undeclared, live, is_breaking) in [
        (&text, None, false),
        (&text, Some(text.clone()), false),
        (&text, Some(wrapped(&text)), false),
        (&text, Some(marked(&text)), false),
        (&optional, Some(text.clone()), false),
        (&optional, Some(optional.clone()), false),
        (
            &text,
            Some(json!({"$ref": "#/$defs/T", "$defs": {"T": text}})),
            false,
        ),
        (&text, Some(number.clone()), true),
        (&text, Some(wrapped(&number)), true),
        (&text, Some(marked(&number)), true),
        (&text, Some(optional.clone()), true),
        (&text, Some(json!({})), true),
        (
            &text,
            Some(json!({"type": "object", "properties": {"a": text}})),
            true,
        ),
        (&json!({"type": "null"}), Some(number.clone()), true),
    ] {
        let declared = live.clone().map(object);
        let mut tool = tool("t", json!({}));
        let recorded = Contract::new()
            .with_tools([tool.clone()])
            .with_undeclared_outputs([("t", object(undeclared.clone()))]);
        tool.output_schema = declared;
        let drift = recorded.drift(&Contract::new().with_tools([tool]));
        let is_found = drift.worst() == Some(Severity::Breaking);
        assert_eq!(is_found, is_breaking, "{undeclared} → {live:?}: {drift}");
    }
}

#[test]
fn results_that_two_traits_do_not_declare_are_compared() {
    let trait_contract = |output: Value| {
        Contract::new()
            .with_tools([tool("t", json!({}))])
            .with_undeclared_outputs([("t", object(output))])
    };
    let text = json!({"type": "string"});
    let optional = json!({"type": ["string", "null"]});
    let nothing = json!({"type": "null"});
    for (old, new, severity) in [
        (&text, &text, None),
        (&text, &optional, Some(Severity::Breaking)),
        (&text, &nothing, Some(Severity::Breaking)),
        (&nothing, &text, Some(Severity::Breaking)),
        (&optional, &text, Some(Severity::Additive)),
    ] {
        let recorded = trait_contract(old.clone());
        let drift = recorded.drift(&trait_contract(new.clone()));
        assert_eq!(drift.worst(), severity, "{old} → {new}: {drift}");
    }
    // Clients that were written against a server read any result.
    let recorded = Contract::new().with_tools([tool("t", json!({}))]);
    let drift = recorded.drift(&trait_contract(text));
    assert!(drift.is_empty(), "{drift}");
}

#[test]
fn a_declared_schema_precedes_an_undeclared_one() {
    let declared = |schema: Value| {
        let mut tool = tool("t", json!({}));
        tool.output_schema = Some(object(schema));
        Contract::new()
            .with_tools([tool])
            .with_undeclared_outputs([("t", object(json!({"type": "string"})))])
    };
    let recorded = declared(json!({"type": "integer"}));
    let same = recorded.drift(&recorded);
    assert!(same.is_empty(), "{same}");
    let undeclared = recorded.drift(&Contract::new().with_tools([tool("t", json!({}))]));
    assert_eq!(undeclared.worst(), Some(Severity::Breaking));
    let other = recorded.drift(&declared(json!({"type": "string"})));
    assert_eq!(other.worst(), Some(Severity::Breaking), "{other}");
}

#[test]
fn members_that_a_protocol_version_lacks_are_not_compared() {
    let tool = |more: Value| -> Contract {
        let mut tool = json!({"name": "t", "inputSchema": {}});
        (tool.as_object_mut().unwrap()).extend(more.as_object().unwrap().clone());
        Contract::new().with_tools([read::<Tool>(tool)])
    };
    let output = json!({"outputSchema": {"type": "object", "required": ["a"]}});
    let annotations = json!({"annotations": {"readOnlyHint": true}});
    for (members, versions, change) in [
        (&output, ["2025-03-26", "2025-06-18"], "/outputSchema"),
        (
            &annotations,
            ["2024-11-05", "2025-03-26"],
            "/annotations/readOnlyHint",
        ),
    ] {
        let plain = |version: &str| tool(json!({})).with_protocol_version(version);
        // The contract of a trait has no version.
        let full = tool(members.clone());
        let [without, with] = versions.map(plain);
        assert_eq!(summaries(&full.drift(&without)), [""; 0], "{change}");
        assert_eq!(summaries(&without.drift(&full)), [""; 0], "{change}");
        assert_eq!(
            summaries(&full.drift(&with)),
            [format!("breaking {change}")]
        );
    }
}

#[test]
fn task_support_is_not_compared_between_protocol_versions() {
    let contract = |version: &str, execution: Value| {
        let mut tool = json!({"name": "t", "inputSchema": {}});
        if !execution.is_null() {
            tool["execution"] = execution;
        }
        let contract = Contract::new().with_tools([read::<Tool>(tool)]);
        contract.with_protocol_version(version)
    };
    // Revision 2026-07-28 has no `execution`, and the client asks for tasks by itself in each.
    let modern = contract("2026-07-28", Value::Null);
    for support in ["optional", "required"] {
        let execution = || json!({"taskSupport": support});
        let legacy = contract("2025-11-25", execution());
        for drift in [legacy.drift(&modern), modern.drift(&legacy)] {
            assert_eq!(drift.worst(), Some(Severity::Wording), "{support}: {drift}");
        }
        let forbidden = contract("2025-11-25", Value::Null);
        let drift = legacy.drift(&forbidden);
        assert_eq!(drift.worst(), Some(Severity::Breaking), "{support}");
    }
}

#[test]
fn an_empty_properties_object_equals_none() {
    let bare = json!({"type": "object", "additionalProperties": false});
    let mut listed = bare.clone();
    listed["properties"] = json!({});
    let [one, other] = [bare, listed].map(|schema| Contract::new().with_tools([tool("t", schema)]));
    assert!(one.drift(&other).is_empty() && other.drift(&one).is_empty());
    assert_eq!(one.to_json(), other.to_json());
}

#[test]
fn wrapped_and_unwrapped_output_schemas_are_equal() {
    let contract = |schema: Value| {
        let tool = tool("t", json!({"type": "object"}));
        Contract::new().with_tools([tool.with_output_schema(object(schema))])
    };
    let definitions = || json!({"T": {"type": "array", "items": {"$ref": "#/$defs/T"}}});
    let modern = contract(json!({"$ref": "#/$defs/T", "$defs": definitions()}));
    let wrapped = |inner: Value, marked: bool| {
        contract(json!({
            "type": "object", "properties": {"result": inner}, "required": ["result"],
            "$defs": definitions(), "x-fastmcp-wrap-result": marked,
        }))
    };
    let legacy = wrapped(json!({"$ref": "#/$defs/T"}), true);
    assert!(modern.drift(&legacy).is_empty() && legacy.drift(&modern).is_empty());
    assert_eq!(modern.to_json(), legacy.to_json());
    let other = wrapped(json!({"type": "integer"}), true);
    assert_eq!(modern.drift(&other).worst(), Some(Severity::Breaking));
    let unmarked = wrapped(json!({"$ref": "#/$defs/T"}), false);
    assert_eq!(modern.drift(&unmarked).worst(), Some(Severity::Breaking));
}

#[test]
fn an_output_schema_without_constraints_equals_none() {
    let input = || json!({"type": "object"});
    let without = Contract::new().with_tools([tool("t", input())]);
    let with_output = |schema: Value| {
        let tool = tool("t", input()).with_output_schema(object(schema));
        Contract::new().with_tools([tool])
    };
    let anything = with_output(json!({"title": "Anything"}));
    assert!(without.drift(&anything).is_empty() && anything.drift(&without).is_empty());
    let number = with_output(json!({"type": "integer"}));
    assert_eq!(number.drift(&anything).worst(), Some(Severity::Breaking));
    assert_eq!(anything.drift(&number).worst(), Some(Severity::Additive));
}

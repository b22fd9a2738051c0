//! Tests of members that a part of a schema declares in addition to another part.

use serde_json::{Map, Value, json};

use super::hostile::within_time;
use super::schemas::check;
use super::{summaries, tool, tool_drift};
use crate::{Contract, DriftLimits, Severity};

fn part(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties})
}

fn with_mode(mut part: Value) -> Value {
    part["properties"]["mode"] = json!({"enum": ["fast"]});
    part
}

/// Checks that a member of the part at `path` is breaking for programs that send it, and additive for those that receive it.
#[track_caller]
fn check_narrowed(recorded: &Value, live: &Value, path: &str) {
    let added = format!("+{path}/properties/mode");
    let input = format!("{added} !{path}/properties/mode");
    check(recorded, live, &input, &added);
}

#[test]
fn an_argument_that_another_part_declares_is_narrowed() {
    let base = || part(&json!({"mode": {"type": "string"}}));
    let own = || part(&json!({"n": {"type": "integer"}}));
    let all = |own: Value| json!({"allOf": [base(), own]});
    check_narrowed(&all(own()), &all(with_mode(own())), "/allOf/1");
    let beside_choice = |mut own: Value| {
        own["oneOf"] = json!([base(), {"required": ["n"]}]);
        own
    };
    check_narrowed(&beside_choice(own()), &beside_choice(with_mode(own())), "");
    let any = |own: Value| json!({"anyOf": [base(), own]});
    check_narrowed(&any(own()), &any(with_mode(own())), "/anyOf/1");
    let nested = |own: Value| json!({"allOf": [base(), {"anyOf": [own, {"required": ["x"]}], "minProperties": 1}]});
    check_narrowed(
        &nested(own()),
        &nested(with_mode(own())),
        "/allOf/1/anyOf/0",
    );
    let dependent = |own: Value| {
        let mut base = base();
        base["dependentSchemas"] = json!({"n": own});
        base
    };
    check_narrowed(
        &dependent(own()),
        &dependent(with_mode(own())),
        "/dependentSchemas/n",
    );
    // In the other direction.
    let beside_dependent = |mut own: Value| {
        own["dependentSchemas"] = json!({"n": base()});
        own
    };
    check_narrowed(
        &beside_dependent(own()),
        &beside_dependent(with_mode(own())),
        "",
    );
    // Only `required` declares it.
    let required = |own: Value| json!({"allOf": [{"required": ["mode"]}, own]});
    check_narrowed(&required(own()), &required(with_mode(own())), "/allOf/1");
}

#[test]
fn an_added_argument_that_narrows_no_other_part_is_additive() {
    let own = || part(&json!({"n": {"type": "integer"}}));
    let (any, only) = (json!({"type": "string"}), json!({"enum": ["fast"]}));
    let base = |mode: &Value| part(&json!({"mode": mode}));
    let all = |base: Value, own: Value| json!({"allOf": [base, own]});
    // The same schema again, and one that allows every value.
    for (recorded, added) in [(&any, &any), (&only, &only), (&any, &json!({}))] {
        let mut live = own();
        live["properties"]["mode"] = added.clone();
        check(
            &all(base(recorded), own()),
            &all(base(recorded), live),
            "+/allOf/1/properties/mode",
            "+/allOf/1/properties/mode",
        );
    }
    // This part rejected the member.
    let mut closed = own();
    closed["additionalProperties"] = json!(false);
    check(
        &all(base(&any), closed.clone()),
        &all(base(&any), with_mode(closed)),
        "+/allOf/1/properties/mode",
        "+/allOf/1/properties/mode",
    );
    // Another value has a member of that name.
    let inner = |own: Value| part(&json!({"mode": {}, "inner": own}));
    let path = "+/properties/inner/properties/mode";
    check(&inner(own()), &inner(with_mode(own())), path, path);
}

#[test]
fn an_added_argument_of_a_distinct_alternative_is_additive() {
    let own = || part(&json!({"n": {"type": "integer"}}));
    let text = json!({"type": "string"});
    let variant = |kind: &str, mut variant: Value| {
        variant["properties"]["kind"] = json!({"const": kind});
        variant["required"] = json!(["kind"]);
        variant
    };
    for keyword in ["oneOf", "anyOf"] {
        for common in [json!({}), json!({"n": {"minimum": 0}})] {
            let choice = |own: Value| json!({"properties": common, keyword: [variant("a", part(&json!({"mode": text}))), variant("b", own)]});
            let path = format!("+/{keyword}/1/properties/mode");
            check(&choice(own()), &choice(with_mode(own())), &path, &path);
            let mut all_of = [choice(own()), choice(with_mode(own()))];
            for schema in &mut all_of {
                schema["properties"]["mode"] = text.clone();
            }
            let [recorded, live] = all_of;
            check_narrowed(&recorded, &live, &format!("/{keyword}/1"));
        }
    }
}

#[test]
fn a_shared_part_is_compared_with_the_other_parts_of_each_value() {
    let shared = |own: Value| {
        let base = json!({"$ref": "#/$defs/Base"});
        let declaring = json!({"allOf": [base, part(&json!({"mode": {"type": "string"}}))]});
        let properties = json!({"a": base, "b": declaring, "c": declaring, "d": base});
        json!({"type": "object", "properties": properties, "$defs": {"Base": own}})
    };
    let own = || part(&json!({"n": {"type": "integer"}, "child": {"$ref": "#/$defs/Base"}}));
    let mut live = with_mode(own());
    live["minProperties"] = json!(1);
    live["required"] = json!(["n"]);
    live["properties"]["n"]["type"] = json!("string");
    let drift = tool_drift(tool("t", shared(own())), tool("t", shared(live)));
    let path = "/inputSchema/$defs/Base";
    // Each difference is reported once.
    let expected = [
        format!("additive {path}/properties/mode"),
        format!("breaking {path}/minProperties"),
        format!("breaking {path}/properties/mode"),
        format!("breaking {path}/properties/n"),
        format!("breaking {path}/properties/n/type"),
    ];
    assert_eq!(summaries(&drift), expected);
}

#[test]
fn a_shared_part_is_compared_in_each_branch_of_a_choice() {
    let branch = |kind: &str, mut properties: Value| {
        properties["kind"] = json!({"const": kind});
        json!({
            "type": "object", "required": ["kind"], "properties": properties,
            "allOf": [{"$ref": "#/$defs/Base"}],
        })
    };
    let choice = |base: Value| {
        let declaring = branch("b", json!({"mode": {"type": "string"}}));
        let branches = json!([branch("a", json!({})), branch("c", json!({})), declaring]);
        json!({"type": "object", "oneOf": branches, "$defs": {"Base": base}})
    };
    let own = || part(&json!({"n": {}}));
    let drift = tool_drift(
        tool("t", choice(own())),
        tool("t", choice(with_mode(own()))),
    );
    assert_eq!(drift.worst(), Some(Severity::Breaking), "{drift}");
}

#[test]
fn comparison_of_many_shared_parts_is_bounded() {
    let contract = |with_mode: bool| {
        let (mut members, mut definitions) = (Map::new(), Map::new());
        let parts: Vec<_> = (0..20)
            .map(|number| json!({"$ref": format!("#/$defs/d{number}")}))
            .collect();
        for number in 0..20 {
            let mut properties = json!({format!("n{number}"): {}});
            if with_mode {
                properties["mode"] = json!({"enum": [number]});
            }
            definitions.insert(format!("d{number}"), part(&properties));
            let mut all = parts.clone();
            all.push(part(&json!({"mode": {}})));
            members.insert(format!("m{number}"), json!({"allOf": all}));
        }
        let schema = json!({"type": "object", "properties": members, "$defs": definitions});
        Contract::new().with_tools([tool("t", schema)])
    };
    let (recorded, live) = (contract(false), contract(true));
    let drift = within_time(|| recorded.drift(&live));
    assert_eq!(drift.count(Severity::Breaking), 20, "{drift}");
    let limits = DriftLimits::default().steps(2_000);
    let drift = within_time(|| recorded.drift_within(&live, &limits));
    assert!(drift.to_string().contains("2000 steps"), "{drift}");
}

//! Tests of choices, references and the texts in them.

use serde_json::{Value, json};

use super::schemas::check;
use super::{summaries, tool, tool_drift};

#[test]
fn branches_are_matched_by_identity() {
    let shape = |kind: &str, size: Value| {
        json!({
            "type": "object", "required": ["kind", "size"],
            "properties": {"kind": {"const": kind}, "size": size},
        })
    };
    let (small, large) = (
        json!({"type": "integer", "maximum": 5}),
        json!({"type": "integer"}),
    );
    let shapes = |list: &[(&str, &Value)]| {
        let list = list.iter().map(|(kind, size)| shape(kind, (*size).clone()));
        json!({"oneOf": list.collect::<Vec<_>>()})
    };
    // Two branches have changed and moved. The tag `kind` identifies them.
    let recorded = shapes(&[("a", &small), ("b", &small), ("c", &small)]);
    let live = shapes(&[("c", &large), ("b", &large), ("a", &small)]);
    check(
        &recorded,
        &live,
        "+/oneOf/0/properties/size/maximum +/oneOf/1/properties/size/maximum",
        "!/oneOf/0/properties/size/maximum !/oneOf/1/properties/size/maximum",
    );
    let more = shapes(&[("a", &small), ("b", &small), ("c", &small), ("d", &small)]);
    check(&recorded, &more, "+/oneOf", "!/oneOf");
    check(&more, &recorded, "!/oneOf", "+/oneOf");
    // A schema becomes one of several alternatives.
    let text = json!({"type": "string"});
    let several = json!({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]});
    check(&text, &several, "+/anyOf", "!/anyOf");
}

#[test]
fn texts_are_reported_at_any_position_and_once() {
    let words = |description: &str| json!({"type": "string", "description": description});
    check(
        &words("old"),
        &words("new"),
        "~/description",
        "~/description",
    );
    check(
        &json!({"type": "string"}),
        &words("new"),
        "~/description",
        "~/description",
    );
    check(
        &json!({"type": "string", "title": "A", "examples": [1], "x-vendor": {}}),
        &json!({"type": "string", "title": "B", "examples": [2], "x-vendor": []}),
        "~/title ~/examples ~/x-vendor",
        "~/title ~/examples ~/x-vendor",
    );
    check(
        &json!({"not": words("old")}),
        &json!({"not": words("new")}),
        "~/not/description",
        "~/not/description",
    );
    check(
        &json!({"anyOf": [words("old"), {"type": "integer"}, {"type": "null"}]}),
        &json!({"anyOf": [{"type": "integer"}, words("new"), {"type": "null"}]}),
        "~/anyOf/1/description",
        "~/anyOf/1/description",
    );
    let defaults = [
        json!({"type": "integer", "default": 1}),
        json!({"type": "integer", "default": 2}),
    ];
    check(&defaults[0], &defaults[1], "+/default", "~/default");
    // Two members refer to the definition, one with a description of its own. The change is reported once.
    let whole = |text: &str| {
        json!({
            "type": "object", "$defs": {"d": words(text)},
            "properties": {"x": {"$ref": "#/properties/a/$defs/d"}, "y": {"$ref": "#/properties/a/$defs/d", "description": "y"}},
        })
    };
    check(
        &whole("old"),
        &whole("new"),
        "~/$defs/d/description",
        "~/$defs/d/description",
    );
}

#[test]
fn texts_of_unreferenced_definitions_are_reported() {
    let schema = |text: &str| json!({"type": "object", "$defs": {"unused": {"description": text}, "same": {"type": "string"}}});
    let drift = tool_drift(tool("t", schema("old")), tool("t", schema("new")));
    assert_eq!(summaries(&drift), ["wording /inputSchema/$defs/unused"]);
}

#[test]
fn comparison_of_recursive_schemas_terminates() {
    let tree = |leaf: Value| {
        json!({
            "type": "object", "properties": {"root": {"$ref": "#/$defs/node"}},
            "$defs": {"node": {
                "type": "object",
                "properties": {"leaf": leaf, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "anyOf": [{"required": ["leaf"]}, {"properties": {"children": {"items": {"$ref": "#/$defs/node"}}}}],
            }},
        })
    };
    let (recorded, live) = (
        tree(json!({"type": "string"})),
        tree(json!({"type": "string", "maxLength": 3})),
    );
    let drift = tool_drift(tool("t", recorded.clone()), tool("t", live));
    assert!(
        summaries(&drift)
            .contains(&"breaking /inputSchema/$defs/node/properties/leaf/maxLength".to_owned()),
        "{drift}"
    );
    // The same tree with one level unrolled.
    let mut unrolled = recorded.clone();
    unrolled["properties"]["root"] = recorded["$defs"]["node"].clone();
    assert_eq!(
        summaries(&tool_drift(tool("t", recorded), tool("t", unrolled))),
        [""; 0]
    );
    // Circular references.
    let circle = |to: &str| json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": to}}});
    let drift = tool_drift(
        tool("t", circle("#/$defs/a")),
        tool("t", circle("#/$defs/b")),
    );
    assert!(drift.changes().len() < 3, "{drift}");
}

#[test]
fn unresolved_references_stand_for_all_definitions() {
    for reference in ["https://example.com/d", "#anchored"] {
        let schema = |definition: Value| {
            json!({
                "type": "object", "properties": {"x": {"$ref": reference}},
                "$defs": {"d": {"$id": "https://example.com/d", "$anchor": "anchored", "type": definition}},
            })
        };
        let drift = tool_drift(
            tool("t", schema(json!("string"))),
            tool("t", schema(json!("integer"))),
        );
        assert_eq!(
            summaries(&drift),
            ["breaking /inputSchema/$defs/d"],
            "{reference}"
        );
    }
}

#[test]
fn members_of_a_removed_subschema_are_reported() {
    let part = |name: &str| json!({"properties": {name: {"type": "integer"}}});
    let base = part("city");
    let whole = |keyword: &str, value: Value| {
        json!({
            "type": "object", "maxProperties": 9, keyword: value,
            "$defs": {"base": base, "days": {"anyOf": [part("days"), {"$ref": "#/$defs/days"}]}},
        })
    };
    let found = |recorded: &Value, live: &Value| {
        summaries(&tool_drift(
            tool("t", recorded.clone()),
            tool("t", live.clone()),
        ))
    };
    let root = |schema: &Value| found(schema, &whole("x", json!(1)));
    for (keyword, value) in [
        ("allOf", json!([{"$ref": "#/$defs/base"}, part("days")])),
        ("anyOf", json!([part("days"), {"required": ["city"]}])),
        ("oneOf", json!([part("days"), {"required": ["city"]}])),
        ("$ref", json!("#/$defs/days")),
    ] {
        let drift = root(&whole(keyword, value));
        let at = format!("breaking /inputSchema/{keyword}");
        assert!(drift.contains(&at), "{keyword}: {drift:?}");
    }
    let one = json!([{"$ref": "#/$defs/base"}, part("days")]);
    let base_only = whole("allOf", json!([{"$ref": "#/$defs/base"}]));
    assert_eq!(
        found(&whole("allOf", one), &base_only),
        ["breaking /inputSchema/allOf"]
    );
    // Members that are declared elsewhere are not lost, so the change removes a constraint.
    for keyword in ["allOf", "anyOf"] {
        let both = json!({"city": {"type": "integer"}, "days": {"type": "integer"}});
        let asks = json!({"properties": both, keyword: [{"required": ["city"]}, part("days")]});
        check(
            &asks,
            &json!({"properties": both}),
            &format!("+/{keyword}"),
            &format!("!/{keyword}"),
        );
    }
}

#[test]
fn a_member_without_allowed_values_counts_as_absent() {
    let price = |price: Value| json!({"properties": {"price": price}});
    let number = price(json!({"type": "number"}));
    for never in [
        json!(false),
        json!({"not": {}}),
        json!({"$ref": "#/properties/a/$defs/no"}),
    ] {
        let mut never = price(never);
        never["$defs"] = json!({"no": false});
        check(&number, &never, "!/properties/price", "!/properties/price");
        check(&never, &number, "+/properties/price", "+/properties/price");
        check(&never, &price(json!(false)), "", "");
        // The member is forbidden without being declared as allowed before.
        check(
            &json!({"properties": {}}),
            &never,
            "!/properties/price",
            "+/properties/price",
        );
        check(
            &never,
            &json!({"properties": {}}),
            "+/properties/price",
            "+/properties/price",
        );
    }
}

//! Schemas of schemas: choices, references, and the words in them.

use serde_json::{Value, json};

use super::schemas::check;
use super::{between, told, tool};

#[test]
fn choices_are_matched_by_what_they_are() {
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
    // Two have changed and stand elsewhere; each is known by its kind.
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
    // A schema that becomes one of several.
    let text = json!({"type": "string"});
    let several = json!({"anyOf": [{"type": "integer"}, {"type": "string"}, {"type": "null"}]});
    check(&text, &several, "+/anyOf", "!/anyOf");
}

#[test]
fn words_are_told_wherever_they_stand_and_once() {
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
    // The words of a definition, once, though two members refer to it, one of them with words of its own.
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
fn words_where_nothing_refers_to_are_told_too() {
    let schema = |text: &str| json!({"type": "object", "$defs": {"unused": {"description": text}, "same": {"type": "string"}}});
    let drift = between(tool("t", schema("old")), tool("t", schema("new")));
    assert_eq!(told(&drift), ["wording /inputSchema/$defs/unused"]);
}

#[test]
fn recursive_schemas_are_compared_and_come_to_an_end() {
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
    let drift = between(tool("t", recorded.clone()), tool("t", live));
    assert!(
        told(&drift)
            .contains(&"breaking /inputSchema/$defs/node/properties/leaf/maxLength".to_owned()),
        "{drift}"
    );
    // The same tree, written out by one level.
    let mut unrolled = recorded.clone();
    unrolled["properties"]["root"] = recorded["$defs"]["node"].clone();
    assert_eq!(
        told(&between(tool("t", recorded), tool("t", unrolled))),
        [""; 0]
    );
    // References in a circle.
    let circle = |to: &str| json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": to}}});
    let drift = between(
        tool("t", circle("#/$defs/a")),
        tool("t", circle("#/$defs/b")),
    );
    assert!(drift.changes().len() < 3, "{drift}");
}

#[test]
fn references_that_are_not_understood_are_as_good_as_all_definitions() {
    for reference in ["https://example.com/d", "#anchored"] {
        let schema = |definition: Value| {
            json!({
                "type": "object", "properties": {"x": {"$ref": reference}},
                "$defs": {"d": {"$id": "https://example.com/d", "$anchor": "anchored", "type": definition}},
            })
        };
        let drift = between(
            tool("t", schema(json!("string"))),
            tool("t", schema(json!("integer"))),
        );
        assert_eq!(
            told(&drift),
            ["breaking /inputSchema/$defs/d"],
            "{reference}"
        );
    }
}

#[test]
fn members_that_a_part_named_are_gone_with_it() {
    let part = |name: &str| json!({"properties": {name: {"type": "integer"}}});
    let base = part("city");
    let whole = |keyword: &str, value: Value| {
        json!({
            "type": "object", "maxProperties": 9, keyword: value,
            "$defs": {"base": base, "days": {"anyOf": [part("days"), {"$ref": "#/$defs/days"}]}},
        })
    };
    let found = |recorded: &Value, live: &Value| {
        told(&between(
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
    // What is named elsewhere is not gone: less is asked for.
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
fn a_member_that_cannot_have_a_value_is_not_there() {
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
        // As if all others were refused, and are not any more.
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

//! Tables: a schema as it was recorded, as it is, and what follows for those who send such values and who get them.

use serde_json::{Value, json};

use super::{between, told, tool};

/// Compares two schemas as those of an argument and of a member of the result.
fn drifts(recorded: &Value, live: &Value) -> [Vec<String>; 2] {
    let whole = |schema: &Value| json!({"type": "object", "properties": {"a": schema}});
    let input = |schema: &Value| tool("t", whole(schema));
    let output = |schema: &Value| {
        tool("t", json!({"type": "object"})).with_output_schema(super::object(whole(schema)))
    };
    let found = [
        between(input(recorded), input(live)),
        between(output(recorded), output(live)),
    ];
    found.map(|drift| {
        let told = told(&drift).into_iter();
        told.map(|line| {
            line.replace("/inputSchema/properties/a", "")
                .replace("/outputSchema/properties/a", "")
        })
        .collect()
    })
}

/// Fails unless what was found is this: `!` is breaking, `+` additive, `~` wording, each with a path.
#[track_caller]
fn check(recorded: &Value, live: &Value, input: &str, output: &str) {
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

/// Checks a table in both directions: what is narrower for one is wider for the other.
#[track_caller]
fn check_narrowing(table: &[(Value, Value, &str)]) {
    for (wide, narrow, path) in table {
        let (breaking, additive) = (format!("!{path}"), format!("+{path}"));
        check(wide, narrow, &breaking, &additive);
        check(narrow, wide, &additive, &breaking);
    }
}

#[test]
fn what_allows_less_breaks_those_who_send_and_what_allows_more_those_who_read() {
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
        (json!({"type": "string"}), json!(false), ""),
        (json!({"type": "string"}), json!({"not": {}}), ""),
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
            json!({"type": "string", "allOf": [{"minLength": 1}, {"maxLength": 3}]}),
            "/allOf",
        ),
    ]);
}

#[test]
fn members_are_judged_by_their_names() {
    let object = |properties: Value, required: Value| json!({"type": "object", "properties": properties, "required": required});
    let none = object(json!({}), json!([]));
    let optional = object(json!({"x": {"type": "string"}}), json!([]));
    let required = object(json!({"x": {"type": "string"}}), json!(["x"]));
    check(&none, &optional, "+/properties/x", "+/properties/x");
    check(&none, &required, "!/properties/x", "+/properties/x");
    check(&optional, &none, "!/properties/x", "!/properties/x");
    check(&required, &none, "!/properties/x", "!/properties/x");
    check(&optional, &required, "!/properties/x", "+/properties/x");
    check(&required, &optional, "+/properties/x", "!/properties/x");

    let closed = |mut schema: Value| {
        schema["additionalProperties"] = json!(false);
        schema
    };
    check(
        &closed(optional.clone()),
        &closed(none.clone()),
        "!/properties/x",
        "!/properties/x",
    );
    check(
        &closed(none.clone()),
        &closed(optional.clone()),
        "+/properties/x",
        "+/properties/x",
    );
    // A reader does not see what it does not know of, so more members are no loss to it.
    check(
        &none,
        &closed(none.clone()),
        "!/additionalProperties",
        "+/additionalProperties",
    );
    check(
        &closed(none.clone()),
        &none,
        "+/additionalProperties",
        "+/additionalProperties",
    );
}

#[test]
fn a_map_that_gets_a_member_with_another_type_has_changed_for_its_readers() {
    let map = json!({"type": "object", "additionalProperties": {"type": "integer"}});
    let mut with_member = map.clone();
    with_member["properties"] = json!({"x": {"type": "string"}});
    check(
        &map,
        &with_member,
        "+/properties/x !/properties/x/type",
        "+/properties/x !/properties/x/type",
    );
    let of_texts = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let path = "!/additionalProperties/type";
    check(&map, &of_texts, path, path);
}

#[test]
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
fn what_has_another_type_breaks_both() {
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

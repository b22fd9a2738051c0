//! Arguments and documentation that are generated for schemas.

use serde_json::{Value, json};
use treenail_codegen::Client;

/// Returns the client of a tool `tool` with this input schema.
fn code(schema: &Value) -> String {
    let tool = json!({"name": "tool", "inputSchema": schema});
    let lock = json!({"treenailLock": 1, "server": {"name": "s"}, "tools": [tool]});
    let client = Client::from_json(lock.to_string());
    client.to_rust().expect("the lock file is valid")
}

/// Returns the documentation of the member `x` of a schema with these definitions.
fn docs(member: &Value, definitions: &Value) -> String {
    let code = code(&json!({"properties": {"x": member}, "$defs": definitions}));
    let (before, _) = code.split_once("pub x: ").expect("it has the member");
    let (_, docs) = before
        .rsplit_once("pub struct Tool {")
        .expect("it is in the struct");
    let lines = docs
        .lines()
        .filter_map(|line| line.trim().strip_prefix("///"));
    lines
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn a_tool_takes_arguments_unless_its_schema_excludes_them() {
    let open = json!({"additionalProperties": true});
    let closed = json!({"additionalProperties": false});
    for (schema, takes_arguments) in [
        (json!({}), false),
        (
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Empty"}),
            false,
        ),
        (
            json!({"type": "object", "properties": {}, "required": [], "x-note": 1}),
            false,
        ),
        (
            json!({"type": "object", "additionalProperties": false}),
            false,
        ),
        (json!({"type": ["object"], "properties": {}}), false),
        (json!({"type": ["null", "object"]}), false),
        (json!({"type": "string"}), true),
        (
            json!({"type": "object", "$ref": "#/$defs/F", "$defs": {"F": closed}}),
            false,
        ),
        (
            json!({"type": "object", "additionalProperties": true}),
            true,
        ),
        (
            json!({"type": "object", "$ref": "#/$defs/F", "$defs": {"F": open}}),
            true,
        ),
        (json!({"type": "object", "allOf": [open]}), true),
        (json!({"type": "object", "minProperties": 1}), true),
        (
            json!({"type": "object", "propertyNames": {"pattern": "^x"}}),
            true,
        ),
        (
            json!({"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            true,
        ),
        (json!({"type": "object", "properties": {"x": false}}), true),
    ] {
        let code = code(&schema);
        assert_eq!(code.contains("arguments: "), takes_arguments, "{schema}");
    }
}

#[test]
fn referenced_constraints_are_documented() {
    let definitions = json!({
        "Name": {"type": "string", "maxLength": 5, "description": "A short name.", "default": "a"},
        "Names": {"type": "array", "items": {"$ref": "#/$defs/Name"}, "minItems": 2},
        "Level": {"enum": ["low"], "description": "The level."},
        "Loop": {"allOf": [{"$ref": "#/$defs/Loop"}]},
    });
    let short = "At most `5` characters.";
    for (member, expected) in [
        (json!({"$ref": "#/$defs/Name"}), format!("A short name. {short} Default: `\"a\"`.")),
        (
            json!({"$ref": "#/$defs/Name", "description": "Mine.", "default": "b"}),
            format!("Mine. Default: `\"b\"`. {short}"),
        ),
        (json!({"anyOf": [{"$ref": "#/$defs/Name"}, {"type": "null"}]}), format!("A short name. {short} Default: `\"a\"`.")),
        (json!({"allOf": [{"type": "string"}, {"maxLength": 5}]}), format!("`x` {short}")),
        (
            json!({"type": "array", "items": {"type": "string", "maxLength": 5}, "maxItems": 3}),
            "`x` At most `3` items. Each item: at most `5` characters.".to_owned(),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer", "maximum": 3}}),
            "`x` Each value: at most `3`.".to_owned(),
        ),
        (
            json!({"$ref": "#/$defs/Names"}),
            "`x` At least `2` items. Each item: at most `5` characters. Each item: default: `\"a\"`.".to_owned(),
        ),
        (json!({"$ref": "#/$defs/Level"}), "`x`".to_owned()),
        (json!({"$ref": "#/$defs/Loop"}), "It is any JSON, because its references form a cycle.".to_owned()),
    ] {
        assert_eq!(docs(&member, &definitions), expected, "{member}");
    }
    let constants: Vec<_> = (0..501).map(|at| format!("c{at}")).collect();
    let many = json!({"type": ["string", "null"], "enum": constants});
    assert_eq!(
        docs(&many, &json!({})),
        "`x` One of more than 500 constants of the schema."
    );
}

#[test]
fn a_merged_member_has_the_notes_of_all_forms() {
    let form = |least: u8, other: &str| {
        let x = json!({"type": "string", "minLength": least, "pattern": "^a"});
        json!({"type": "object", "properties": {"x": x, other: {}}})
    };
    let code = code(&json!({"anyOf": [form(1, "a"), form(2, "b")]}));
    assert!(code.contains("/// Pattern: `^a`."), "{code}");
    assert!(!code.contains("characters."), "{code}");
}

#[test]
fn merged_members_stay_in_order() {
    let first = json!({"properties": {"a": {"type": "string"}, "b": {}, "c": {}}, "required": ["a", "b", "c"]});
    let other = json!({"properties": {"b": {"type": "string"}, "a": {"minLength": 1}}});
    let code = code(&json!({"allOf": [first, other]}));
    let fields: Vec<&str> = code
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub "))
        .filter(|line| line.ends_with(','))
        .collect();
    assert_eq!(fields, ["a: String,", "b: String,", "c: Value,"], "{code}");
}

#[test]
fn open_alternatives_keep_the_types_of_their_members() {
    let form = |member: &str, kind: &str| {
        json!({
            "type": "object", "required": [member], "additionalProperties": true,
            "properties": {member: {"type": kind}},
        })
    };
    let forms = [form("path", "string"), form("count", "integer")];
    let code = code(&json!({"type": "object", "properties": {"x": {"anyOf": forms}}}));
    for field in ["pub path: Option<String>", "pub count: Option<i64>"] {
        assert!(code.contains(field), "{field}: {code}");
    }
}

#[test]
fn a_form_whose_optional_member_is_null_is_not_chosen_before_another() {
    // `{"a": "1", "n": null, "b": "2"}` matches the second form only.
    let form = |member: &str| {
        json!({
            "type": "object", "required": [member],
            "properties": {member: {"type": "string"}, "n": {"type": "string"}},
        })
    };
    let forms = [form("a"), form("b")];
    let code = code(&json!({"type": "object", "properties": {"x": {"oneOf": forms}}}));
    for field in ["pub a: Option<String>", "pub b: Option<String>"] {
        assert!(code.contains(field), "the forms are merged: {code}");
    }
}

#[test]
fn long_documentation_takes_no_types_from_other_tools() {
    let members: serde_json::Map<_, _> = (0..150)
        .map(|at| (format!("m{at}"), json!({"$ref": "#/$defs/Id"})))
        .collect();
    let long = json!({"type": "string", "description": "x".repeat(4_000)});
    let mut tools: Vec<_> = (0..12)
        .map(|at| {
            let schema = json!({"type": "object", "properties": members, "$defs": {"Id": long}});
            json!({"name": format!("tool{at:02}"), "inputSchema": schema})
        })
        .collect();
    let parts = [
        json!({"properties": {"a": {"type": "string"}}}),
        json!({"properties": {"b": {"type": "string"}}}),
    ];
    tools.push(json!({"name": "zoo", "inputSchema": {"type": "object", "allOf": parts}}));
    let lock = json!({"treenailLock": 1, "server": {"name": "s"}, "tools": tools});
    let code = Client::from_json(lock.to_string())
        .to_rust()
        .expect("the lock file is valid");
    assert!(!code.contains("merge steps"));
}

#[test]
fn references_within_a_schema_with_an_id_are_not_those_of_the_document() {
    let reason = "has an `$id` of its own";
    let inner = json!({"$id": "a.json", "type": "object", "properties": {"x": {"$ref": "#"}}});
    let own = code(&json!({"type": "object", "required": ["a"], "properties": {"a": inner}}));
    assert!(!own.contains("pub x: ") && own.contains(reason), "{own}");

    let definition = json!({
        "$id": "a.json", "properties": {"x": {"$ref": "#/$defs/B"}}, "$defs": {"B": {"type": "string"}},
    });
    let other = json!({"type": "integer", "description": "Other."});
    let definitions = json!({"A": definition, "B": other});
    let reference = json!({"$ref": "#/$defs/A"});
    // As a member, merged, as an alternative, and as an item.
    for member in [
        reference.clone(),
        json!({"allOf": [reference, {"required": ["x"]}]}),
        json!({"anyOf": [reference, {"type": "string"}], "minProperties": 1}),
        json!({"type": "array", "items": reference}),
    ] {
        let schema = json!({"properties": {"a": member}, "$defs": definitions});
        let code = code(&schema);
        assert!(!code.contains("i64") && code.contains(reason), "{code}");
    }
    let member = json!({"$id": "a.json", "$ref": "#/$defs/B", "title": "Own"});
    let docs = docs(&member, &definitions);
    assert!(docs.contains("Own") && !docs.contains("Other"), "{docs}");
}

#[test]
fn an_id_without_effect_on_references_keeps_the_types() {
    let definitions = json!({"B": {"type": "integer"}});
    let with_reference = json!({"properties": {"x": {"$ref": "#/$defs/B"}}});
    let with = |mut schema: Value, id: &str| {
        schema["$id"] = json!(id);
        schema
    };
    let member = |member: Value| json!({"properties": {"a": member}, "$defs": definitions});
    let whole = |mut schema: Value| {
        schema["$defs"] = definitions.clone();
        with(schema, "https://a.example/root.json")
    };
    let choice = json!([{"required": ["y"], "properties": {"y": {"$ref": "#/$defs/B"}}}, {}]);
    for schema in [
        // The `$id` of the document, also if copies of it are read.
        whole(with_reference.clone()),
        whole(json!({"allOf": [with_reference, {"required": ["x"]}]})),
        whole(json!({"type": ["object", "null"], "properties": {"x": {"$ref": "#/$defs/B"}}})),
        whole(json!({"properties": {"x": {"$ref": "#/$defs/B"}}, "anyOf": choice})),
        // An anchor of earlier drafts, and a schema without references.
        member(with(with_reference.clone(), "#a")),
        member(with(
            json!({"properties": {"x": {"type": "integer"}}}),
            "/properties/a",
        )),
    ] {
        let code = code(&schema);
        assert!(
            code.contains("pub x: ") && code.contains("i64"),
            "{schema}: {code}"
        );
        assert!(!code.contains("`$id`"), "{schema}: {code}");
    }
    let count = json!({"type": "integer", "minimum": 1, "description": "Count."});
    let member = json!({"$id": "/properties/a", "anyOf": [count, {"type": "null"}]});
    let docs = docs(&member, &definitions);
    assert!(docs.contains("Count."), "{docs}");
}

#[test]
fn a_described_member_that_is_required_counts_once() {
    let wide = |described: usize, required: usize| {
        let names: Vec<_> = (0..required).map(|index| format!("p{index}")).collect();
        let members = names[..described].iter();
        let members: serde_json::Map<_, _> = members
            .map(|name| (name.clone(), json!({"type": "string"})))
            .collect();
        // A name that is there twice counts once, too.
        let required = [&names[..], &names[..1]].concat();
        code(&json!({"type": "object", "properties": members, "required": required}))
    };
    for (described, required) in [(150, 150), (200, 200), (100, 200)] {
        let code = wide(described, required);
        let last = format!("pub p{}: ", required - 1);
        assert!(code.contains(&last), "{described}, {required}");
    }
    for (described, required) in [(201, 201), (100, 201)] {
        let code = wide(described, required);
        assert!(code.contains("there are more than 200 members"), "{code}");
    }
}

//! Tests of drifts of the members of objects, and of constraints by the names of members.

use serde_json::{Value, json};

use super::schemas::check;

#[test]
fn members_are_compared_by_name() {
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
    // A program ignores unknown members, so additional ones do not break it.
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
fn a_required_member_that_is_rejected_allows_no_object() {
    let closed = |required: Value| json!({"properties": {"a": {}}, "required": required, "additionalProperties": false});
    let (one, both) = (closed(json!(["a"])), closed(json!(["a", "b"])));
    check(&one, &both, "!/properties/b", "+/properties/b");
    check(&both, &one, "+/properties/b", "!/properties/b");
    check(&both, &both, "", "");
}

#[test]
fn a_declared_member_with_another_type_breaks_a_map() {
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
fn a_required_member_that_is_undeclared_has_the_schema_of_others() {
    let object = |properties: Value, others: Value| json!({"type": "object", "properties": properties, "required": ["x"], "additionalProperties": others});
    let declared = json!({"x": {"type": "integer"}});
    let closed = object(declared.clone(), json!(false));
    check(
        &closed,
        &object(json!({}), json!(false)),
        "!/properties/x",
        "!/properties/x",
    );
    check(
        &closed,
        &object(json!({}), json!({"type": "string"})),
        "!/properties/x/type +/additionalProperties",
        "!/properties/x/type +/additionalProperties",
    );
    check(
        &object(json!({}), json!({"type": "number"})),
        &object(declared, json!({"type": "number"})),
        "!/properties/x/type",
        "+/properties/x/type",
    );
}

#[test]
fn a_member_with_another_schema_than_its_pattern_breaks() {
    let object = |pattern: &str, properties: Value| json!({"type": "object", "patternProperties": {pattern: {"type": "string"}}, "properties": properties});
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    for (pattern, changes) in [
        ("^x", "+/properties/xa !/properties/xa/type"),
        ("^xa$", "+/properties/xa !/properties/xa/type"),
        (".*", "+/properties/xa !/properties/xa/type"),
        ("^[a-z]+$", "+/properties/xa !/properties/xa"),
        ("^y", "+/properties/xa"),
    ] {
        let none = object(pattern, json!({}));
        let added = object(pattern, json!({"xa": number}));
        check(&none, &added, changes, changes);
        let same = object(pattern, json!({"xa": text}));
        check(&none, &same, "+/properties/xa", "+/properties/xa");
    }
}

#[test]
fn a_required_member_may_match_a_pattern() {
    let closed = |mut schema: Value| {
        schema["type"] = json!("object");
        schema["required"] = json!(["xa"]);
        schema["additionalProperties"] = json!(false);
        schema
    };
    let declared = |kind: &str| {
        closed(json!({"properties": {"xa": {"type": kind}}, "patternProperties": {"^x": {}}}))
    };
    let matched = closed(json!({"patternProperties": {"^x": {"type": "string"}}}));
    let narrowed = "!/patternProperties/^x/type";
    let unread = "+/patternProperties/^x/type";
    check(&declared("string"), &matched, narrowed, unread);
    let both = format!("{narrowed} !/properties/xa/type");
    let unread = format!("{unread} !/properties/xa/type");
    check(&declared("integer"), &matched, &both, &unread);
}

#[test]
fn constraints_by_name_without_effect_are_no_change() {
    let object = json!({"type": "object"});
    for keyword in ["patternProperties", "dependentSchemas"] {
        let with_none = json!({"type": "object", keyword: {"a": {}}});
        check(&object, &with_none, "", "");
        check(&with_none, &object, "", "");
    }
    // It exempts members from the schema of the others.
    let closed = json!({"type": "object", "additionalProperties": false});
    let mut exempt = closed.clone();
    exempt["patternProperties"] = json!({"^a": {}});
    let path = "!/patternProperties/^a";
    check(&closed, &exempt, path, path);
    let text = json!({"type": "string"});
    check(&text, &json!({"type": "string", "not": false}), "", "");
}

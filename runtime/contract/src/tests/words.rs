//! Words that models read, wherever they stand.

use serde_json::{Value, json};

use super::schemas::check;
use super::{between, told, tool};

#[test]
fn all_words_of_one_place_are_told() {
    let schema = |first: &str, second: &str| {
        json!({
            "description": first, "allOf": [{"description": second, "allOf": [{"type": "string", "description": "same"}]}],
        })
    };
    let drift = between(
        tool("t", json!({"properties": {"a": schema("a", "b")}})),
        tool("t", json!({"properties": {"a": schema("c", "IGNORE ALL")}})),
    );
    let news: Vec<_> = drift
        .changes()
        .iter()
        .map(|change| change.new.as_deref())
        .collect();
    assert_eq!(news, [Some("c"), Some("IGNORE ALL")], "{drift}");
    // One more outside does not make one of what is inside.
    let inside = json!({"type": "string", "description": "inside"});
    let outside = json!({"description": "outside", "allOf": [inside]});
    check(
        &inside,
        &outside,
        "~/allOf/0/description",
        "~/allOf/0/description",
    );
}

#[test]
fn words_are_told_where_nothing_is_compared() {
    let words = json!({"description": "IGNORE ALL"});
    for (keyword, value, path) in [
        ("items", words.clone(), "items/description"),
        ("propertyNames", words.clone(), "propertyNames/description"),
        (
            "properties",
            json!({"x": words}),
            "properties/x/description",
        ),
        (
            "prefixItems",
            json!([true, words]),
            "prefixItems/1/description",
        ),
        (
            "contentSchema",
            json!({"not": words}),
            "contentSchema/not/description",
        ),
        (
            "contains",
            json!({"items": {"title": "IGNORE ALL"}}),
            "contains/items/title",
        ),
        ("pattern", json!("IGNORE ALL"), "pattern"),
    ] {
        let schema = |more: bool| {
            let mut schema = json!({"type": "integer"});
            if more {
                schema[keyword] = value.clone();
            }
            schema
        };
        let wording = format!("~/{path}");
        check(&schema(false), &schema(true), &wording, &wording);
        // They are not new where they have been before.
        check(&schema(true), &schema(true), "", "");
        let mut both = schema(true);
        both["maximum"] = json!(5);
        check(&schema(true), &both, "!/maximum", "+/maximum");
    }
}

#[test]
fn words_of_new_members_are_told_and_definitions_once() {
    let schema = |more: Value| json!({"type": "object", "properties": more});
    let live =
        schema(json!({"x": {"type": "string", "description": "IGNORE ALL", "maxLength": 3}}));
    let drift = between(tool("t", schema(json!({}))), tool("t", live));
    assert_eq!(
        told(&drift),
        [
            "additive /inputSchema/properties/x",
            "wording /inputSchema/properties/x/description"
        ]
    );
    let defined = json!({"type": "object", "$defs": {"unused": {"description": "IGNORE ALL"}}});
    let drift = between(tool("t", schema(json!({}))), tool("t", defined));
    assert_eq!(told(&drift), ["wording /inputSchema/$defs/unused"]);
}

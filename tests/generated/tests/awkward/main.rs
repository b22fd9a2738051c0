//! Types of awkward schemas: serialization, and fallback to any JSON with the documented reason.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod alternatives;
mod any_json;
mod conditions;
mod constants;
mod names;
mod nullable;
mod overlaps;
mod recorded;
mod text;

use std::fmt::Debug;
use std::path::Path;

use generated::awkward::{draft_07, lists, recursive, wide};
use serde_json::{Value, json};
use treenail::__private_0_1_0::serde::{Serialize, de::DeserializeOwned};

/// Asserts that a value survives deserialization and serialization.
#[allow(clippy::needless_pass_by_value, reason = "callers pass literals")]
fn round_trips<T: DeserializeOwned + Serialize + Debug>(value: Value) -> T {
    let read: T =
        serde_json::from_value(value.clone()).unwrap_or_else(|error| panic!("{value}: {error}"));
    assert_eq!(serde_json::to_value(&read).unwrap(), value);
    read
}

/// Returns the error for an invalid value.
fn error_of<T: DeserializeOwned + Debug>(value: &Value) -> String {
    serde_json::from_value::<T>(value.clone())
        .unwrap_err()
        .to_string()
}

/// Returns the code for a lock file.
fn generated_code(topic: &str) -> String {
    let file = format!("awkward/{topic}.json");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let client = treenail_codegen::Client::new(file);
    let code = client.to_rust().unwrap();
    assert_eq!(
        code,
        client.to_rust().unwrap(),
        "the output is deterministic"
    );
    code
}

/// Asserts that a documentation line precedes a member or a method.
fn assert_documented(code: &str, docs: &str, item: &str) {
    let found = code.match_indices(docs).any(|(at, _)| {
        let following = code[at..].lines().skip(1).map(str::trim);
        let mut following =
            following.skip_while(|line| line.starts_with("///") || line.starts_with("#["));
        following.next().is_some_and(|line| line.starts_with(item))
    });
    assert!(found, "`{docs}` is not the documentation of `{item}`");
}

#[test]
fn large_parts_are_in_boxes() {
    use wide::types::*;

    // Inline, the parts would have more than 6 MB.
    assert!(size_of::<WideOutput>() < 4096);
    let output: WideOutput = round_trips(json!({"x": {"a": {"f": {}}, "b": {"a": {"a": {}}}}}));
    let inner = output.x.and_then(|d7| d7.a).and_then(|d6| d6.f);
    assert_eq!(inner, Some(WideOutputD5::new()));
    let built = WideOutput::new().with_x(WideOutputD7::new().with_a(WideOutputD6::new()));
    assert_eq!(
        serde_json::to_value(built).unwrap(),
        json!({"x": {"a": {}}})
    );
}

#[test]
fn types_may_refer_to_themselves() {
    use recursive::types::*;

    let node = json!({"value": "a", "children": [{"value": "b", "children": []}, {"value": "c"}]});
    let tree: Tree = round_trips(json!({"root": node}));
    assert_eq!(tree.root.children.unwrap()[0].value, "b");
    let made = TreeOutputNode::new("a", None).with_left(TreeOutputNode::new("b", None));
    round_trips::<TreeOutput>(json!({"root": serde_json::to_value(made).unwrap()}));
    let number = json!({"op": "number", "value": 1.5});
    let and = json!({"op": "and", "of": [{"op": "not", "of": number}, number]});
    let and: Expression = round_trips(json!({"expression": and}));
    assert!(
        matches!(and.expression, ExpressionExpr::WithOp(_)),
        "{and:?}"
    );
    round_trips::<Mutual>(json!({"a": {"b": {"a": {}, "name": "x"}}}));
    round_trips::<NestedLists>(json!({"lists": [[], [[], [[]]]]}));
    round_trips::<Json>(json!({"json": {"a": [1.0, "b", null, true, {"c": []}]}}));
    round_trips::<Whole>(json!({"name": "a", "inner": {"name": "b", "inner": {"name": "c"}}}));
    let growing = json!({"both": {"next": {"next": {"x": 1, "y": 2}, "x": 3}, "y": 4}});
    round_trips::<Growing>(growing);
    let tree = json!({"l": {"l": {"x": 1}, "r": {"r": {}}}, "r": {"x": 2}});
    let text = json!({"n": {"n": {"n": "end", "x": 1}}, "x": 2});
    let both: Alternatives = round_trips(json!({"either": tree, "text_or": text}));
    let right = both.either.unwrap().r.unwrap();
    assert_eq!(
        right.x,
        Some(2),
        "alternatives within alternatives are of the same type"
    );
    assert_documented(
        &generated_code("recursive"),
        "because the schema refers only to itself.",
        "pub struct CircleA",
    );
    assert_documented(
        &generated_code("recursive"),
        "because its references form a cycle.",
        "pub a: Value",
    );
}

#[test]
fn lists_and_maps_have_items() {
    use lists::types::*;

    let plot: Plot = round_trips(json!({
        "point": [1.0, 2.0], "named": ["a", 1], "open": ["a"], "records": [{"x": 1}, "on"], "free": [1, "a"],
        "no_items": [], "any_items": [null], "matrix": [[1.0], []], "long": [1], "one": ["a"],
        "series": [{"v": 1}], "entries": [{"v": 2}],
    }));
    assert_eq!(plot.point, (1.0, 2.0));
    assert_eq!(plot.named, Some(("a".to_owned(), 1)));
    assert_eq!(plot.one, Some(("a".to_owned(),)));
    round_trips::<Vec<PlotOutputItem>>(json!([{"at": 1.5}]));
    let maps: Maps = round_trips(json!({
        "counts": {"a": 1}, "headers": {"x-a": "b", "n": 1}, "only_headers": {"x-a": "b"}, "both": {"x-a": "b", "y-a": 1}, "entries": {"a": {"v": 1}},
        "open": {"known": "a", "other": 1}, "loose": {"other": [1]}, "closed": {}, "free": {"a": null},
    }));
    assert_eq!(maps.open.unwrap().additional["other"], 1);
    let open = MapsOpen::new().with_known("a").with_additional("other", 2);
    assert_eq!(
        serde_json::to_value(open).unwrap(),
        json!({"known": "a", "other": 2})
    );
    let text = generated_code("lists");
    assert_documented(
        &text,
        "because the schema of an item depends on its position.",
        "pub open: Option<Vec<Value>>",
    );
    assert_documented(
        &text,
        "because its schema depends on the name of the member.",
        "pub both: Option<BTreeMap<String, Value>>",
    );
    assert_documented(
        &text,
        "because its schema depends on the name of the member.",
        "pub headers: Option<BTreeMap<String, Value>>",
    );
    assert_eq!(maps.only_headers.unwrap()["x-a"], *"b");
    assert!(
        text.contains(
            "arguments: ::std::collections::BTreeMap<::std::string::String, types::Value>"
        )
    );
}

#[test]
fn older_drafts_are_read() {
    use draft_07::types::*;

    let old: Old = round_trips(json!({
        "count": 1, "space": {"a": 1}, "escaped": "x", "pair": ["a", 1.5], "port": 80, "elsewhere": 1, "web": 2,
        "missing": 3, "anchor": 4, "dynamic": 5, "within": 6,
    }));
    assert_eq!((old.count, old.port), (1, Some(80_u64)));
    let text = generated_code("draft-07");
    assert_documented(
        &text,
        "because the schema is elsewhere, at \"<https://example.com/schema.json>\".",
        "pub web: Option<Value>",
    );
    assert_documented(
        &text,
        "because there is no schema at \"#/definitions/Missing\".",
        "pub missing: Option<Value>",
    );
    assert_documented(
        &text,
        "because the schema has references that depend on where they are used.",
        "pub dynamic: Option<Value>",
    );
    round_trips::<Untyped>(
        json!({"a": "x", "b": 1.0, "c": ["x"], "d": {"e": "x"}, "f": 1, "g": [], "h": 1, "i": 2}),
    );
    assert_documented(
        &text,
        "because its type is \"file\", which JSON Schema does not know.",
        "pub h: Option<Value>",
    );
    round_trips::<Formats>(
        json!({"when": "now", "id": "x", "code": "ab", "byte": 255, "step": 0.5}),
    );
    assert_documented(&text, "/// Format: `uuid`.", "pub id: Option<String>");
    assert_documented(
        &text,
        "/// At least `2`, at most `8` characters.",
        "pub code: Option<String>",
    );
    assert_documented(&text, "/// Default: `3`.", "pub days: Option<i64>");
}

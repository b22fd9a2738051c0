//! Types of awkward schemas: serialization, and fallback to any JSON with the documented reason.

#![allow(clippy::unwrap_used, reason = "a failed unwrap fails the test")]

mod overlaps;
mod recorded;
mod text;

use std::fmt::Debug;
use std::path::Path;

use generated::awkward::{
    alternatives, booleans, constants, deep, draft_07, empty, keywords, lists, names, recursive,
    united,
};
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
fn alternatives_are_enums() {
    use alternatives::types::*;

    let circle = Draw::new(DrawShapeCircle::new(2));
    assert_eq!(
        round_trips::<Draw>(json!({"shape": {"kind": "circle", "radius": 2.0}})),
        circle
    );
    let wrong = error_of::<Draw>(&json!({"shape": {"kind": "square", "radius": 2}}));
    assert_eq!(
        wrong, "missing field `side`",
        "the tag selects the alternative for the error"
    );
    let unknown = error_of::<Draw>(&json!({"shape": {"kind": "cube"}}));
    assert!(unknown.contains("`kind` has an unknown value"), "{unknown}");
    let failed: DrawOutput = round_trips(json!({"error": "no paper"}));
    assert!(matches!(failed, DrawOutput::Failed(_)), "{failed:?}");

    let mixed = Mixed::new()
        .with_text_or_number("a")
        .with_one_or_many(vec!["a".to_owned()])
        .with_known_or_other(MixedKnownOrOtherKnown::Red)
        .with_described(MixedDescribed::A)
        .with_two_enums(MixedTwoEnums::Z)
        .with_lists([MixedList::from(1), "b".into()])
        .with_multiple(5_i64)
        .with_scalar_or_object(true);
    let written = json!({
        "text_or_number": "a", "one_or_many": ["a"], "known_or_other": "red", "described": "a", "two_enums": "z",
        "lists": [1, "b"], "null_only": null, "multiple": 5, "scalar_or_object": true,
    });
    assert_eq!(round_trips::<Mixed>(written), mixed);
    for (member, value) in [
        ("text_or_number", json!(1.5)),
        ("one_or_many", json!("a")),
        ("known_or_other", json!("blue")),
        ("date_or_time", json!("2026-11-26")),
        ("not_told", json!({"n": "a"})),
        ("not_told", json!({"a": "a", "b": 2, "n": 3})),
        ("object_or_map", json!({"a": "b", "c": 1})),
        ("scalar_or_object", json!({"on": true})),
    ] {
        round_trips::<Mixed>(json!({"null_only": null, member: value}));
    }
    let without: Mixed =
        serde_json::from_value(json!({"null_only": null, "date_or_time": null})).unwrap();
    assert_eq!(without, Mixed::new());
    let text = generated_code("alternatives");
    assert_documented(&text, "/// The first.", "A,");
    assert_documented(
        &text,
        "/// It has one of several forms, which cannot be distinguished",
        "pub struct MixedNotTold",
    );
    assert_documented(
        &text,
        "because its alternatives cannot be distinguished.",
        "pub object_or_map: Option<Value>",
    );
    round_trips::<Either>(json!({"id": 1}));
    round_trips::<Either>(json!({"name": "a"}));
    round_trips::<Common>(json!({"name": "a", "b": 1}));
    round_trips::<Conditions>(json!({"phone": "1"}));
}

#[test]
fn all_of_is_one_type() {
    use united::types::*;

    let item = json!({"id": "a", "note": "b", "size": 1});
    let save = json!({"item": item, "described": {"id": "a"}, "beside": {"id": "a", "note": "n"}});
    let save: Save = round_trips(save);
    assert_eq!(
        (save.item.size, save.beside.unwrap().note),
        (1, "n".to_owned())
    );
    let narrow: Narrow = round_trips(
        json!({"value": 1, "choice": "b", "both": {"p": "x"}, "impossible": [], "two_any_of": {}}),
    );
    assert_eq!(narrow.value, Some(1));
    let text = generated_code("united");
    assert_documented(
        &text,
        "because no value matches it.",
        "pub impossible: Option<Value>",
    );
    assert_documented(
        &text,
        "because it has more than one `anyOf`.",
        "pub two_any_of: Option<Value>",
    );
    round_trips::<Conditional>(json!({"kind": "big", "size": 1}));
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
fn empty_and_boolean_schemas_are_any_json() {
    round_trips::<empty::types::EmptyProperty>(json!({"any": [1], "only_described": 1}));
    round_trips::<empty::types::EmptyPropertyOutput>(json!({"unnamed": null, "elsewhere": {}}));
    round_trips::<empty::types::EmptyLists>(
        json!({"never": 1, "none_of": 2, "all_of": 3, "types": 4}),
    );
    let text = generated_code("empty");
    for tool in ["nothing", "object", "no_properties", "closed", "no_schema"] {
        assert!(
            text.contains(&format!("pub fn {tool}(\n        &self,\n    )")),
            "{tool} takes nothing"
        );
    }
    assert!(text.contains("TypedCall<types::Value>"));
    assert_documented(
        &text,
        "because no value matches the schema.",
        "pub never: Option<Value>",
    );

    let yes =
        json!({"any": 1, "items": [1], "all": "a", "either": {}, "neither": 1, "impossible": 2});
    round_trips::<booleans::types::Yes>(yes);
    let text = generated_code("booleans");
    assert_documented(&text, "because no value matches the schema.", "pub fn no(");
    assert_documented(&text, "because it is not a valid schema.", "pub fn odd(");
    assert_documented(
        &text,
        "because it is not a valid schema.",
        "pub null: Option<Value>",
    );
    assert!(
        !text.contains("pub never:"),
        "a member that must not be there"
    );
}

#[test]
fn names_are_readable_and_differ() {
    use names::types::*;

    round_trips::<GetSum2>(
        json!({"first-number": 1, "second number": 2, "third.number": 3, "fourthNumber": 4, "FifthNumber": 5}),
    );
    let sum = GetSum2::new(1).with_third_number(3);
    assert_eq!(
        serde_json::to_value(sum).unwrap(),
        json!({"first-number": 1, "third.number": 3})
    );
    let odd = AdminUsersListAll::new()
        .with_groesse(1)
        .with_u540du524d("a")
        .with_empty("b")
        .with_n2fa("c");
    let odd = odd.with_minus("d").with_meta("e").with_nandu("f");
    assert_eq!(
        serde_json::to_value(odd).unwrap(),
        json!({"größe": 1.0, "名前": "a", "": "b", "2fa": "c", "-": "d", "_meta": "e", "ÑANDÚ": "f"})
    );
    round_trips::<HttpRequest>(
        json!({"URL": "a", "userID": "b", "htmlToXML": "c", "iPhone15Pro": "d"}),
    );
    let same: Same = round_trips(
        json!({"a_b": 1, "a-b": 2, "aB": 3, "A_B": 4, "a_b_2": 5, "additional": 6, "more": 7}),
    );
    assert_eq!(
        (same.a_b, same.additional_2, same.additional["more"]),
        (1, Some(6), 7)
    );
    let option = OptionType::new().with_self("a").with_none("b");
    assert_eq!(
        serde_json::to_value(option).unwrap(),
        json!({"self": "a", "none": "b"})
    );
    let city = ReadCityWeather::new("Oslo", "no").with_units(["c".to_owned()]);
    assert_eq!(
        serde_json::to_value(city).unwrap(),
        json!({"country": "Oslo", "city": "no", "units": ["c"]})
    );
    let text = generated_code("names");
    for method in [
        "get_sum",
        "get_sum_2",
        "get_sum_tool",
        "new_tool",
        "clone_tool",
        "prompt_get_sum",
        "read_city_weather",
        "n7zip",
        "u1f980",
    ] {
        assert!(text.contains(&format!("fn {method}(")), "{method}");
    }
    assert!(text.contains("pub struct N2ndNameSClient {"));
}

#[test]
fn constants_with_odd_names_differ() {
    use names::types::*;

    let by = [
        "created",
        "-created",
        "Created",
        "created_at",
        "createdAt",
        "",
        "+",
        "<=",
        ">=",
        "2",
        "None",
        "Self",
        "self",
        "Ok",
        "Äpfel",
        "日本",
    ];
    for by in by {
        let sort: Sort = round_trips(json!({"by": by}));
        assert_eq!(sort.by.as_str(), by);
    }
    assert_eq!(SortBy::MinusCreated.as_str(), "-created");
}

#[test]
fn keywords_are_names() {
    use keywords::types::*;

    let all: All = All::new("a", "b").with_async("c").with_union("d");
    assert_eq!((&*all.self_, &*all.r#type), ("a", "b"));
    assert_eq!(
        serde_json::to_value(all).unwrap(),
        json!({"self": "a", "type": "b", "async": "c", "union": "d"})
    );
    round_trips::<AllOutput>(json!({"kind": "Self"}));
}

#[test]
fn constants_are_enums() {
    use constants::types::*;

    let pick = Pick::new(PickLevel::N2, Some(PickMixed::Auto)).with_signed(PickSigned::Minus1);
    let written = json!({"level": 2, "mixed": "auto", "fixed": "v1", "one": 1, "signed": -1});
    assert_eq!(
        round_trips::<Pick>(written),
        pick,
        "constants are optional in the constructor"
    );
    for (member, value) in [
        ("ratio", json!(0.5)),
        ("ratio", json!(-2.5)),
        ("ratio", json!(1e21)),
        ("ratio", json!(1e-7)),
        ("nullable", json!("a")),
        ("both", json!(true)),
        ("yes", json!(true)),
        ("object", json!({"a": 1})),
        ("duplicates", json!("b")),
        ("huge", json!(u64::MAX)),
        ("huge", json!(i64::MIN)),
        ("many", json!("v599")),
        ("numbers_many", json!(7)),
        ("enum_of_number_and_text", json!("one")),
    ] {
        round_trips::<Pick>(
            json!({"level": 1, "mixed": 1.5, "fixed": "v1", "one": 1, member: value}),
        );
    }
    let pick = |level: Value, mixed: Value, fixed: &str| json!({"level": level, "mixed": mixed, "fixed": fixed, "one": 1});
    round_trips::<Pick>(pick(json!(3), Value::Null, "v1"));
    assert!(
        error_of::<Pick>(&pick(json!(4), json!(0), "v1")).contains("4 is none of the constants")
    );
    assert!(
        error_of::<Pick>(&pick(json!(1), json!("other"), "v1")).contains("none of the constants")
    );
    assert!(error_of::<Pick>(&pick(json!(1), json!(true), "v2")).contains("unknown variant `v2`"));
    assert_eq!(
        round_trips::<PickOutput>(json!({"status": "ok", "code": 0})),
        PickOutput::new()
    );
    assert_documented(
        &generated_code("constants"),
        "because its constants are lists or objects.",
        "pub objects: Option<Value>",
    );
    assert_documented(
        &generated_code("constants"),
        "because there are more than 500 constants.",
        "pub numbers_many: Option<Value>",
    );
}

#[test]
fn oversized_schemas_are_any_json() {
    let mut inline = json!("end");
    for _ in 0..50 {
        inline = json!({ "n": inline });
    }
    round_trips::<deep::types::Inline>(inline);
    let mut chain = json!({"end": true});
    for _ in 0..89 {
        chain = json!({"here": 1, "next": chain});
    }
    round_trips::<deep::types::Chain>(json!({ "first": chain }));
    let text = generated_code("deep");
    assert!(
        text.contains("/// It is any JSON, because the schema is nested deeper than 32 levels.")
    );
    assert_documented(
        &text,
        "Its arguments are any JSON, because there are more than 200 members.",
        "pub fn wide(",
    );
    assert_documented(
        &text,
        "because there are more than 100 alternatives.",
        "pub x: Option<Value>",
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

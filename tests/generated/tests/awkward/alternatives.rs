//! Types of `oneOf`, `anyOf` and `allOf`: an enum for alternatives, and one type for schemas that apply together.

use generated::awkward::{alternatives, united};
use serde_json::json;

use crate::{assert_documented, error_of, generated_code, round_trips};

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
    // Only the last form of `value` allows this, and only the second part of `pair` describes the second item.
    round_trips::<Nested>(json!({"value": {"b": 3}, "pair": ["a", 1]}));
    assert_documented(
        &text,
        "because it has more than one `prefixItems`.",
        "pub pair: Option<Value>",
    );
}

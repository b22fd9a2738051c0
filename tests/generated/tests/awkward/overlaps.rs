//! Alternatives that accept the same objects, and types that contain themselves: no member is lost, and the code compiles.

use generated::awkward::{overlaps::types::*, recursive::types::Loops, united};
use serde_json::{Value, json};
use treenail::__private_0_1_0::serde::{Serialize, de::DeserializeOwned};

use crate::{error_of, generated_code, round_trips};

/// Asserts that values of the member `value` survive deserialization and serialization.
fn keeps<T: DeserializeOwned + Serialize + std::fmt::Debug, const N: usize>(values: [Value; N]) {
    for value in values {
        round_trips::<T>(json!({ "value": value }));
    }
}

/// Returns the error for the member `value`.
fn refusal<T: DeserializeOwned + std::fmt::Debug>(value: &Value) -> String {
    error_of::<T>(&json!({ "value": value }))
}

#[test]
fn a_missing_nullable_member_does_not_select_an_alternative() {
    keeps::<Nullable, 3>([
        json!({"data": 1}),
        json!({"error": null}),
        json!({"error": "a"}),
    ]);
    assert!(matches!(
        round_trips::<Nullable>(json!({"value": {"data": 1}})).value,
        NullableValue::WithData(_)
    ));
    keeps::<OneOfOpen, 3>([json!({"a": 1}), json!({"b": null}), json!({"b": "a"})]);
}

#[test]
fn open_objects_that_can_match_together_keep_all_members() {
    keeps::<AnyOfOpen, 3>([json!({"a": 1}), json!({"b": 2}), json!({"a": 1, "b": 2})]);
    // Only for the second: "abc" is too long for the first.
    keeps::<Bounded, 3>([
        json!({"a": "ab"}),
        json!({"b": 1}),
        json!({"a": "abc", "b": 1}),
    ]);
    keeps::<WithRest, 3>([
        json!({"id": 1}),
        json!({"name": "n"}),
        json!({"name": "n", "id": 1}),
    ]);
    keeps::<BothWithRest, 2>([
        json!({"id": 1, "x": 2}),
        json!({"name": "n", "id": 1, "x": 2}),
    ]);
    // Only for the second, because the object in the first is closed.
    let value = json!({"value": {"a": {"z": 1, "y": 2}, "b": 1}});
    let read: NestedClosed = serde_json::from_value(value).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap()["value"]["b"], 1);
    keeps::<DescribedRest, 2>([json!({"a": {"z": 1}}), json!({"a": [1], "b": 2, "c": [3]})]);
    keeps::<Nested, 3>([json!({"a": 1, "b": 2}), json!({"c": 3}), json!({"b": 1})]);
}

#[test]
fn an_alternative_is_selected_although_its_number_is_out_of_range() {
    keeps::<NumberLimit, 4>([
        json!({"count": 3}),
        json!({"note": "a"}),
        json!({}),
        json!("a"),
    ]);
    let refused = refusal::<NumberLimit>(&json!({"count": 3.0}));
    assert!(
        refused.contains("floating point `3.0`, expected i64"),
        "{refused}"
    );
    let refused = refusal::<Three>(&json!({"k": 1, "a": 1}));
    assert_eq!(refused, "invalid type: integer `1`, expected a string");
    let refused = refusal::<Three>(&json!({"k": "a"}));
    assert_eq!(refused, "it is none of the forms of ThreeValue");
    keeps::<Three, 3>([
        json!({"k": "a", "a": 1}),
        json!({"k": 1, "b": 1}),
        json!({"c": 1}),
    ]);
    let refused = refusal::<Three>(&json!({"k": "a", "a": 3.0}));
    assert!(refused.contains("expected i64"), "{refused}");
}

#[test]
fn objects_are_not_read_as_constants_nor_lists_as_objects() {
    keeps::<ConstantOrObject, 3>([json!("red"), json!({"red": "a"}), json!({})]);
    keeps::<ConstantOrMap, 3>([json!("blue"), json!({"red": null}), json!({"a": "b"})]);
    let read: ConstantOrObject = serde_json::from_value(json!({"value": {"red": null}})).unwrap();
    assert!(
        matches!(read.value, ConstantOrObjectValue::Form2(_)),
        "{read:?}"
    );
    keeps::<ListOrObject, 2>([json!([3]), json!({"a": 3.5})]);
    let refused = refusal::<ListOrObject>(&json!([3.0]));
    assert!(refused.contains("expected i64"), "{refused}");
}

#[test]
fn alternatives_that_are_the_type_itself_are_dropped() {
    for (member, value) in [
        ("own", json!("x")),
        ("left", json!("x")),
        ("left", json!("y")),
        ("nullable", json!("x")),
        ("nested", json!("x")),
        ("nested", json!("w")),
        ("other", json!("y")),
        ("through_list", json!(["x", ["x"], []])),
    ] {
        round_trips::<Loops>(json!({ member: value }));
    }
    for member in ["own", "left", "nullable", "through_list"] {
        let refused = error_of::<Loops>(&json!({ member: "w" }));
        assert!(!refused.is_empty(), "{member}");
    }
    let code = generated_code("recursive");
    assert!(
        code.contains("because one of its alternatives is the type itself."),
        "{code}"
    );
}

#[test]
fn nullable_applies_below_all_of_and_beside_a_reference() {
    type Nullable = united::types::Nullable;
    let none = json!({"below": null, "beside": null, "alone": null, "together": "a"});
    let read: Nullable = round_trips(none);
    assert_eq!((read.below, read.together), (None, "a".to_owned()));
}

//! Enums of `const` and `enum`, and the names of their variants.

use generated::awkward::{constants, names};
use serde_json::json;

use crate::{assert_documented, error_of, generated_code, round_trips};

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

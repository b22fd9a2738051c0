//! Schemas without a type of their own: empty, boolean and oversized ones.

use generated::awkward::{booleans, deep, empty};
use serde_json::json;

use crate::{assert_documented, generated_code, round_trips};

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

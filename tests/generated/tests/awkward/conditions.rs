//! Members that only conditions of a schema describe.

use generated::awkward::conditions::types::*;
use serde_json::json;

use crate::{assert_documented, generated_code, round_trips};

#[test]
fn members_of_conditions_are_sent_and_kept() {
    let create = Cond::new(Action::Create).with_additional("title", "a");
    assert_eq!(
        round_trips::<Cond>(json!({"action": "create", "title": "a"})),
        create
    );
    round_trips::<CondOutput>(json!({"kind": "a", "extra": "b"}));
    round_trips::<Several>(json!({"action": "create", "title": "a"}));
    round_trips::<Dependent>(json!({"card": "1", "address": "b"}));
    round_trips::<Unevaluated>(json!({"a": 1, "x": "b"}));
    round_trips::<UnevaluatedOutput>(json!({"a": 1, "x": [2]}));
    round_trips::<Evaluated>(json!({"a": 1, "b": 2}));
    round_trips::<EvaluatedOutput>(json!({"a": 1, "b": 2, "c": 3, "x": "y"}));
}

#[test]
fn conditions_are_documented_at_the_type() {
    let code = generated_code("conditions");
    let conditions = "The type does not express these conditions of the schema: `if`.";
    for item in ["pub struct Cond {", "pub struct Known {"] {
        assert_documented(&code, conditions, item);
    }
    assert_documented(&code, "/// Arguments of `cond`.", "pub struct Cond {");
    assert_documented(
        &code,
        "because conditions of the schema describe further members.",
        "pub additional: BTreeMap<String, Value>",
    );
    let (_, known) = code.split_once("pub struct Known {").unwrap();
    let (known, _) = known.split_once('}').unwrap();
    assert!(!known.contains("additional"), "{known}");
    assert!(
        code.contains("pub additional: BTreeMap<String, String>"),
        "{code}"
    );
}

//! Tests with hostile servers whose schemas use one long definition many times. Each reading takes steps.

use serde_json::{Map, Value, json};

use super::tool;
use crate::{Contract, DriftLimits, Severity};

/// Returns a contract whose members all refer to the definition `x`.
fn with_shared_definition(members: u32, kind: &str, definition: &Value) -> Contract {
    let member = |number| (format!("{kind}{number}"), json!({"$ref": "#/$defs/x"}));
    let members: Map<_, _> = (0..members).map(member).collect();
    let schema = json!({"type": "object", "properties": members, "$defs": {"x": definition}});
    Contract::new().with_tools([tool("t", schema)])
}

#[test]
fn long_shared_definitions_take_steps() {
    let notes = |count: u32| -> Map<_, _> {
        let notes = (0..count).map(|number| (format!("x-{number}"), json!(1)));
        notes.collect()
    };
    let limits = DriftLimits::default().steps(20_000);
    let many = Value::Object(notes(8_000));
    let is_too_large = |old: &Contract, new: &Contract| {
        let drift = old.drift_within(new, &limits);
        assert!(drift.to_string().contains("20000 steps"), "{drift}");
    };
    // Members that are declared on one side only.
    let none = with_shared_definition(0, "a", &many);
    let all = with_shared_definition(100, "a", &many);
    is_too_large(&none, &all);
    // Schemas on the way to another one.
    let mut layer = notes(8_000);
    layer.insert("$ref".to_owned(), json!("#/$defs/x/x-inner"));
    layer.insert("x-inner".to_owned(), json!({"type": "string"}));
    let layered = Value::Object(layer.clone());
    layer.insert("x-inner".to_owned(), json!({"type": "integer"}));
    is_too_large(
        &with_shared_definition(100, "a", &layered),
        &with_shared_definition(100, "a", &Value::Object(layer)),
    );
    // Alternatives that are tested for overlap.
    let choices = |last: &str| {
        let mut choices = vec![json!({"$ref": "#/$defs/x"}); 100];
        choices.push(json!({"title": last}));
        let schema = json!({"oneOf": choices, "minProperties": 1, "$defs": {"x": many}});
        Contract::new().with_tools([tool("t", schema)])
    };
    is_too_large(&choices("a"), &choices("b"));
}

#[test]
fn long_shared_keywords_take_steps() {
    let names: Vec<_> = (0..8_000).map(|number| format!("n{number}")).collect();
    let members: Map<_, _> = names.iter().map(|name| (name.clone(), json!({}))).collect();
    let limits = DriftLimits::default().steps(20_000).changes(usize::MAX);
    // Each member had a schema of its own, and all now refer to the same long one.
    let own = |definition: &Value| {
        let member = |number| (format!("a{number}"), json!({"type": ["object", "string"]}));
        let members: Map<_, _> = (0..100).map(member).collect();
        let schema = json!({"type": "object", "properties": members, "$defs": {"x": definition}});
        Contract::new().with_tools([tool("t", schema)])
    };
    for long in [
        json!({"properties": members}),
        json!({"required": names}),
        json!({"patternProperties": members}),
        json!({"dependentRequired": {"n": names}}),
        json!({"pattern": "x".repeat(100_000)}),
    ] {
        let live = with_shared_definition(100, "a", &long);
        let drift = own(&long).drift_within(&live, &limits);
        let mut changes = drift.changes().iter();
        let is_too_large = changes.any(|change| change.message.contains("20000 steps"));
        assert!(is_too_large, "{drift}");
    }
}

#[test]
fn long_lists_of_constants_take_steps() {
    let limits = DriftLimits::default().steps(20_000);
    let contract = |schema: Value| Contract::new().with_tools([tool("t", schema)]);
    let constants = |count: u32, last: Value| {
        let constants = (0..count).map(|number| json!({"const": number}));
        json!({"anyOf": constants.chain([last]).collect::<Vec<_>>()})
    };
    let values: Vec<_> = (0..16_000).collect();
    let text = "x".repeat(1 << 20);
    // Alternatives that are tested for overlap. Only the last ones are a choice of constants.
    for definition in [
        constants(8_000, json!({"minLength": 1})),
        json!({"anyOf": [{"enum": values}, {"minLength": 1}]}),
        json!({"oneOf": [{"const": text}, {"const": text}]}),
        json!({"oneOf": [{"const": text}, {"const": "b"}]}),
    ] {
        // Each tag is searched in the same definition.
        let live = |last: &str| {
            let names: Vec<_> = (0..100).map(|number| format!("m{number}")).collect();
            let members = names
                .iter()
                .map(|name| (name.clone(), json!({"$ref": "#/$defs/x"})));
            let members: Map<_, _> = members.collect();
            let tagged = json!({"type": "object", "required": names, "properties": members});
            let choices = json!([tagged, tagged, {"type": "string", "title": last}]);
            contract(json!({"oneOf": choices, "$defs": {"x": definition}}))
        };
        let drift = live("a").drift_within(&live("b"), &limits);
        assert!(drift.to_string().contains("20000 steps"), "{drift}");
    }
    // Each alternative on one side is compared with that on the other.
    for long in [json!(text), json!([text])] {
        let exclusive = json!([{"const": long}, {"type": "integer", "title": "a"}]);
        let recorded = json!({"anyOf": [{"oneOf": exclusive}, {"minLength": 1}]});
        let live: Vec<_> = (2..100)
            .map(|number| json!({"minLength": number}))
            .collect();
        let drift = contract(recorded).drift_within(&contract(json!({"anyOf": live})), &limits);
        assert!(drift.to_string().contains("20000 steps"), "{drift}");
    }
    // A definition with many uses is read once.
    let [recorded, live] = ["a", "b"].map(|last| {
        let choice = constants(1_000, json!({"const": last}));
        with_shared_definition(1_000, "a", &choice)
    });
    let drift = recorded.drift_within(&live, &limits);
    assert!(!drift.to_string().contains("20000 steps"), "{drift}");
    let none = with_shared_definition(0, "a", &json!({}));
    let choice = constants(1_000, json!({"minLength": 1}));
    let live = with_shared_definition(1_000, "a", &choice);
    let drift = none.drift_within(&live, &limits);
    assert_eq!(drift.worst(), Some(Severity::Additive), "{drift}");
}

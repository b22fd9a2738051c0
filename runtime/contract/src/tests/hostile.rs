//! Tests with hostile servers, which try to exhaust time or memory, or to hide a change.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::{summaries, tool, tool_drift};
use crate::{Contract, DriftLimits, Severity};

pub(super) fn within_time<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = work();
    let took = start.elapsed();
    assert!(took < Duration::from_secs(20), "it took {took:?}");
    result
}

#[test]
fn all_changes_are_counted_and_the_worst_are_listed() {
    let tools = |text: &str| {
        let tools = (0..3_000)
            .map(|number| tool(&format!("t{number:04}"), json!({})).with_description(text));
        tools.chain([tool("z", json!({}))]).collect::<Vec<_>>()
    };
    let (recorded, mut live) = (tools("old"), tools("new"));
    // The breaking change is found last and listed first.
    live.pop();
    let drift = Contract::new()
        .with_tools(recorded)
        .drift(&Contract::new().with_tools(live));
    assert_eq!(drift.count(Severity::Wording), 3_000);
    assert_eq!((drift.changes().len(), drift.omitted()), (1_001, 2_000));
    assert_eq!(drift.changes()[0].name, "z");
    let shown = drift.to_string();
    assert!(
        shown.starts_with("1 breaking change:\n  tool `z`: removed\n3000 wording changes:\n"),
        "{shown}"
    );
    assert!(shown.lines().count() <= 101, "{shown}");
    let more = drift.changes().len() - shown.matches("\n  tool").count() + 2_000;
    assert!(shown.ends_with(&format!("\n… and {more} more")), "{shown}");
}

#[test]
fn long_texts_are_cut_around_the_first_difference() {
    let text = |end: &str| "x".repeat(100_000) + end + &"y".repeat(100_000);
    let described = |end: &str| tool("t", json!({})).with_description(text(end));
    let drift = tool_drift(described("é old"), described("é new"));
    let change = &drift.changes()[0];
    let (old, new) = (
        change.old.as_deref().unwrap(),
        change.new.as_deref().unwrap(),
    );
    assert!(old.contains("é old") && new.contains("é new"));
    assert!(new.len() < 4_200 && drift.to_string().len() < 9_000);

    let name = "n".repeat(1 << 14);
    let deep = (0..60).fold(
        json!({"type": "string"}),
        |inner, _| json!({"properties": {name.clone(): inner}}),
    );
    let live = (0..60).fold(
        json!({"type": "integer"}),
        |inner, _| json!({"properties": {name.clone(): inner}}),
    );
    let drift = within_time(|| tool_drift(tool("t", deep), tool("t", live)));
    assert!(drift.changes()[0].path.len() < 4_200);
}

#[test]
fn comparison_of_nested_choices_is_bounded() {
    // Each level has several alternatives, and each could match each other one. They refer to each other, because the
    // expanded schema would be too long.
    let linked = |leaf: &str| {
        let mut definitions = Map::new();
        definitions.insert("d0".to_owned(), json!({"const": leaf}));
        for level in 1..60 {
            let inner = json!({"$ref": format!("#/$defs/d{}", level - 1)});
            let choice = |number: u8| json!({"properties": {"p": inner, "q": {"maximum": number}}});
            let choices = json!({"anyOf": [choice(1), choice(2), choice(3)]});
            definitions.insert(format!("d{level}"), choices);
        }
        json!({"$ref": "#/$defs/d59", "$defs": definitions})
    };
    let drift = within_time(|| tool_drift(tool("t", linked("a")), tool("t", linked("b"))));
    assert_eq!(drift.worst(), Some(Severity::Breaking));
}

#[test]
fn differences_beyond_the_limits_are_breaking() {
    let chain = |length: u32, leaf: &str| {
        let mut definitions = Map::new();
        for level in 0..length {
            let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
            definitions.insert(format!("d{level}"), json!({"properties": {"p": next}}));
        }
        definitions.insert(format!("d{length}"), json!({"const": leaf}));
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    };
    let drift = tool_drift(tool("t", chain(3_000, "a")), tool("t", chain(3_000, "b")));
    assert_eq!(drift.worst(), Some(Severity::Breaking));
    assert!(drift.changes()[0].message.contains("too deeply"), "{drift}");
    assert!(tool_drift(tool("t", chain(1_000, "a")), tool("t", chain(1_000, "a"))).is_empty());

    let limits = DriftLimits::default().steps(100);
    let wide = |last: &str| {
        let properties = (0..1_000).map(|number| (format!("p{number:03}"), json!({"title": last})));
        json!({"properties": properties.collect::<Map<_, _>>()})
    };
    let contract = |last: &str| Contract::new().with_tools([tool("t", wide(last))]);
    let drift = contract("a").drift_within(&contract("b"), &limits);
    assert_eq!(drift.count(Severity::Breaking), 1);
    assert!(drift.changes()[0].message.contains("100 steps"), "{drift}");
    assert!(
        contract("a")
            .drift_within(&contract("a"), &limits)
            .is_empty()
    );
}

#[test]
fn comparison_of_many_values_and_choices_is_bounded() {
    let values = |from: u32| json!({"enum": (from..from + 30_000).collect::<Vec<_>>()});
    let drift = within_time(|| tool_drift(tool("t", values(0)), tool("t", values(1))));
    assert_eq!(
        summaries(&drift),
        ["additive /inputSchema/enum", "breaking /inputSchema/enum"]
    );
    let choices = |from: u32| {
        let choices = (from..from + 2_000).map(|number| json!({"minimum": number}));
        json!({"anyOf": choices.collect::<Vec<Value>>()})
    };
    let limits = DriftLimits::default().steps(10_000);
    let contract = |from: u32| Contract::new().with_tools([tool("t", choices(from))]);
    let drift = within_time(|| contract(0).drift_within(&contract(9_000), &limits));
    assert_eq!(drift.worst(), Some(Severity::Breaking));
}

#[test]
fn comparison_of_a_choice_between_itself_and_null_terminates() {
    let text = json!({"properties": {"x": {"type": "string"}}});
    for keyword in ["anyOf", "oneOf"] {
        let endless = json!({
            "properties": {"x": {"$ref": "#/$defs/a"}},
            "$defs": {"a": {keyword: [{"type": "null"}, {"$ref": "#/$defs/a"}]}},
        });
        let drift = |one: &Value, other: &Value| {
            tool_drift(tool("t", one.clone()), tool("t", other.clone()))
        };
        let (there, back) = (drift(&text, &endless), drift(&endless, &text));
        assert_eq!(there.worst(), Some(Severity::Breaking), "{there}");
        assert_eq!(back.worst(), Some(Severity::Breaking), "{back}");
        assert!(drift(&endless, &endless).is_empty());
    }
}

#[test]
fn comparison_of_many_tags_is_bounded() {
    let names: Vec<_> = (0..20_000).map(|number| format!("m{number:05}")).collect();
    let members = names.iter().map(|name| (name.clone(), json!({"const": 1})));
    let tagged = json!({
        "type": "object", "required": names, "properties": members.collect::<Map<_, _>>(),
    });
    let same = json!({"oneOf": [tagged.clone(), tagged.clone()], "minProperties": 1});
    let three = json!({"oneOf": [tagged.clone(), tagged.clone(), tagged], "minProperties": 1});
    let limits = DriftLimits::default().steps(50_000);
    let contract = |schema: Value| Contract::new().with_tools([tool("t", schema)]);
    let drift = within_time(|| contract(same).drift_within(&contract(three), &limits));
    assert_eq!(drift.worst(), Some(Severity::Breaking));
}

#[test]
fn comparison_of_many_tagged_branches_is_bounded() {
    // No branch equals another, and each has a tag.
    let choices = |kind: &str, count: u32| {
        let choices = (0..count).map(|number| {
            json!({
                "type": "object", "required": ["kind"],
                "properties": {"kind": {"const": format!("{kind}{number}")}},
            })
        });
        json!({"anyOf": choices.collect::<Vec<_>>()})
    };
    let limits = DriftLimits::default().steps(20_000);
    let contract =
        |kind: &str, count: u32| Contract::new().with_tools([tool("t", choices(kind, count))]);
    let (one, other) = (contract("a", 20_000), contract("b", 20_000));
    let drift = within_time(|| one.drift_within(&other, &limits));
    assert!(drift.to_string().contains("20000 steps"), "{drift}");
    // Branches at the same index are compared one by one, even if there are many.
    let (one, more) = (contract("a", 3_000), contract("a", 3_001));
    let drift = within_time(|| one.drift(&more));
    assert_eq!(summaries(&drift), ["additive /inputSchema/anyOf"]);
}

//! What holds for all contracts, tried with many.

use fastrand::Rng;
use serde_json::{Map, Value, json};

use super::{object, tool};
use crate::{Contract, Severity};

/// A schema, of all that schemas are made of.
fn schema(random: &mut Rng, depth: u8) -> Value {
    let mut members = Map::new();
    for _ in 0..random.u8(..5) {
        let (name, value) = keyword(random, depth);
        members.insert(name.to_owned(), value);
    }
    match random.u8(..20) {
        0 => json!(random.bool()),
        _ => Value::Object(members),
    }
}

fn keyword(random: &mut Rng, depth: u8) -> (&'static str, Value) {
    let names = ["a", "b", "c"];
    if depth == 0 || random.u8(..3) > 0 {
        let number = random.i8(-3..4);
        return match random.u8(..14) {
            0 => (
                "type",
                json!(random.choice(["string", "integer", "object", "array", "null"])),
            ),
            1 => ("type", json!(["string", "null", "object"])),
            2 => ("enum", json!(["x", number, null])),
            3 => ("const", json!({"b": 1, "a": number})),
            4 => ("minimum", json!(number)),
            5 => ("exclusiveMaximum", json!(number)),
            6 => ("minLength", json!(number)),
            7 => ("maxItems", json!(number)),
            8 => ("required", json!([names[random.usize(..3)], "a"])),
            9 => (
                "$ref",
                json!(random.choice(["#", "#/$defs/a", "#/$defs/b", "#x", "x"])),
            ),
            10 => ("description", json!(names[random.usize(..3)])),
            11 => ("format", json!("date")),
            12 => ("default", json!(number)),
            _ => ("$id", json!(names[random.usize(..3)])),
        };
    }
    let mut list = |count: u8| -> Vec<Value> {
        let count = random.u8(..count);
        (0..count).map(|_| schema(random, depth - 1)).collect()
    };
    let branches = list(4);
    let one = || branches.first().cloned().unwrap_or(json!({}));
    let members: Map<String, Value> = names
        .iter()
        .map(|name| (*name).to_owned())
        .zip(branches.clone())
        .collect();
    match random.u8(..16) {
        0 => ("anyOf", json!(branches)),
        1 => ("oneOf", json!(branches)),
        2 => ("allOf", json!(branches)),
        3 => ("not", one()),
        4 => ("if", one()),
        5 => ("then", one()),
        6 => ("items", one()),
        7 => ("prefixItems", json!(branches)),
        8 => ("additionalProperties", one()),
        9 => ("patternProperties", json!(members)),
        10 => ("dependentSchemas", json!(members)),
        11 => ("contains", one()),
        12 => ("propertyNames", one()),
        13 => ("$defs", json!(members)),
        _ => ("properties", json!(members)),
    }
}

/// The same, with keys and sets in another order.
fn shuffled(random: &mut Rng, value: &Value, is_schema: bool) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<_> = members.iter().collect();
            random.shuffle(&mut members);
            let members = members.into_iter();
            let members = members.map(|(name, member)| {
                let mut member = shuffled(random, member, is_schema);
                if let Value::Array(items) = &mut member {
                    if is_schema && matches!(name.as_str(), "type" | "required") {
                        random.shuffle(items);
                    }
                }
                (name.clone(), member)
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => items
            .iter()
            .map(|item| shuffled(random, item, is_schema))
            .collect(),
        other => other.clone(),
    }
}

fn contract(input: &Value, output: &Value) -> Contract {
    let schema = |schema: &Value| {
        object(if schema.is_object() {
            schema.clone()
        } else {
            json!({})
        })
    };
    let entry = tool("t", json!({}));
    let mut entry = entry.with_output_schema(schema(output));
    entry.input_schema = schema(input);
    Contract::new().with_tools([entry])
}

#[test]
fn a_contract_has_no_drift_with_itself_whatever_the_order() {
    let mut random = Rng::with_seed(11);
    for _ in 0..500 {
        let (input, output) = (schema(&mut random, 3), schema(&mut random, 3));
        let recorded = contract(&input, &output);
        let live = contract(
            &shuffled(&mut random, &input, true),
            &shuffled(&mut random, &output, true),
        );
        assert_eq!(recorded.to_json(), live.to_json());
        assert_eq!(Contract::from_json(&live.to_json()).unwrap(), recorded);
        assert!(recorded.drift(&live).is_empty(), "{input}");
    }
}

#[test]
fn the_parts_of_a_contract_that_are_the_same_have_no_drift_either() {
    let mut random = Rng::with_seed(12);
    for _ in 0..500 {
        // Something else is different, so that both are gone through.
        let input = schema(&mut random, 3);
        let whole = |text: &str| json!({"description": text, "properties": {"p": input}});
        let drift = contract(&whole("old"), &json!({})).drift(&contract(&whole("new"), &json!({})));
        assert_eq!(drift.worst(), Some(Severity::Wording), "{input}\n{drift}");
        assert_eq!(drift.changes().len(), 1, "{input}\n{drift}");
    }
}

#[test]
fn two_contracts_can_always_be_compared() {
    let mut random = Rng::with_seed(13);
    let mut breaking = 0;
    for _ in 0..500 {
        let schemas = [(); 4].map(|()| schema(&mut random, 3));
        let (one, other) = (
            contract(&schemas[0], &schemas[1]),
            contract(&schemas[2], &schemas[3]),
        );
        let drift = one.drift(&other);
        breaking += drift.count(Severity::Breaking);
        assert!(drift.to_string().lines().count() <= 101);
    }
    assert!(breaking > 500, "{breaking}");
}

//! Properties that hold for all arguments.

use fastrand::Rng;
use serde_json::{Value, json};
use treenail_runtime::client::ClientLimits;
use treenail_schema::JsonObject;
use treenail_validation::{CompiledSchema, ValidationLimits, Verdict};

use super::{tool, types};
use crate::arguments::ArgumentChecker;

/// Random values as models write them: with varying types, and nested.
fn value(random: &mut Rng, depth: u32) -> Value {
    match random.u8(..if depth == 0 { 8 } else { 11 }) {
        0 => json!(null),
        1 => json!(random.bool()),
        2 => json!(random.i32(-9..20)),
        3 => json!(f64::from(random.i32(-9..20)) / 2.0),
        4 => json!(random.u64(..).to_string()),
        5 => json!(random.i32(-9..20).to_string()),
        6 => json!(["true", "False", "a", "", "03", "1.5", "{\"x\": 1}", "[1]"][random.usize(..8)]),
        7 => json!(value(random, 0).to_string()),
        8 => (0..random.usize(..3))
            .map(|_| value(random, depth - 1))
            .collect(),
        _ => {
            let names = ["x", "y", "X", "z"];
            let count = random.usize(..3);
            let members = (0..count).map(|_| (names[random.usize(..4)], value(random, depth - 1)));
            members
                .map(|(name, value)| (name.to_owned(), value))
                .collect()
        }
    }
}

/// Text content of a value, regardless of types.
fn written(value: &Value) -> String {
    let letters = value.to_string().replace("null", "").replace(".0", "");
    let letters = letters
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || *letter == '-');
    letters.collect::<String>().to_lowercase()
}

#[test]
fn valid_values_are_unchanged_and_repairs_preserve_the_content() {
    let schema = types();
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    let tool = tool(&schema);
    let arguments = ArgumentChecker::new(&ClientLimits::default());
    let validator = CompiledSchema::new(&tool.input_schema, &ValidationLimits::default()).unwrap();
    let fits = |input: &JsonObject| {
        let value = Value::Object(input.clone());
        validator.verdict(&value) == Ok(Verdict::Valid)
    };
    let mut random = Rng::with_seed(7);
    let (mut retained, mut repaired) = (0, 0);
    for _ in 0..6_000 {
        let name = names[random.usize(..names.len())].clone();
        let given = JsonObject::from_iter([(name, value(&mut random, 2))]);
        let Ok(prepared) = arguments.prepare(&tool, "t", given.clone()) else {
            assert!(!fits(&given), "{given:?}");
            continue;
        };
        assert_eq!(prepared.unchecked, None);
        assert!(fits(&prepared.input), "{given:?} {prepared:?}");
        let again = arguments.prepare(&tool, "t", prepared.input.clone());
        assert_eq!(again, Ok(prepared.clone()), "{given:?}");
        let said = |input: &JsonObject| written(&Value::Object(input.clone()));
        if !prepared.input.is_empty() && !given.values().any(|it| it.to_string().contains("null")) {
            assert_eq!(said(&prepared.input), said(&given), "{given:?}");
        }
        if fits(&given) {
            retained += 1;
        } else {
            repaired += 1;
        }
    }
    assert!(
        retained > 300 && repaired > 300,
        "{retained} kept, {repaired} repaired"
    );
}

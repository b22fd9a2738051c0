//! Limits of schemas, and the cost of their keywords.

use serde_json::{Value, json};
use treenail::client::{ClientLimits, ValidationLimits};

use super::{outcome, within};

#[tokio::test]
async fn all_jsch_10_schemas_are_limited() {
    let few = || {
        ClientLimits::default().validation(
            ValidationLimits::default()
                .schema_bytes(3_000)
                .subschemas(40)
                .schema_depth(20)
                .path_bytes(10_000)
                .pattern_bytes(100_000),
        )
    };
    let wide = |count: usize| {
        let properties: serde_json::Map<_, _> = (0..count)
            .map(|number| (format!("p{number}"), json!({})))
            .collect();
        json!({"properties": properties})
    };
    let deep = |depth: usize| (0..depth).fold(json!({}), |inner, _| json!({"items": inner}));
    // Each definition refers to the next one.
    let chain = |length: usize| {
        let definitions: serde_json::Map<_, _> = (0..length)
            .map(|number| {
                (
                    format!("d{number}"),
                    json!({"$ref": format!("#/$defs/d{}", number + 1)}),
                )
            })
            .chain([(format!("d{length}"), json!({}))])
            .collect();
        json!({"$ref": "#/$defs/d0", "$defs": definitions})
    };
    let long = json!({"description": "x".repeat(3_000)});
    let large_pattern = json!({"pattern": "(\\w{50}){50}"});
    let broken_pattern = json!({"pattern": "("});
    for (schema, matches) in [
        (wide(39), true),
        (wide(40), false),
        (deep(19), true),
        (deep(20), false),
        (chain(9), true),
        (chain(19), false),
        (long, false),
        (json!({"properties": {"n".repeat(1_000): wide(2)}}), true),
        (json!({"properties": {"n".repeat(1_000): wide(10)}}), false),
        (json!({"pattern": "^[a-z]+$"}), true),
        (large_pattern, false),
        (broken_pattern, false),
        (json!({"type": "nothing"}), false),
    ] {
        let called = within(&schema, &json!({}), few()).await;
        assert_eq!(called.is_ok(), matches, "ALL-JSCH-10: {called:?} {schema}");
        if let Err(error) = called {
            assert!(error.contains("was not called"), "{error}");
        }
    }
}

#[tokio::test]
async fn all_jsch_10_explosive_schemas_are_rejected_at_once() {
    // Two choices at each level, which lead to the same subschema.
    let again = json!({"properties": {"a": {"$ref": "#"}}});
    let doubling = json!({"anyOf": [again, again, {"required": ["never"]}], "required": ["a"]});
    let deep = (0..60).fold(json!({}), |inner, _| json!({"a": inner}));
    // The same on a single level.
    let levels: serde_json::Map<_, _> = (0..40)
        .map(|number| {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            (format!("d{number}"), json!({"allOf": [next, next]}))
        })
        .chain([("d40".to_owned(), json!({"type": "array"}))])
        .collect();
    let flat = json!({"$ref": "#/$defs/d0", "$defs": levels});
    let circle = json!({"$ref": "#/$defs/a", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}});
    let looking_again = json!({
        "anyOf": [{"properties": {"a": {"$ref": "#"}}}], "unevaluatedProperties": false,
    });
    let going_back = json!({"items": {"pattern": "^(?=(a+)+b)(a|aa)+$"}});
    let texts = json!(vec!["a".repeat(60); 5_000]);
    for (schema, content) in [
        (doubling, deep.clone()),
        (flat, json!({})),
        (circle, json!({})),
        (looking_again, deep),
        (going_back, texts),
    ] {
        let began = std::time::Instant::now();
        let error = within(
            &schema,
            &content,
            ClientLimits::default().validation(ValidationLimits::default().steps(100_000)),
        )
        .await
        .unwrap_err();
        assert!(
            error.contains("does not match its output schema"),
            "ALL-JSCH-10: {error}"
        );
        assert!(began.elapsed().as_secs() < 5, "ALL-JSCH-10");
    }
}

#[tokio::test]
async fn look_ahead_patterns_are_supported_within_the_limits() {
    let schema = json!({"items": {"pattern": "^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z.]+$"}});
    outcome(&schema, &json!(["a.b@c.d"])).await.unwrap();
    outcome(&schema, &json!(["a..b@c.d"])).await.unwrap_err();
    // It backtracks for each way to split the string. The limit turns this into an error.
    let schema = json!({"pattern": "^(?=(a|aa|aaa)+$)(\\1|a)+b$"});
    outcome(&schema, &json!("a".repeat(40))).await.unwrap_err();
}

#[tokio::test]
async fn the_deepest_allowed_schema_fits_the_stack() {
    let length = ClientLimits::default().validation.schema_depth as usize / 2 - 2;
    let definitions: serde_json::Map<_, _> = (0..length)
        .map(|number| {
            let next = json!({"$ref": format!("#/$defs/d{}", number + 1)});
            (format!("d{number}"), json!({"allOf": [next]}))
        })
        .chain([(format!("d{length}"), json!({"type": "object"}))])
        .collect();
    let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    outcome(&schema, &json!({})).await.unwrap();
    outcome(&schema, &json!([])).await.unwrap_err();
    let schema = json!({"anyOf": [{"items": {"$ref": "#"}}, false], "type": ["array", "object"]});
    for inner in [json!({}), json!(1)] {
        let deep = (0..110).fold(inner.clone(), |inner, _| json!([inner]));
        let called = outcome(&schema, &deep).await;
        assert_eq!(called.is_ok(), inner.is_object(), "{called:?}");
    }
}

/// Applies a subschema many times to one value.
fn repeated(subschema: &Value, dialect: &str) -> Value {
    let reference = json!({"$ref": "#/$defs/repeated"});
    json!({"$schema": dialect, "allOf": vec![reference; 200], "$defs": {"repeated": subschema}})
}

const DRAFT_2020_12: &str = "https://json-schema.org/draft/2020-12/schema";
const DRAFT_7: &str = "http://json-schema.org/draft-07/schema#";

/// Keywords that visit large parts of a value, each with such a value and its dialect.
fn expensive_keywords() -> Vec<(Value, Value, &'static str)> {
    let numbers: Vec<u32> = (0..4_000).collect();
    let text = "a".repeat(30_000);
    let members: serde_json::Map<_, _> =
        (0..1_000).map(|at| (format!("m{at}"), json!(0))).collect();
    let names: Vec<_> = (0..1_000).map(|at| format!("m{at}")).collect();
    let properties: serde_json::Map<_, _> = (0..1_000)
        .map(|at| (format!("p{at}"), json!(true)))
        .collect();
    vec![
        (json!({"uniqueItems": true}), json!(numbers), DRAFT_2020_12),
        (json!({"minLength": 3}), json!(text), DRAFT_2020_12),
        (json!({"maxLength": 900_000}), json!(text), DRAFT_2020_12),
        (
            json!({"format": "json-pointer"}),
            json!(format!("/{text}")),
            DRAFT_7,
        ),
        (json!({"format": "regex"}), json!(text), DRAFT_7),
        (json!({"contentEncoding": "base64"}), json!(text), DRAFT_7),
        (
            json!({"contentMediaType": "application/json"}),
            json!(format!("\"{text}\"")),
            DRAFT_7,
        ),
        (json!({"const": text}), json!(text), DRAFT_2020_12),
        (json!({"required": names}), json!(members), DRAFT_2020_12),
        (
            json!({"dependentRequired": {"m0": names}}),
            json!(members),
            DRAFT_2020_12,
        ),
        (
            json!({"dependencies": {"m0": names}}),
            json!(members),
            DRAFT_7,
        ),
        (
            json!({"properties": properties}),
            json!({"m0": 0}),
            DRAFT_2020_12,
        ),
        (
            json!({"additionalProperties": true}),
            json!(members),
            DRAFT_2020_12,
        ),
        (
            json!({"unevaluatedProperties": true}),
            json!(members),
            DRAFT_2020_12,
        ),
        (
            json!({"pattern": "(a?){200}b"}),
            json!("a".repeat(2_000)),
            DRAFT_2020_12,
        ),
    ]
}

#[tokio::test]
async fn the_cost_covers_every_keyword() {
    let few = ClientLimits::default().validation(ValidationLimits::default().steps(20_000));
    for (subschema, content, dialect) in expensive_keywords() {
        let words = subschema.to_string();
        let schema = repeated(&subschema, dialect);
        let error = within(&schema, &content, few.clone()).await;
        let error = error.expect_err(&words[..words.len().min(80)]);
        assert!(error.contains("steps"), "{error}");
    }
    // Unvisited parts cost nothing.
    let schema = repeated(&json!({"type": "array"}), DRAFT_2020_12);
    within(&schema, &json!(vec![0; 4_000]), few.clone())
        .await
        .unwrap();
    let schema = repeated(&json!({"type": "object"}), DRAFT_2020_12);
    let members: serde_json::Map<_, _> =
        (0..1_000).map(|at| (format!("m{at}"), json!(0))).collect();
    within(&schema, &json!(members), few).await.unwrap();
}

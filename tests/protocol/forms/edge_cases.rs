//! Similar choices, bounds that decimal numbers only approximate, and forms of hostile servers.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treenail::__private_0_1_0::{check_content, parse_form_content};
use treenail::form::Form;
use treenail::mcp_form;
use treenail::schema::{ElicitSchema, ElicitValue};

/// Returns the names that a text selects from a field with these choices.
fn selected(items: &Value, text: &str) -> Option<Value> {
    let schema: ElicitSchema = serde_json::from_value(json!({
        "type": "object",
        "properties": {"of": {"type": "array", "items": items}},
    }))
    .unwrap();
    let entered = BTreeMap::from([("of".to_owned(), text.into())]);
    let content = parse_form_content(&schema, entered).ok()?;
    Some(serde_json::to_value(&content["of"]).unwrap())
}

#[test]
fn the_most_similar_choice_is_selected() {
    let plain = json!({"type": "string", "enum": ["mg", "Mg"]});
    let titled = json!({"anyOf": [
        {"const": "a", "title": "b"},
        {"const": "b", "title": "c"},
        {"const": "C", "title": "d"},
        {"const": "d, e", "title": "f"},
    ]});
    for (items, text, expected) in [
        (&plain, "Mg", json!(["Mg"])),
        (&plain, "mg, Mg", json!(["mg", "Mg"])),
        (&plain, "MG", json!(["mg"])),
        // A name before the same title of another choice, and an exact title before another case of a name.
        (&titled, "b", json!(["b"])),
        (&titled, "c", json!(["b"])),
        (&titled, "C", json!(["C"])),
        (&titled, "B, D", json!(["b", "C"])),
        // The longest match is before both.
        (&titled, "D, E", json!(["d, e"])),
    ] {
        assert_eq!(selected(items, text), Some(expected), "{text}");
    }
}

#[test]
fn a_form_accepts_its_own_default_at_a_bound() {
    #[mcp_form]
    #[derive(Debug, PartialEq)]
    struct Share {
        #[field(range = 0.1..=0.7, default = 0.1)]
        share: f32,
        #[field(range = 0.0..f32::INFINITY)]
        weight: f32,
    }

    let schema = Share::schema();
    let properties = serde_json::to_value(&schema).unwrap()["properties"].take();
    let expected = json!({
        "share": {"type": "number", "minimum": 0.1, "maximum": 0.7, "default": 0.1},
        "weight": {"type": "number", "minimum": 0.0},
    });
    assert_eq!(properties, expected);
    for share in [0.1, 0.7] {
        let number = |number: f64| ElicitValue::from(number);
        let content = BTreeMap::from([
            ("share".to_owned(), number(share)),
            ("weight".to_owned(), number(1.0)),
        ]);
        assert_eq!(check_content(&schema, &content), Ok(()));
        assert!(Share::read(content).is_ok(), "{share}");
    }
}

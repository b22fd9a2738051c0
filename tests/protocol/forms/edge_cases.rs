//! Bounds that decimal numbers only approximate.

use std::collections::BTreeMap;

use serde_json::json;
use treenail::__private_0_1_0::check_content;
use treenail::form::Form;
use treenail::mcp_form;
use treenail::schema::ElicitValue;

/// Returns the names that a text selects from a field with these choices.
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

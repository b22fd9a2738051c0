//! Similar choices, bounds that decimal numbers only approximate, and forms of hostile servers.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treenail::__private_0_1_0::{check_content, parse_form_content};
use treenail::form::Form;
use treenail::prelude::*;
use treenail::schema::{ElicitSchema, ElicitValue};

use crate::support::peer::{MODERN, Peer, text};

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

const MOST: u8 = 5;

#[mcp_form]
#[derive(PartialEq)]
struct TooMany {
    #[field(range = 1..=MOST, default = 9)]
    guests: u8,
}

#[mcp_form]
#[derive(PartialEq)]
struct TooLong {
    #[field(length = ..=3, default = "abcdef")]
    note: String,
}

#[mcp_form]
#[derive(PartialEq)]
struct MayBeEmpty {
    #[field(length = 2..=3, default = "")]
    note: String,
}

#[mcp_form]
#[derive(Debug, PartialEq)]
struct AtTheBound {
    #[field(range = 0.0..f64::from(MOST), default = f64::from(MOST))]
    share: f64,
}

async fn ask<T: Form>(cx: &Context) -> String {
    match cx.elicit::<T>("Which?").await {
        Ok(_) => "accepted".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[mcp_tool]
async fn too_many(cx: &Context) -> String {
    ask::<TooMany>(cx).await
}

#[mcp_tool]
async fn too_long(cx: &Context) -> String {
    ask::<TooLong>(cx).await
}

#[mcp_tool]
async fn may_be_empty(cx: &Context) -> String {
    ask::<MayBeEmpty>(cx).await
}

#[tokio::test]
async fn a_form_that_does_not_accept_its_default_is_not_asked() {
    let tools = treenail::tools![too_many, too_long, may_be_empty];
    let server = treenail::server!().tools(tools).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    for (name, expected) in [
        (
            "too_many",
            "this cannot be asked: the default of field `guests` is invalid: expected an integer (1 to 5), got 9",
        ),
        (
            "too_long",
            "this cannot be asked: the default of field `note` is invalid: expected a string (at most 3 characters), got the string \"abcdef\"",
        ),
    ] {
        let result = peer.call(name, json!({})).await;
        assert_eq!(text(&result), expected);
    }
    // This client cannot be asked at all.
    let result = peer
        .request("tools/call", json!({"name": "may_be_empty"}))
        .await;
    assert!(!result.to_string().contains("default"), "{result}");
    // A form schema has no exclusive bounds.
    let error = AtTheBound::read(BTreeMap::new()).unwrap_err();
    assert_eq!(
        error.errors()[0].message(),
        "the default of this field is out of range"
    );
}

//! Types with `#[mcp_type]` beside the user's own derives, and with attributes that depend on `cfg`.

use serde_json::{Value, from_value, json, to_value};
use treenail::prelude::*;

use crate::support::peer::{MODERN, Peer};

#[mcp_type]
#[derive(Clone, Debug, PartialEq)]
struct Inner {
    x: u8,
}

/// Output that the program itself reads with a derive of its own.
#[mcp_type(output)]
#[derive(serde::Deserialize, Debug, PartialEq)]
#[serde(rename_all = "camelCase")]
struct Report {
    the_name: String,
    other_part: Option<Inner>,
    #[serde(rename = "all")]
    parts: Vec<Inner>,
}

#[mcp_type(output)]
#[derive(serde::Deserialize, Debug, PartialEq)]
enum Event {
    #[serde(rename = "first")]
    One(Option<Inner>),
    Two(Vec<Inner>),
}

#[test]
fn attributes_of_serde_apply_to_other_derives() {
    let (the_name, part) = ("a".to_owned(), Inner { x: 1 });
    let report = Report {
        the_name,
        other_part: Some(part.clone()),
        parts: vec![part.clone()],
    };
    let json = to_value(&report).unwrap();
    assert_eq!(json["theName"], "a");
    assert_eq!(from_value::<Report>(json).unwrap(), report);
    for event in [Event::One(Some(part.clone())), Event::Two(vec![part])] {
        let json = to_value(&event).unwrap();
        assert_eq!(from_value::<Event>(json).unwrap(), event);
    }
}

type Perhaps = Option<Inner>;

#[mcp_type]
#[derive(Debug, PartialEq)]
struct Node {
    value: i32,
    next: Box<Option<Node>>,
    boxed: Box<Option<Inner>>,
    alias: Box<Perhaps>,
}

#[test]
fn a_boxed_option_may_be_missing() {
    let node: Node = from_value(json!({"value": 1})).unwrap();
    let expected = Node {
        value: 1,
        next: Box::new(None),
        boxed: Box::default(),
        alias: Box::default(),
    };
    assert_eq!(node, expected);
    let json = json!({"value": 1, "next": {"value": 2}, "boxed": {"x": 3}, "alias": {"x": 4}});
    let node: Node = from_value(json).unwrap();
    assert_eq!(node.next.unwrap().value, 2);
    assert_eq!(
        (*node.boxed, *node.alias),
        (Some(Inner { x: 3 }), Some(Inner { x: 4 }))
    );
}

/// Has documentation and fields that depend on `cfg`: `all()` is always true, and `any()` is always false.
#[mcp_type]
struct Conditional {
    #[cfg_attr(all(), doc = "A part")]
    #[cfg_attr(any(), doc = "Nothing")]
    part: Option<Inner>,
    #[cfg_attr(all(), cfg(any()))]
    missing: Hidden,
    #[cfg_attr(any(), cfg(any()))]
    there: Vec<Inner>,
}

struct Conditions;

#[mcp_tool]
impl Conditions {
    /// First.
    #[cfg_attr(all(), doc = "Second.", doc = "Third.")]
    #[cfg_attr(any(), doc = "Nothing.")]
    #[tool]
    fn documented(of: Conditional) -> usize {
        of.there.len() + of.part.map_or(0, |part| part.x.into())
    }

    #[cfg_attr(all(), cfg_attr(all(), doc = concat!("All", " of it.")), deprecated)]
    #[tool]
    fn nested() {}

    #[cfg_attr(any(), doc = "Nothing.", deprecated)]
    #[tool]
    fn undocumented() {}

    #[cfg_attr(all(), cfg(any()))]
    #[tool]
    fn missing() -> Hidden {}

    #[cfg_attr(any(), cfg(any()))]
    #[tool]
    fn there() {}
}

#[tokio::test]
async fn attributes_within_cfg_attr_apply() {
    let server = treenail::server!().mount(Conditions).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    let answer = peer.request("tools/list", json!({})).await;
    let tools = answer["result"]["tools"].as_array().unwrap();
    let described = tools
        .iter()
        .map(|tool| (&tool["name"], tool.get("description")));
    let text = |text: &str| Value::from(text);
    let names = ["documented", "nested", "undocumented", "there"].map(text);
    let texts = ["First.\nSecond.\nThird.", "All of it."].map(text);
    let expected = [
        (&names[0], Some(&texts[0])),
        (&names[1], Some(&texts[1])),
        (&names[2], None),
        (&names[3], None),
    ];
    assert_eq!(described.collect::<Vec<_>>(), expected);
    let properties = &tools[0]["inputSchema"]["properties"]["of"]["properties"];
    assert_eq!(properties["part"]["description"], "A part");
    assert_eq!(properties.as_object().unwrap().len(), 2);
}

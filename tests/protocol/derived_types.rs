//! Types with `#[mcp_type]` beside the user's own derives, and with attributes that depend on `cfg`.

use std::collections::HashMap;

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

#[mcp_type]
#[derive(Debug, PartialEq)]
enum Kind {
    A,
    B,
}

#[mcp_type]
#[derive(Debug, PartialEq)]
struct Filter {
    name: Option<String>,
    kind: Option<Kind>,
}

#[mcp_type]
#[derive(Debug, PartialEq)]
#[serde(untagged)]
enum Query {
    By(Filter),
    Names(Vec<String>),
}

#[mcp_type]
#[derive(Debug, PartialEq)]
struct Kinds {
    kind: Option<Kind>,
    other: Option<Kind>,
}

#[mcp_type]
#[derive(Debug, PartialEq)]
#[serde(untagged)]
enum OneOrMany {
    One(Kinds),
    Many(Vec<Kinds>),
}

#[test]
fn an_array_has_an_element_for_each_optional_field() {
    for short in [json!([]), json!(["a"])] {
        assert!(from_value::<Filter>(short.clone()).is_err(), "{short}");
    }
    let (name, kind) = (Some("a".to_owned()), Some(Kind::A));
    let filter = Filter { name, kind };
    assert_eq!(from_value::<Filter>(json!(["a", "A"])).unwrap(), filter);
    let query: Query = from_value(json!(["a"])).unwrap();
    assert_eq!(query, Query::Names(vec!["a".to_owned()]));
    let query: Query = from_value(json!({"name": "a", "kind": "A"})).unwrap();
    assert_eq!(query, Query::By(filter));
    let many: OneOrMany = from_value(json!([])).unwrap();
    assert_eq!(many, OneOrMany::Many(Vec::new()));
    assert!(from_value::<OneOrMany>(json!(["A"])).is_err());
    let one: OneOrMany = from_value(json!({"other": "B"})).unwrap();
    let (kind, other) = (None, Some(Kind::B));
    assert_eq!(one, OneOrMany::One(Kinds { kind, other }));
}

#[mcp_type]
#[derive(Debug, PartialEq)]
struct Texts {
    nick: Option<Box<str>>,
    tags: Vec<Box<str>>,
    by_kind: HashMap<Name, Box<str>>,
    slice: Box<[Box<str>]>,
    borrowed: Option<std::borrow::Cow<'static, str>>,
}

#[mcp_type]
#[derive(Debug, PartialEq, Eq, Hash)]
struct Name(Box<str>);

#[mcp_type]
#[derive(Debug, PartialEq)]
enum Text {
    Boxed(Box<str>),
    Slice(Box<[Inner]>),
}

#[test]
fn a_boxed_text_may_be_anywhere_in_a_type() {
    let json =
        json!({"nick": "a", "tags": ["b"], "by_kind": {"c": "d"}, "slice": ["e"], "borrowed": "f"});
    let texts: Texts = from_value(json.clone()).unwrap();
    assert_eq!(
        texts,
        Texts {
            nick: Some("a".into()),
            tags: vec!["b".into()],
            by_kind: [(Name("c".into()), "d".into())].into(),
            slice: ["e".into()].into(),
            borrowed: Some("f".into()),
        }
    );
    assert_eq!(to_value(texts).unwrap(), json);
    for json in [json!({"Boxed": "a"}), json!({"Slice": [{"x": 1}]})] {
        let text: Text = from_value(json.clone()).unwrap();
        assert_eq!(to_value(text).unwrap(), json);
    }
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

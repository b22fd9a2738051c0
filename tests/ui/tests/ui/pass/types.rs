//! Types with fields of every kind that `#[mcp_type]` copies or leaves alone.

#![deny(warnings)]

use std::collections::BTreeMap;

use treenail::prelude::*;

/// A date without a schema.
struct Hidden;

mod text {
    use treenail::__private_0_1_0::serde::{Deserialize, Deserializer, Serializer};

    use super::Hidden;

    pub(crate) fn serialize<S: Serializer>(_: &Hidden, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("hidden")
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Hidden, D::Error> {
        String::deserialize(from).map(|_| Hidden)
    }
}

/// Recursive.
#[mcp_type]
#[derive(Clone, Debug, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// Documented.
    pub child_nodes: Vec<Node>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Box<Node>>,
    by_name: BTreeMap<String, Node>,
    maybe: Option<Id>,
}

#[mcp_type]
#[derive(Clone, Debug, Default, PartialEq)]
struct Id(Number);

#[mcp_type]
#[derive(Clone, Debug, Default, PartialEq)]
struct Number {
    #[cfg(test)]
    number: u64,
    #[cfg(any())]
    number: NoSuchType,
}

#[mcp_type]
#[serde(tag = "kind")]
#[derive(Default)]
enum Shape {
    #[default]
    None,
    Named {
        id: Id,
    },
    Inner(Number),
    #[serde(skip)]
    Secret(Hidden),
}

#[mcp_type]
struct Mixed<T> {
    items: Vec<T>,
    id: Id,
}

#[mcp_type]
struct Patch<T> {
    id: T,
    value: Option<Option<T>>,
}

#[mcp_type]
struct Only<T> {
    value: Option<Option<T>>,
}

#[mcp_type]
struct Conversion {
    #[serde(with = "text")]
    #[schemars(with = "String")]
    hidden: Hidden,
    id: Id,
    #[serde(skip)]
    skipped: Option<u8>,
}

#[mcp_type]
#[serde(transparent)]
struct Transparent {
    id: Id,
}

macro_rules! typed {
    ($name:ident, $type:ty) => {
        #[mcp_type]
        struct $name {
            field: $type,
        }
    };
}
typed!(FromMacro, Option<Id>);

/// Missing members have the values of its default.
#[mcp_type]
#[derive(Debug, PartialEq)]
#[serde(default)]
struct Settings {
    id: Option<Id>,
    #[serde(default)]
    other: Option<Id>,
}

impl Default for Settings {
    fn default() -> Self {
        let id = Some(Id(Number { number: 7 }));
        Self {
            other: id.clone(),
            id,
        }
    }
}

#[mcp_type]
#[derive(Debug, PartialEq)]
struct Pair(Option<Id>, String);

#[mcp_type]
#[derive(Debug)]
struct Last(String, Option<Id>);

#[mcp_tool]
fn all(node: Node, shape: Shape, mixed: Mixed<Id>, hidden: Conversion, from: FromMacro) -> Node {
    let _ = (shape, mixed.items, mixed.id, hidden.hidden, hidden.id);
    let _ = (hidden.skipped, from.field);
    node
}

#[mcp_tool]
fn transparent(id: Transparent) -> Id {
    id.id
}

#[mcp_tool]
fn generic(patch: Patch<Id>, only: Only<Number>) -> Vec<Id> {
    let only = only.value.flatten().map(Id);
    [patch.id]
        .into_iter()
        .chain(patch.value.flatten())
        .chain(only)
        .collect()
}

pub(crate) fn main() {
    let server = treenail::server!()
        .tools(tools![all, transparent, generic])
        .build();
    assert!(server.is_ok(), "{:?}", server.err());
    let node = Node {
        maybe: Some(Id::default()),
        ..Node::default()
    };
    let value = treenail::__private_0_1_0::serde_json::to_value(&node).unwrap();
    let same = json!({"childNodes": [], "byName": {}, "maybe": {"number": 0}});
    assert_eq!(value, same);
    let read: Node = treenail::__private_0_1_0::serde_json::from_value(
        json!({"childNodes": [same], "byName": {}}),
    )
    .unwrap();
    assert_eq!(read.child_nodes, [node]);
    assert_eq!(read.maybe, None);
    let read: Settings = treenail::__private_0_1_0::serde_json::from_value(json!({})).unwrap();
    let id = Some(Id(Number { number: 7 }));
    assert_eq!(read, Settings { id, other: None });
    let pair = treenail::__private_0_1_0::serde_json::from_value::<Pair>(json!([null, "a"]));
    assert_eq!(pair.unwrap(), Pair(None, "a".to_owned()));
    let short = treenail::__private_0_1_0::serde_json::from_value::<Last>(json!(["a"]));
    assert!(short.is_err(), "{short:?}");
    let _ = (Shape::default(), Shape::Named { id: Id::default() });
    let _ = (Shape::Inner(Number::default()), Shape::Secret(Hidden));
}

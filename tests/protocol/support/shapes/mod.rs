//! Tools with outputs of every shape.

/// The same at run time.
pub(crate) mod twin;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treenail::dynamic::{Feature, Tool};
use treenail::prelude::*;
use treenail::schema::CallToolResult;
use treenail::tool::ToolSet;

use crate::support::offer::Offer;

#[mcp_type]
#[derive(Clone)]
struct Point {
    x: i32,
}

/// A tree of points, whose schema is recursive.
#[mcp_type(output)]
struct Tree {
    point: Point,
    under: Vec<Tree>,
}

#[mcp_type(output)]
#[serde(tag = "kind")]
enum Tagged {
    Point(Point),
    Gone { reason: String },
}

#[mcp_type(output)]
enum Outside {
    Point(Point),
    Gone { reason: String },
}

#[mcp_type(output)]
#[serde(untagged)]
enum Untagged {
    Point(Point),
    Gone { reason: String },
}

#[mcp_type(output)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
}

#[mcp_type(output)]
struct Flat {
    name: String,
    #[serde(flatten)]
    kind: Tagged,
}

const POINT: Point = Point { x: 1 };

macro_rules! returning {
    ($($name:ident -> $type:ty { $value:expr })*) => {
        $(
            #[mcp_tool]
            #[allow(clippy::unnecessary_wraps, reason = "it is about the type")]
            fn $name() -> $type { $value }
        )*

        fn tools() -> ToolSet {
            tools![$($name,)* nothing]
        }

        /// Returns the same tools, made at run time.
        fn features() -> Vec<Feature> {
            vec![
                $(Tool::new(stringify!($name)).handler(|_, _| async { $name() }),)*
                Tool::new("nothing").handler(|_, _| async { nothing() }),
            ]
        }
    };
}

returning! {
    record -> Point { POINT }
    tree -> Tree { Tree { point: POINT, under: vec![Tree { point: POINT, under: vec![] }] } }
    tagged -> Tagged { Tagged::Point(POINT) }
    other_tag -> Tagged { Tagged::Gone { reason: "r".to_owned() } }
    outside -> Outside { Outside::Point(POINT) }
    gone -> Outside { Outside::Gone { reason: "r".to_owned() } }
    untagged -> Untagged { Untagged::Point(POINT) }
    reasoned -> Untagged { Untagged::Gone { reason: "r".to_owned() } }
    flat -> Flat { Flat { name: "n".to_owned(), kind: Tagged::Point(POINT) } }
    map -> BTreeMap<String, u8> { BTreeMap::from([("a".to_owned(), 1)]) }
    boxed -> Result<Box<Tagged>, ToolError> { Ok(Box::new(Tagged::Point(POINT))) }
    object -> Value { json!({"a": 1}) }
    number -> Value { json!(1) }
    none -> Value { Value::Null }
    integer -> i64 { 1 }
    float -> f64 { 0.5 }
    truth -> bool { true }
    level -> Level { Level::Low }
    list -> Vec<Point> { vec![POINT] }
    pair -> (i64, String) { (1, "a".to_owned()) }
    some -> Option<Point> { Some(POINT) }
    nobody -> Option<Point> { None }
    trees -> Vec<Tree> { vec![Tree { point: POINT, under: vec![] }] }
    single -> Single { Single { result: 1 } }
    motto -> String { "m".to_owned() }
}

#[mcp_tool]
fn nothing() {}

#[mcp_type(output)]
struct Single {
    result: u8,
}

struct Streams;

#[mcp_tool]
impl Streams {
    #[tool]
    fn points() -> impl Stream<Item = Point> {
        tokio_stream::iter([POINT, POINT])
    }

    #[tool(fold = "last")]
    fn last() -> impl Stream<Item = u8> {
        tokio_stream::iter([1, 2])
    }

    #[tool(fold = "last")]
    fn last_of_all() -> impl Stream<Item = Tagged> {
        tokio_stream::iter([Tagged::Point(POINT)])
    }

    #[tool(fold = "last")]
    fn last_value() -> impl Stream<Item = Value> {
        tokio_stream::iter([json!(1)])
    }

    #[tool]
    fn breaks() -> impl Stream<Item = Result<u8, ToolError>> {
        tokio_stream::iter([Ok(1), Err(ToolError::new("no more"))])
    }
}

#[mcp_tool]
fn whole() -> CallToolResult {
    CallToolResult::text("a").with_structured_content(json!({"a": 1}))
}

/// Adds a tool for each shape.
pub(crate) fn add_shapes<O: Offer>(offer: O) -> O {
    offer.with_tools(tools()).with_mounted(Streams)
}

/// Adds a tool that returns a complete result.
pub(crate) fn add_result<O: Offer>(offer: O) -> O {
    offer.with_tools(tools![whole])
}

//! Tools whose arguments have bounds within their types.

use std::collections::BTreeMap;

use treenail::Server;
use treenail::prelude::*;

#[mcp_type]
#[serde(rename_all = "camelCase")]
struct Query {
    #[schemars(range(min = 1, max = 7))]
    days: Option<u8>,
    #[schemars(length(min = 2, max = 5))]
    #[serde(default)]
    code: String,
    #[schemars(length(max = 2), inner(length(max = 3)))]
    #[serde(default)]
    tag_names: Vec<String>,
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    share: Option<f64>,
    #[serde(rename = "max/price", alias = "price")]
    #[schemars(range(max = 1000))]
    most: Option<u64>,
    /// Not bounded: its type enforces the range.
    plain: Option<i32>,
}

#[mcp_type]
struct Level(#[schemars(range(min = 1, max = 3))] i64);

#[mcp_type]
struct Tree {
    #[schemars(length(max = 3))]
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
    other: Option<Box<Tree>>,
}

#[mcp_type]
struct Rest {
    free: Option<i64>,
    #[serde(flatten)]
    levels: BTreeMap<String, Level>,
}

#[mcp_type]
enum Choice {
    Level(#[schemars(range(max = 3))] i64),
    Pair {
        #[schemars(range(max = 3))]
        first: i64,
    },
}

#[mcp_type]
struct Mark(Level, u8);

fn count<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap()
}

#[mcp_tool]
fn search(query: Query) -> String {
    count(&query)
}

#[mcp_tool]
fn search_all(queries: Vec<Option<Query>>, level: Option<Level>) -> String {
    count(&(queries, level))
}

#[mcp_tool]
fn by_name(levels: BTreeMap<String, Level>, pair: Option<(u8, Level)>) -> String {
    count(&(levels, pair))
}

#[mcp_tool]
fn plant(tree: Tree) -> String {
    count(&tree)
}

#[mcp_tool]
fn others(rest: Rest, choice: Option<Choice>) -> String {
    count(&(rest, choice))
}

#[mcp_tool]
fn by_id(levels: BTreeMap<u32, Level>, marks: Option<Vec<Mark>>) -> String {
    count(&(levels, marks))
}

#[mcp_tool]
fn lists(levels: BTreeMap<String, Vec<Level>>) -> String {
    count(&levels.len())
}

pub(super) fn server() -> Server {
    let tools = treenail::tools![search, search_all, by_name, plant, others, by_id, lists];
    treenail::server!().tools(tools).build().unwrap()
}

//! Bounds within the types of arguments: they are in the schema, and checked before the function runs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treenail::Server;
use treenail::prelude::*;

use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, text};

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
}

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

fn server() -> Server {
    let tools = treenail::tools![search, search_all, by_name, plant, others];
    treenail::server!().tools(tools).build().unwrap()
}

#[tokio::test]
async fn values_within_nested_bounds_reach_the_function() {
    let table = [
        ("search", json!({"query": {}})),
        (
            "search",
            json!({"query": {
                "days": 7, "code": "\u{e9}\u{1f600}\n\"\\", "tagNames": ["abc", ""], "share": 0.5, "max/price": 1000,
                "plain": 2_147_483_647, "unknown": 9
            }}),
        ),
        (
            "search",
            json!({"query": {"days": null, "share": null, "max/price": null}}),
        ),
        ("search", json!({"query": {"days": 7.0, "code": "ab"}})),
        // The schema does not have the alias.
        ("search", json!({"query": {"price": 2000}})),
        (
            "search_all",
            json!({"queries": [null, {"days": 1}], "level": null}),
        ),
        ("search_all", json!({"queries": [], "level": 3})),
        ("by_name", json!({"levels": {"a": 1}, "pair": [200, 3]})),
        (
            "plant",
            json!({"tree": {"name": "abc", "children": [{"name": "d"}], "other": null}}),
        ),
        // Properties beside the other members, and alternatives.
        (
            "others",
            json!({"rest": {"free": 99, "a": 3}, "choice": {"Level": 99}}),
        ),
    ];
    for revision in covering("SRV-TOOL-17, ALL-JSCH-11") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments) in &table {
            let result = peer.call(name, arguments.clone()).await;
            assert_ne!(result["isError"], true, "{arguments}: {}", text(&result));
        }
    }
}

#[tokio::test]
async fn values_outside_of_nested_bounds_are_reported_with_their_place() {
    let table: [(&str, Value, &[&str]); 13] = [
        (
            "search",
            json!({"query": {"days": 200}}),
            &["- /query/days: expected an integer (at least 1, at most 7), got 200"],
        ),
        (
            "search",
            json!({"query": {"days": 8.0}}),
            &["- /query/days: expected an integer (at least 1, at most 7), got 8.0"],
        ),
        (
            "search",
            json!({"query": {"code": "\u{e9}", "share": 1, "max/price": 1001}}),
            &[
                "- /query/code: expected a string (characters at least 2, characters at most 5), got the string \"\u{e9}\"",
                "- /query/share: expected a number (more than 0, less than 1), got 1",
                "- /query/max~1price: expected an integer (at least 0, at most 1000), got 1001",
            ],
        ),
        (
            "search",
            json!({"query": {"share": 0.0, "days": 0}}),
            &[
                "- /query/share: expected a number (more than 0, less than 1), got 0.0",
                "- /query/days: expected an integer (at least 1, at most 7), got 0",
            ],
        ),
        (
            "search",
            json!({"query": {"code": "\u{1f600}\u{1f600}\n\"\\/"}}),
            &[
                r#"- /query/code: expected a string (characters at least 2, characters at most 5), got the string "😀😀\n\"\\/""#,
            ],
        ),
        (
            "search",
            json!({"query": {"tagNames": ["abcd", "a", "abcde"]}}),
            &[
                r#"- /query/tagNames: expected an array (items at most 2), got the array ["abcd","a","abcde"]"#,
                "- /query/tagNames/0: expected a string (characters at most 3), got the string \"abcd\"",
                "- /query/tagNames/2: expected a string (characters at most 3), got the string \"abcde\"",
            ],
        ),
        (
            "search_all",
            json!({"queries": [{}, {"days": 9}, null], "level": 4}),
            &[
                "- /queries/1/days: expected an integer (at least 1, at most 7), got 9",
                "- /level: expected an integer (at least 1, at most 3), got 4",
            ],
        ),
        // Another argument cannot be read.
        (
            "search_all",
            json!({"queries": [{"days": 9}], "level": "high"}),
            &[
                "- /queries/0/days: expected an integer (at least 1, at most 7), got 9",
                "- /level: expected an integer (at least 1, at most 3), got the string \"high\"",
            ],
        ),
        // Only the error of the deserializer.
        (
            "search",
            json!({"query": {"code": "", "days": 300}}),
            &["- /query/days: expected an integer (at least 1, at most 7), got 300"],
        ),
        (
            "by_name",
            json!({"levels": {"a~b": 0, "c": 1}}),
            &["- /levels/a~0b: expected an integer (at least 1, at most 3), got 0"],
        ),
        (
            "by_name",
            json!({"levels": {}, "pair": [5, 5]}),
            &["- /pair/1: expected an integer (at least 1, at most 3), got 5"],
        ),
        (
            "plant",
            json!({"tree": {"name": "a", "children": [{"name": "b", "other": {"name": "wide"}}]}}),
            &[
                "- /tree/children/0/other/name: expected a string (characters at most 3), got the string \"wide\"",
            ],
        ),
        (
            "others",
            json!({"rest": {"free": 99, "a": 4}}),
            &["- /rest/a: expected an integer (at least 1, at most 3), got 4"],
        ),
    ];
    for revision in covering("SRV-TOOL-17, ALL-JSCH-11") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments, lines) in &table {
            let result = peer.call(name, arguments.clone()).await;
            assert_eq!(result["isError"], true, "{arguments}");
            let expected = format!(
                "Wrong arguments for the tool `{name}`:\n{}\nCorrect them and call the tool again.",
                lines.join("\n")
            );
            assert_eq!(text(&result), expected);
        }
    }
}

#[tokio::test]
async fn the_number_of_reported_violations_is_bounded() {
    let mut peer = Peer::connect(&server(), MODERN).await;
    let queries = vec![json!({"days": 9}); 1000];
    let result = peer
        .call("search_all", json!({"queries": queries, "level": 9}))
        .await;
    let lines: Vec<_> = text(&result).lines().collect();
    // 16 of the first argument, and one of the second.
    assert_eq!(lines.len(), 1 + 16 + 1 + 1);
    assert!(lines[16].starts_with("- /queries/15/days: "));
    assert!(lines[17].starts_with("- /level: "));
}

//! A struct whose fields are arguments of a tool.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::server::ServerBuilder;

use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, text};

#[mcp_type]
struct Find {
    /// Part of the name
    name: String,
    #[schemars(range(min = 1, max = 50))]
    limit: Option<u8>,
    #[serde(default = "ten")]
    radius: f64,
    near: Option<Place>,
}

#[mcp_type]
struct Place {
    city: String,
}

#[mcp_type(input)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::option_option, reason = "null differs from absence")]
struct Page {
    first_item: Option<Option<u32>>,
    #[schemars(range(max = 100))]
    #[serde(default)]
    page_size: u32,
}

fn ten() -> f64 {
    10.0
}

/// Finds places.
#[mcp_tool]
fn find(#[arg(flatten)] find: Find) -> String {
    let Find {
        name,
        limit,
        radius,
        near,
    } = find;
    let near = near.map(|place| place.city);
    format!("{name} {limit:?} {radius} {near:?}")
}

/// Lists streets.
#[mcp_tool]
async fn streets(
    city: String,
    #[arg(flatten)] Page {
        first_item,
        page_size,
    }: Page,
    #[arg(default = true)] sorted: bool,
) -> String {
    format!("{city} {first_item:?} {page_size} {sorted}")
}

/// Counts the members of any name.
#[mcp_tool]
fn counts(prefix: String, #[arg(flatten)] counts: BTreeMap<String, u32>) -> String {
    format!("{prefix} {counts:?}")
}

fn server() -> Server {
    treenail::server!()
        .tools(tools![find, streets, counts])
        .build()
        .unwrap()
}

#[tokio::test]
async fn fields_are_properties_of_the_input_schema() {
    for revision in covering("SRV-TOOL-06") {
        let mut peer = Peer::connect(&server(), revision).await;
        let listed = peer.request("tools/list", json!({})).await;
        let tools = &listed["result"]["tools"];
        assert_eq!(
            tools[0]["inputSchema"],
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "Part of the name"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 50},
                    "radius": {"type": "number", "default": 10.0},
                    "near": {
                        "type": "object",
                        "properties": {"city": {"type": "string"}},
                        "required": ["city"],
                    },
                },
                "required": ["name"],
                "additionalProperties": false,
            })
        );
        let streets = &tools[1]["inputSchema"];
        let names: Vec<_> = streets["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["city", "sorted", "firstItem", "pageSize"]);
        assert_eq!(streets["required"], json!(["city"]));
        let counts = &tools[2]["inputSchema"];
        assert_eq!(counts["properties"], json!({"prefix": {"type": "string"}}));
        assert_eq!(counts["additionalProperties"]["type"], "integer");
    }
}

#[tokio::test]
async fn fields_are_read_beside_other_arguments() {
    let table = [
        ("find", json!({"name": "Oslo"}), "Oslo None 10 None"),
        (
            "find",
            json!({"near": {"city": "Bergen"}, "radius": 2, "limit": 3, "name": "O\"\n"}),
            "O\"\n Some(3) 2 Some(\"Bergen\")",
        ),
        // Null in place of an omitted field, and integers with a fraction.
        (
            "find",
            json!({"name": "Oslo", "limit": 5.0, "radius": null, "near": null}),
            "Oslo Some(5) 10 None",
        ),
        ("streets", json!({"city": "Oslo"}), "Oslo None 0 true"),
        (
            "streets",
            json!({"firstItem": null, "sorted": false, "pageSize": 7, "city": "Oslo"}),
            "Oslo Some(None) 7 false",
        ),
        (
            "streets",
            json!({"city": "Oslo", "firstItem": null, "pageSize": null}),
            "Oslo Some(None) 0 true",
        ),
        ("counts", json!({"prefix": "a"}), "a {}"),
        (
            "counts",
            json!({"x\"y": 1, "prefix": "a", "z": 2.0}),
            "a {\"x\\\"y\": 1, \"z\": 2}",
        ),
    ];
    for revision in covering("SRV-TOOL-17") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments, expected) in &table {
            let result = peer.call(name, arguments.clone()).await;
            assert_eq!(text(&result), *expected, "{arguments}");
        }
    }
}

#[tokio::test]
async fn errors_have_the_place_of_the_field() {
    let table: [(&str, Value, &[&str]); 9] = [
        (
            "find",
            json!({"nam": "Oslo"}),
            &[
                "- /name: missing; expected a string",
                "- /nam: unknown argument; did you mean `name`?",
            ],
        ),
        (
            "find",
            json!({"name": "Oslo", "limit": "x"}),
            &["- /limit: expected an integer (at least 1, at most 50), got the string \"x\""],
        ),
        (
            "find",
            json!({"name": "Oslo", "limit": 51}),
            &["- /limit: expected an integer (at least 1, at most 50), got 51"],
        ),
        (
            "find",
            json!({"name": "Oslo", "near": {"city": 1}}),
            &["- /near/city: expected a string, got 1"],
        ),
        (
            "streets",
            json!({"pageSize": 101, "sorted": 1}),
            &[
                "- /city: missing; expected a string",
                "- /sorted: expected true or false, got 1",
                "- /pageSize: expected an integer (at least 0, at most 100), got 101",
            ],
        ),
        (
            "streets",
            json!({"city": "Oslo", "page_size": 1}),
            &["- /page_size: unknown argument; did you mean `pageSize`?"],
        ),
        (
            "counts",
            json!({"prefix": "a", "b": null}),
            &["- /b: expected an integer (at least 0, at most 4294967295), got null"],
        ),
        // A null that stands for a default is not the mistake.
        (
            "find",
            json!({"name": "Oslo", "radius": null, "limit": "x"}),
            &["- /limit: expected an integer (at least 1, at most 50), got the string \"x\""],
        ),
        (
            "counts",
            json!({"prefix": "a", "b": -1}),
            &["- /b: expected an integer (at least 0, at most 4294967295), got -1"],
        ),
    ];
    let mut peer = Peer::connect(&server(), MODERN).await;
    for (name, arguments, expected) in table {
        let result = peer.call(name, arguments.clone()).await;
        assert_eq!(result["isError"], true, "SRV-TOOL-17");
        let lines: Vec<_> = text(&result).lines().collect();
        assert_eq!(&lines[1..lines.len() - 1], expected, "{arguments}");
    }
}

#[tokio::test]
async fn a_field_is_given_once() {
    let mut peer = Peer::connect(&server(), Revision::V2025_11_25).await;
    peer.send_line(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":{"name":"a","n\u0061me":"b"}}}"#,
    )
    .await;
    let answer = peer.receive("tools/call").await;
    let lines: Vec<_> = text(&answer["result"]).lines().collect();
    assert_eq!(lines[1], "- /name: given twice; give it once");
}

#[mcp_type(input)]
#[serde(tag = "kind")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[mcp_tool]
fn draw(#[arg(flatten)] shape: Shape) -> f64 {
    match shape {
        Shape::Circle { radius } => radius,
        Shape::Square { side } => side,
    }
}

#[mcp_tool]
fn repeat(name: String, #[arg(flatten)] place: Find) -> String {
    name + &place.name
}

#[mcp_tool]
fn whole(#[arg(flatten)] number: u8) -> u8 {
    number
}

#[mcp_tool]
fn perhaps(#[arg(flatten)] place: Option<Find>) -> bool {
    place.is_some()
}

#[test]
fn a_type_that_cannot_be_flattened_fails_the_build() {
    let build = |builder: ServerBuilder| builder.build().unwrap_err().to_string();
    let table = [
        (
            build(treenail::server!().tools(tools![draw])),
            "a flattened argument is a struct with named fields or a map, but its schema has `oneOf`",
        ),
        (
            build(treenail::server!().tools(tools![repeat])),
            "the argument `name` and a field of the flattened argument have the same name",
        ),
        (
            build(treenail::server!().tools(tools![whole])),
            "but its schema has `",
        ),
        (
            build(treenail::server!().tools(tools![perhaps])),
            "but it may be absent as a whole",
        ),
    ];
    for (error, expected) in table {
        assert!(error.contains(expected), "{error}");
    }
}

//! Check of outputs against the declared output schema, in debug builds: no client has listed the tools.

#![cfg(debug_assertions)]

use serde_json::{Map, Value, json};
use treenail::dynamic::Tool;
use treenail::prelude::*;
use treenail::schema::{CallToolResult, Revision};

use crate::support::peer::{MODERN, Peer, text};

#[mcp_type(output)]
struct Reading {
    #[schemars(range(max = 50))]
    c: f64,
}

#[mcp_type(output)]
struct Station {
    #[schemars(with = "i64")]
    name: String,
}

#[mcp_tool]
fn measure(c: f64) -> Reading {
    Reading { c }
}

#[mcp_tool]
async fn measure_all(c: f64) -> Vec<Reading> {
    tokio::task::yield_now().await;
    vec![Reading { c: 1.0 }, Reading { c }]
}

#[mcp_tool]
fn readings(c: f64) -> impl Stream<Item = Reading> {
    tokio_stream::iter([Reading { c: 1.0 }, Reading { c }])
}

#[mcp_tool]
fn station(name: String) -> Station {
    Station { name }
}

#[mcp_tool]
fn fail(c: f64) -> Result<Reading, ToolError> {
    Err(ToolError::new(format!("{c} is too hot")))
}

fn server() -> Server {
    treenail::server!()
        .tools(tools![measure, measure_all, readings, station, fail])
        .build()
        .unwrap()
}

/// Returns the text of a failure because of the output, or `None` for a success.
async fn problem(
    server: &Server,
    revision: Revision,
    tool: &str,
    arguments: Value,
) -> Option<String> {
    let mut peer = Peer::connect(server, revision).await;
    let result = peer.call(tool, arguments).await;
    assert_eq!(*result.get("isError")?, true, "{result}");
    assert_eq!(result.get("structuredContent"), None, "{result}");
    Some(text(&result).to_owned())
}

#[tokio::test]
async fn an_output_outside_of_its_schema_is_a_failure_that_names_the_place() {
    let server = server();
    let table = [
        ("measure", "/c"),
        ("measure_all", "/1/c"),
        ("readings", "/1/c"),
    ];
    for revision in Revision::ALL {
        for (tool, place) in table {
            let found = problem(&server, revision, tool, json!({"c": 50})).await;
            assert_eq!(found, None, "{tool} in {revision}");
            let found = problem(&server, revision, tool, json!({"c": 60})).await;
            // Older revisions have no structured content, and so no schema for it.
            assert_eq!(found.is_some(), revision >= Revision::V2025_06_18, "{tool}");
            let named = [
                format!("tool `{tool}`"),
                format!("at `{place}`"),
                "50".to_owned(),
            ];
            for part in named {
                let is_named = found.as_ref().is_none_or(|found| found.contains(&part));
                assert!(is_named, "{part} in {revision}: {found:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_wrong_schema_of_a_field_is_found() {
    let found = problem(&server(), MODERN, "station", json!({"name": "Oslo"})).await;
    let found = found.expect("the schema allows only integers");
    assert!(
        found.contains("at `/name`") && found.contains("integer"),
        "{found}"
    );
    assert!(
        !found.contains("Oslo"),
        "the value is not repeated: {found}"
    );
}

#[tokio::test]
async fn a_failure_is_not_checked() {
    let found = problem(&server(), MODERN, "fail", json!({"c": 60})).await;
    assert_eq!(found.as_deref(), Some("60 is too hot"));
}

#[tokio::test]
async fn the_declared_schema_of_a_tool_made_at_run_time_is_checked() {
    let schema = json!({"type": "object", "required": ["c"]});
    let add = |name: &str, content: Option<Value>| {
        Tool::new(name).output(schema.clone()).handler(move |_, _| {
            let mut result = CallToolResult::new(Vec::new());
            result.structured_content = content.clone();
            async { result }
        })
    };
    let server = treenail::server!()
        .add(add("right", Some(json!({"c": 1}))))
        .add(add("other", Some(Value::Object(Map::new()))))
        .add(add("nothing", None))
        .build()
        .unwrap();
    assert_eq!(problem(&server, MODERN, "right", json!({})).await, None);
    for (tool, part) in [("other", "\"c\""), ("nothing", "no structured content")] {
        let found = problem(&server, MODERN, tool, json!({})).await;
        assert!(found.is_some_and(|found| found.contains(part)), "{tool}");
    }
}

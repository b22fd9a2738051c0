//! Values of another type than the argument has, which `serde_json` reports as syntax errors.

use serde_json::json;
use treenail::prelude::*;

use crate::support::peer::{MODERN, Peer, text};

#[mcp_type]
enum Priority {
    Low,
    High,
}

#[mcp_type]
enum Shape {
    Circle { radius: u128 },
    Square { side: Priority },
}

#[mcp_type]
struct Issue {
    priority: Priority,
    others: Vec<Priority>,
    number: u128,
}

#[mcp_tool]
fn plain(priority: Priority) {
    let _ = priority;
}

#[mcp_tool]
fn optional(priority: Option<Priority>) {
    let _ = priority;
}

#[mcp_tool]
fn nested(issue: Issue) {
    let _ = issue;
}

#[mcp_tool]
fn data(shape: Shape) {
    let _ = shape;
}

#[mcp_tool]
fn large(natural: u128, whole: i128) {
    let _ = (natural, whole);
}

#[tokio::test]
async fn a_value_of_another_type_is_shown_with_the_expected_one() {
    let table = [
        (
            "plain",
            json!({"priority": 1}),
            "/priority: expected one of \"Low\", \"High\", got 1",
        ),
        (
            "plain",
            json!({"priority": null}),
            "/priority: expected one of \"Low\", \"High\", got null",
        ),
        (
            "plain",
            json!({"priority": ["Low"]}),
            "/priority: expected one of \"Low\", \"High\", got the array [\"Low\"]",
        ),
        (
            "plain",
            json!({"priority": {}}),
            "/priority: expected one of \"Low\", \"High\", got the object {}",
        ),
        (
            "optional",
            json!({"priority": true}),
            "/priority: expected one of \"Low\", \"High\", got true",
        ),
        (
            "nested",
            json!({"issue": {"priority": "Low", "others": ["High", 2], "number": 1}}),
            "/issue/others/1: expected one of \"Low\", \"High\", got 2",
        ),
        (
            "nested",
            json!({"issue": {"priority": "Low", "others": [], "number": "1"}}),
            "/issue/number: expected an integer (at least 0), got the string \"1\"",
        ),
        (
            "large",
            json!({"natural": -1, "whole": 1}),
            "/natural: expected an integer (at least 0), got -1",
        ),
        (
            "large",
            json!({"natural": 1.5, "whole": 1}),
            "/natural: expected an integer (at least 0), got 1.5",
        ),
        (
            "large",
            json!({"natural": 1, "whole": null}),
            "/whole: expected an integer, got null",
        ),
    ];
    check(&table).await;
}

#[tokio::test]
async fn a_mismatch_at_an_unknown_place_within_a_value_is_no_syntax_error() {
    let table = [
        (
            "data",
            json!({"shape": {"Square": {"side": 1}}}),
            "/shape: does not match the schema",
        ),
        (
            "data",
            json!({"shape": {"Circle": {"radius": 1}, "Square": {"side": "Low"}}}),
            "/shape: does not match the schema",
        ),
        (
            "nested",
            json!({"issue": {"priority": "Low", "others": [], "number": 1.5}}),
            "/issue: does not match the schema",
        ),
    ];
    check(&table).await;
}

async fn check(table: &[(&str, Value, &str)]) {
    let tools = tools![plain, optional, nested, data, large];
    let server = treenail::server!().tools(tools).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    for (name, arguments, expected) in table {
        let result = peer.call(name, arguments.clone()).await;
        let message = text(&result);
        let line = message.lines().nth(1).unwrap_or_default();
        assert_eq!(line.strip_prefix("- "), Some(*expected), "{message}");
    }
}

//! Values of another type than the argument has, which `serde_json` reports as syntax errors, or without their place.

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
    Point,
}

#[mcp_type]
#[serde(tag = "kind")]
enum Tagged {
    A { radius: u8 },
    B,
}

#[mcp_type]
#[serde(tag = "op", content = "args")]
enum Command {
    Move { to: String },
    Label(Vec<String>),
    Stop,
}

#[mcp_type]
#[serde(untagged)]
enum Either {
    Number(i64),
    Text(String),
}

#[mcp_type]
#[serde(untagged)]
enum Place {
    At { latitude: f64, longitude: f64 },
    In { city: String },
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
fn tagged(tagged: Tagged) {
    let _ = tagged;
}

#[mcp_tool]
fn command(command: Command) {
    let _ = command;
}

#[mcp_tool]
fn either(either: Either) {
    let _ = either;
}

#[mcp_tool]
fn place(place: Place) {
    let _ = place;
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
async fn a_mismatch_in_an_enum_with_data_has_its_place() {
    let table = [
        (
            "data",
            json!({"shape": {"Square": {"side": 1}}}),
            "/shape/Square/side: expected one of \"Low\", \"High\", got 1",
        ),
        (
            "data",
            json!({"shape": {"Circle": {"radius": "1"}}}),
            "/shape/Circle/radius: expected an integer (at least 0), got the string \"1\"",
        ),
        (
            "data",
            json!({"shape": {"Circle": {}}}),
            "/shape/Circle: missing field `radius`",
        ),
        (
            "command",
            json!({"command": {"op": "Label", "args": "x"}}),
            "/command/args: expected an array, got the string \"x\"",
        ),
        (
            "command",
            json!({"command": {"op": "Label", "args": [1]}}),
            "/command/args/0: expected a string, got 1",
        ),
        (
            "command",
            json!({"command": {"op": "Stop", "args": true}}),
            "/command/args: invalid type: boolean `true`, expected unit variant Command::Stop",
        ),
    ];
    check(&table).await;
}

#[tokio::test]
async fn a_value_that_is_none_of_the_variants_is_shown_with_them() {
    let shapes = r#"expected "Point" or {"Circle": …} or {"Square": …}, got"#;
    let tagged = r#"expected {"kind": "A", "radius": …} or {"kind": "B"}, got"#;
    let table = [
        (
            "data",
            json!({"shape": {"Circle": {"radius": 1}, "Square": {"side": "Low"}}}),
            format!(
                r#"/shape: {shapes} the object {{"Circle":{{"radius":1}},"Square":{{"side":"Low"}}}}"#
            ),
        ),
        (
            "data",
            json!({"shape": {}}),
            format!("/shape: {shapes} the object {{}}"),
        ),
        (
            "data",
            json!({"shape": 1}),
            format!("/shape: {shapes} 1"),
        ),
        (
            "tagged",
            json!({"tagged": "A"}),
            format!(r#"/tagged: {tagged} the string "A""#),
        ),
        (
            "tagged",
            json!({"tagged": {"kind": "A", "radius": 300}}),
            "/tagged: invalid value: integer `300`, expected u8".to_owned(),
        ),
        (
            "either",
            json!({"either": {}}),
            "/either: expected an integer or a string, got the object {}".to_owned(),
        ),
        (
            "place",
            json!({"place": {"latitude": 1}}),
            r#"/place: expected {"latitude": …, "longitude": …} or {"city": …}, got the object {"latitude":1}"#
                .to_owned(),
        ),
    ];
    let table = table.each_ref();
    let table = table.map(|(name, arguments, expected)| (*name, arguments.clone(), &**expected));
    check(&table).await;
}

#[tokio::test]
async fn a_mismatch_at_an_unknown_place_within_a_value_is_no_syntax_error() {
    let table = [(
        "nested",
        json!({"issue": {"priority": "Low", "others": [], "number": 1.5}}),
        "/issue: does not match the schema",
    )];
    check(&table).await;
}

#[tokio::test]
async fn a_long_value_of_another_type_is_shown_with_the_expected_one() {
    let long = "x".repeat(100_000);
    let shown = &long[..57];
    let table = [
        (
            "plain",
            json!({"priority": [&long]}),
            format!(r#"/priority: expected one of "Low", "High", got the array ["x{shown}…"#),
        ),
        (
            "either",
            json!({"either": [&long]}),
            format!(r#"/either: expected an integer or a string, got the array ["x{shown}…"#),
        ),
        // The type of the whole is the right one.
        (
            "tagged",
            json!({"tagged": {"kind": "A", "radius": 300, "note": &long}}),
            "/tagged: invalid value: integer `300`, expected u8".to_owned(),
        ),
    ];
    let table = table.each_ref();
    let table = table.map(|(name, arguments, expected)| (*name, arguments.clone(), &**expected));
    check(&table).await;
}

async fn check(table: &[(&str, Value, &str)]) {
    let tools = tools![
        plain, optional, nested, data, tagged, command, either, place, large
    ];
    let server = treenail::server!().tools(tools).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    for (name, arguments, expected) in table {
        let result = peer.call(name, arguments.clone()).await;
        let message = text(&result);
        let line = message.lines().nth(1).unwrap_or_default();
        assert_eq!(line.strip_prefix("- "), Some(*expected), "{message}");
    }
}

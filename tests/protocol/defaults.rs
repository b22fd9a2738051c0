//! Defaults and bounds of arguments: in the schema, and in calls.

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::support::peer::{MODERN, Peer, text};

/// Scales by numbers of 32 bits.
#[mcp_tool]
fn scale(
    #[arg(range = 0.1..=0.7, default = 0.1)] by: f32,
    #[arg(default = vec![0.1, 16_777_216.0])] steps: Vec<f32>,
    #[arg(default = Some(0.3))] limit: Option<f32>,
    #[arg(default = 0.1 + 0.2)] exact: f64,
) -> String {
    format!("{by} {steps:?} {limit:?} {exact}")
}

/// Has bounds that no JSON number expresses.
#[mcp_tool]
fn unbounded(
    #[arg(range = 0.0..f64::INFINITY)] a: f64,
    #[arg(range = f32::NEG_INFINITY..=1.0)] b: f32,
) -> f64 {
    a + f64::from(b)
}

/// Has arguments that accept null.
#[mcp_tool]
fn nullable(
    #[arg(default = Some(5), range = 1..=9)] z: Option<u8>,
    #[arg(default)] y: Option<u8>,
    #[arg(default = 7)] x: u8,
) -> String {
    format!("{z:?} {y:?} {x}")
}

/// Has a field with a default.
#[mcp_type]
struct Query {
    #[serde(default = "ten")]
    limit: u8,
}

/// Writes other names than it reads.
#[mcp_type]
#[derive(Default)]
#[serde(rename_all(serialize = "camelCase", deserialize = "snake_case"))]
struct Route {
    #[serde(default)]
    last_stop: Option<u8>,
    first_stop: u8,
}

#[mcp_tool]
fn travel(#[arg(default)] route: Route) -> u8 {
    route.first_stop + route.last_stop.unwrap_or_default()
}

fn ten() -> u8 {
    10
}

#[mcp_tool]
fn search(query: Query) -> u8 {
    query.limit
}

struct Guide;

#[mcp_tool]
impl Guide {
    #[prompt]
    fn plan(
        #[arg(default)] days: Option<u8>,
        #[arg(default = Some(2))] guests: Option<u8>,
    ) -> String {
        format!("{days:?} {guests:?}")
    }
}

async fn properties(peer: &mut Peer, name: &str) -> Value {
    let mut answer = peer.request("tools/list", json!({})).await;
    let mut listed = answer["result"]["tools"].take();
    let mut listed = listed.as_array_mut().unwrap().iter_mut();
    let found = listed.find(|tool| tool["name"] == name).unwrap();
    found["inputSchema"]["properties"].take()
}

async fn connect(revision: Revision) -> Peer {
    let tools = tools![scale, unbounded, nullable, search, travel];
    let server = treenail::server!().tools(tools).build().unwrap();
    Peer::connect(&server, revision).await
}

#[tokio::test]
async fn numbers_of_32_bits_are_listed_with_their_own_digits() {
    let mut peer = connect(MODERN).await;
    let expected = json!({
        "by": {"type": "number", "minimum": 0.1, "maximum": 0.7, "default": 0.1},
        "steps": {"type": "array", "items": {"type": "number"}, "default": [0.1, 16_777_216.0]},
        "limit": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": 0.3},
        "exact": {"type": "number", "default": 0.1 + 0.2},
    });
    assert_eq!(properties(&mut peer, "scale").await, expected);
    let defaults = "0.1 [0.1, 16777216.0] Some(0.3) 0.30000000000000004";
    for arguments in [json!({}), json!({"by": 0.1, "limit": 0.3})] {
        assert_eq!(text(&peer.call("scale", arguments).await), defaults);
    }
}

#[tokio::test]
async fn a_default_that_the_type_cannot_read_is_not_listed() {
    let mut peer = connect(MODERN).await;
    let listed = properties(&mut peer, "travel").await;
    assert!(listed["route"].get("default").is_none(), "{listed}");
    assert_eq!(text(&peer.call("travel", json!({})).await), "0");
}

#[tokio::test]
async fn an_infinite_bound_has_no_keyword() {
    let mut peer = connect(MODERN).await;
    let expected = json!({
        "a": {"type": "number", "minimum": 0.0},
        "b": {"type": "number", "maximum": 1.0},
    });
    assert_eq!(properties(&mut peer, "unbounded").await, expected);
    let result = peer.call("unbounded", json!({"a": 1, "b": -2})).await;
    assert_eq!(text(&result), "-1.0");
}

#[tokio::test]
async fn null_is_the_default_unless_the_type_accepts_it() {
    let expected = json!({
        "z": {
            "anyOf": [{"type": "integer", "minimum": 1, "maximum": 9}, {"type": "null"}],
            "default": 5,
        },
        "y": {"type": "integer", "minimum": 0, "maximum": 255},
        "x": {"type": "integer", "minimum": 0, "maximum": 255, "default": 7},
    });
    for revision in Revision::ALL {
        let mut peer = connect(revision).await;
        assert_eq!(properties(&mut peer, "nullable").await, expected);
        for (arguments, values) in [
            (json!({}), "Some(5) None 7"),
            (json!({"z": null, "y": null, "x": null}), "None None 7"),
            (json!({"z": 1, "y": 2, "x": 3}), "Some(1) Some(2) 3"),
        ] {
            let result = peer.call("nullable", arguments).await;
            assert_eq!(text(&result), values);
        }
        let result = peer.call("nullable", json!({"z": 10})).await;
        let expected = "/z: expected an integer (at least 1, at most 9) or null, got 10";
        assert!(text(&result).contains(expected), "{}", text(&result));
        // A field is read by its type alone.
        for (query, failed) in [(json!({}), false), (json!({"limit": null}), true)] {
            let result = peer.call("search", json!({ "query": query })).await;
            assert_eq!(result["isError"] == true, failed);
        }
    }
}

#[tokio::test]
async fn an_optional_argument_of_a_prompt_may_have_the_default_of_its_type() {
    let server = treenail::server!().mount(Guide).build().unwrap();
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        for (arguments, expected) in [
            (json!({}), "None Some(2)"),
            (json!({"days": "3", "guests": "4"}), "Some(3) Some(4)"),
        ] {
            let result = peer.prompt("plan", arguments).await;
            assert_eq!(result["messages"][0]["content"]["text"], expected);
        }
    }
}

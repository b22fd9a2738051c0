//! Arguments whose type accepts less, or is written in more ways, than its schema states at first sight.

use std::collections::BTreeMap;
use std::net::IpAddr;

use serde_json::{Value, json};
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::support::peer::{MODERN, Peer, text};

/// Code of a country.
#[mcp_type]
#[serde(try_from = "String")]
struct Country(String);

impl TryFrom<String> for Country {
    type Error = &'static str;

    fn try_from(code: String) -> Result<Self, Self::Error> {
        match code.len() {
            2 => Ok(Self(code)),
            _ => Err("invalid country code, use two letters"),
        }
    }
}

#[mcp_type]
struct Point {
    x: i32,
    y: Option<u32>,
}

#[mcp_type]
struct Five {
    #[serde(default = "five")]
    count: Option<u8>,
    #[serde(default)]
    other: Option<u8>,
}

#[allow(clippy::unnecessary_wraps, reason = "it is the default of an `Option`")]
fn five() -> Option<u8> {
    Some(5)
}

#[mcp_tool]
fn country(code: Country) -> String {
    code.0
}

#[mcp_tool]
fn address(host: IpAddr) -> String {
    host.to_string()
}

#[mcp_tool]
fn by_address(counts: BTreeMap<IpAddr, u8>) -> usize {
    counts.len()
}

#[mcp_tool]
fn by_flag(counts: BTreeMap<bool, u8>) -> usize {
    counts.len()
}

#[mcp_tool]
fn by_letter(counts: BTreeMap<char, u8>) -> usize {
    counts.len()
}

#[mcp_tool]
fn whole(a: i32, #[arg(range = 1..10)] b: u32, c: Option<i32>) -> String {
    format!("{a} {b} {c:?}")
}

#[mcp_tool]
fn five_or_none(of: Five) -> String {
    format!("{:?} {:?}", of.count, of.other)
}

#[mcp_tool]
fn place(#[arg(default = Point { x: 1, y: None })] at: Point, scale: Option<f64>) -> String {
    format!("{} {:?} {scale:?}", at.x, at.y)
}

async fn connect(revision: Revision) -> Peer {
    let tools = tools![
        country,
        address,
        by_address,
        by_flag,
        by_letter,
        whole,
        five_or_none,
        place
    ];
    let server = treenail::server!().tools(tools).build().unwrap();
    Peer::connect(&server, revision).await
}

async fn properties(name: &str) -> Value {
    let mut peer = connect(MODERN).await;
    let mut answer = peer.request("tools/list", json!({})).await;
    let mut listed = answer["result"]["tools"].take();
    let mut listed = listed.as_array_mut().unwrap().iter_mut();
    let found = listed.find(|tool| tool["name"] == name).unwrap();
    found["inputSchema"]["properties"].take()
}

#[tokio::test]
async fn an_error_never_contradicts_itself() {
    let table = [
        (
            "country",
            json!({"code": "Norway"}),
            "/code: invalid country code, use two letters",
        ),
        (
            "address",
            json!({"host": "localhost"}),
            "/host: invalid IP address syntax",
        ),
        (
            "by_address",
            json!({"counts": {"localhost": 1}}),
            "/counts/localhost: invalid IP address syntax",
        ),
        (
            "by_flag",
            json!({"counts": {"x": 1}}),
            // `serde_json` does not state the key.
            "/counts: invalid type: string \"\", expected a boolean",
        ),
        (
            "by_letter",
            json!({"counts": {"xx": 1}}),
            "/counts/xx: invalid value: string \"xx\", expected a character",
        ),
        (
            "by_letter",
            json!({"counts": {"x": 300}}),
            "/counts/x: expected an integer (at least 0, at most 255), got 300",
        ),
    ];
    let mut peer = connect(MODERN).await;
    for (name, arguments, expected) in table {
        let result = peer.call(name, arguments).await;
        let message = text(&result);
        let line = message.lines().nth(1).unwrap_or_default();
        assert_eq!(line.strip_prefix("- "), Some(expected), "{message}");
    }
}

#[tokio::test]
async fn integers_of_32_bits_have_a_range() {
    let expected = json!({
        "a": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX},
        "b": {"type": "integer", "minimum": 1, "exclusiveMaximum": 10},
        "c": {"type": "integer", "minimum": i32::MIN, "maximum": i32::MAX},
    });
    assert_eq!(properties("whole").await, expected);
    let mut peer = connect(MODERN).await;
    let result = peer
        .call("whole", json!({"a": 5_000_000_000_u64, "b": 1}))
        .await;
    let expected =
        "- /a: expected an integer (at least -2147483648, at most 2147483647), got 5000000000\n";
    assert!(text(&result).contains(expected), "{result}");
}

#[tokio::test]
async fn an_integer_may_have_a_fraction_of_zero() {
    let mut peer = connect(MODERN).await;
    let table = [
        ("whole", r#"{"a":1.0,"b":2e0,"c":-3.00}"#, "1 2 Some(-3)"),
        (
            "place",
            r#"{"at":{"x":2.0},"scale":1.0}"#,
            "2 None Some(1.0)",
        ),
        ("by_flag", r#"{"counts":{"true":1.0}}"#, "1"),
    ];
    for (name, arguments, expected) in table {
        let params = json!({"name": name, "arguments": "?"});
        let message = peer.message(&json!(7), "tools/call", params).to_string();
        peer.send_line(&message.replace("\"?\"", arguments)).await;
        let answer = peer.receive("tools/call").await;
        assert_eq!(text(&answer["result"]), expected);
    }
    let wrong = [
        (json!({"a": 1.5, "b": 1}), "got 1.5"),
        (json!({"a": 1, "b": 10.0}), "got 10.0"),
        (json!({"a": 5e9, "b": 1}), "got 5000000000.0"),
    ];
    for (arguments, expected) in wrong {
        let result = peer.call("whole", arguments).await;
        assert_eq!(result["isError"], true);
        assert!(text(&result).contains(expected), "{result}");
    }
}

#[tokio::test]
async fn a_field_with_a_default_accepts_null_too() {
    let expected = json!({"of": {"type": "object", "properties": {
        "count": {
            "anyOf": [{"type": "integer", "minimum": 0, "maximum": 255}, {"type": "null"}],
            "default": 5,
        },
        "other": {"type": "integer", "minimum": 0, "maximum": 255},
    }}});
    assert_eq!(properties("five_or_none").await, expected);
    let mut peer = connect(MODERN).await;
    for (of, expected) in [
        (json!({}), "Some(5) None"),
        (json!({"count": null}), "None None"),
    ] {
        let result = peer.call("five_or_none", json!({ "of": of })).await;
        assert_eq!(text(&result), expected);
    }
}

#[tokio::test]
async fn a_default_is_valid_for_its_own_schema() {
    let properties = properties("place").await;
    let default = &properties["at"]["default"];
    assert_eq!(*default, json!({"x": 1}));
    assert!(jsonschema::is_valid(&properties["at"], default));
    let mut peer = connect(MODERN).await;
    let result = peer.call("place", json!({"at": default})).await;
    assert_eq!(text(&result), "1 None None");
}

/// Reading of a meter, or a remark.
#[mcp_type]
#[serde(tag = "kind")]
enum Entry {
    Reading { value: u8 },
    Remark { text: String },
}

struct Meter;

#[mcp_tool]
impl Meter {
    #[prompt]
    fn explain(entry: Entry) -> String {
        match entry {
            Entry::Reading { value } => format!("reading {value}"),
            Entry::Remark { text } => format!("remark {text}"),
        }
    }

    #[prompt]
    fn review(areas: Option<Vec<String>>, weights: Option<BTreeMap<String, u8>>) -> String {
        format!("{areas:?} {weights:?}")
    }
}

#[tokio::test]
async fn a_list_in_a_text_is_json() {
    let server = treenail::server!().mount(Meter).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    let arguments = json!({"areas": r#"["a", "b"]"#, "weights": r#"{"a": 1}"#});
    let result = peer.prompt("review", arguments).await;
    let expected = r#"Some(["a", "b"]) Some({"a": 1})"#;
    assert_eq!(result["messages"][0]["content"]["text"], expected);
    let params = json!({"name": "review", "arguments": {"areas": "a, b", "weights": "a=1"}});
    let (_, message) = peer.refused("prompts/get", params).await;
    let reason = r#"the text must be JSON, such as `["a", "b"]` or `{"a": 1}`"#;
    for expected in [
        format!(r#"/areas: expected an array, got the string "a, b": {reason}"#),
        format!(r#"/weights: expected an object, got the string "a=1": {reason}"#),
    ] {
        assert!(message.contains(&expected), "{message}");
    }
}

#[tokio::test]
async fn an_enum_with_data_is_read_from_the_json_in_a_text() {
    let server = treenail::server!().mount(Meter).build().unwrap();
    let mut peer = Peer::connect(&server, MODERN).await;
    for (entry, expected) in [
        (r#"{"kind":"Reading","value":7}"#, "reading 7"),
        (r#"{"kind":"Remark","text":"{}"}"#, "remark {}"),
    ] {
        let result = peer.prompt("explain", json!({ "entry": entry })).await;
        assert_eq!(result["messages"][0]["content"]["text"], expected);
    }
    let entry = r#"{"kind":"Reading","value":"x"}"#;
    let params = json!({"name": "explain", "arguments": {"entry": entry}});
    let (_, message) = peer.refused("prompts/get", params).await;
    let expected = "expected {\"kind\": \"Reading\", \"value\": …} or {\"kind\": \"Remark\", \"text\": …}, got the string \"{\\\"kind\\\":\\\"Reading\\\",\\\"value\\\":\\\"x\\\"}\": \
        the text has an invalid type: string \"x\", expected u8";
    assert!(message.contains(expected), "{message}");
    let params = json!({"name": "explain", "arguments": {"entry": "[]"}});
    let (_, message) = peer.refused("prompts/get", params).await;
    assert!(!message.contains(" at line "), "{message}");
}

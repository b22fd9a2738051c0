//! Bounds within the types of arguments that are transmitted as strings: those of prompts, and the variables of URIs.

use serde_json::json;
use treenail::Server;
use treenail::prelude::*;

#[mcp_type]
struct Id(#[schemars(range(min = 1))] u64);

#[mcp_type]
struct Tag(#[schemars(length(min = 2, max = 4))] String);

#[mcp_type]
struct Window {
    #[schemars(range(min = 1, max = 5))]
    hours: u8,
}

#[mcp_type]
struct Codes(#[schemars(length(max = 2), inner(range(min = 1)))] Vec<i64>);

struct Bounded;

#[mcp_tool]
impl Bounded {
    #[prompt]
    fn plan(id: Id, tag: Option<Tag>, window: Option<Window>, codes: Option<Codes>) -> String {
        let (tag, hours) = (tag.map(|tag| tag.0), window.map(|window| window.hours));
        format!(
            "{} {tag:?} {hours:?} {:?}",
            id.0,
            codes.map(|codes| codes.0)
        )
    }

    #[resource("note://{id}/{tag}")]
    fn note(id: Id, tag: Tag) -> String {
        format!("{} {}", id.0, tag.0)
    }
}

fn server() -> Server {
    treenail::server!().mount(Bounded).build().unwrap()
}

#[tokio::test]
async fn texts_within_bounds_are_read() {
    let client = McpClient::builder()
        .server(&server())
        .build()
        .await
        .unwrap();
    let table = [
        (json!({"id": "1"}), "1 None None None"),
        (
            json!({"id": "+7", "tag": "\u{e9}\u{1f600}"}),
            "7 Some(\"\u{e9}\u{1f600}\") None None",
        ),
        // A string type reads the text itself, also if that is a number, an array, or not JSON.
        (
            json!({"id": "2", "tag": "9999"}),
            "2 Some(\"9999\") None None",
        ),
        (
            json!({"id": "2", "tag": "[0]"}),
            "2 Some(\"[0]\") None None",
        ),
        (json!({"id": "2", "tag": "[x"}), "2 Some(\"[x\") None None"),
        (
            json!({"id": "2", "window": " {\"hours\": 5}", "codes": "[1, 2]"}),
            "2 None Some(5) Some([1, 2])",
        ),
    ];
    for (arguments, expected) in table {
        let prompt = client.get_prompt("plan", arguments).await.unwrap();
        assert_eq!(prompt.as_text(), Some(expected));
    }
    let note = client.read_resource("note://1/ab").await.unwrap();
    assert_eq!(note.as_text(), Some("1 ab"));
}

#[tokio::test]
async fn texts_outside_of_bounds_are_reported_with_their_place() {
    let client = McpClient::builder()
        .server(&server())
        .build()
        .await
        .unwrap();
    let table: [(_, &[&str]); 5] = [
        (
            json!({"id": "0", "tag": "x", "window": "{\"hours\": 9}"}),
            &[
                "/id: expected an integer (at least 1), got the string \"0\"",
                "/tag: expected a string (characters at least 2, characters at most 4), got the string \"x\"",
                "/window/hours: expected an integer (at least 1, at most 5), got 9",
            ],
        ),
        (
            json!({"id": "+0"}),
            &["/id: expected an integer (at least 1), got the string \"+0\""],
        ),
        (
            json!({"id": "1", "tag": "12345"}),
            &["/tag: expected a string"],
        ),
        (
            json!({"id": "1", "tag": "[0,1]"}),
            &["/tag: expected a string"],
        ),
        (
            json!({"id": "1", "codes": "[1, 0, 3]"}),
            &[
                "/codes: expected an array (items at most 2)",
                "/codes/1: expected an integer (at least 1), got 0",
            ],
        ),
    ];
    for (arguments, expected) in table {
        let error = client
            .get_prompt("plan", arguments)
            .await
            .unwrap_err()
            .to_string();
        for line in expected {
            assert!(error.contains(line), "{error}");
        }
    }
    for uri in ["note://0/ab", "note://1/a", "note://1/abcde"] {
        assert!(client.read_resource(uri).await.is_err(), "{uri}");
    }
}

struct WrongDefault;

#[mcp_tool]
impl WrongDefault {
    #[prompt]
    fn plan(#[arg(default = Window { hours: 9 })] window: Window) -> String {
        window.hours.to_string()
    }
}

#[test]
fn the_default_of_a_prompt_argument_is_checked() {
    let error = treenail::server!().mount(WrongDefault).build().unwrap_err();
    let expected = "the default of argument `window` is out of range";
    assert!(error.to_string().contains(expected), "{error}");
}

//! Serialization of outputs: raw JSON that contains line breaks, and numbers that JSON does not have.

use std::fmt::Debug;
use std::str::FromStr;

use serde_json::value::RawValue;
use serde_json::{Value, json};
use treenail::Server;
use treenail::prelude::*;
use treenail::schema::Revision;

use crate::support::peer::{MODERN, Peer, error, text};

/// External JSON with each kind of white space. Each message must stay on one line.
const UPSTREAM: &str = "{\n\t\"a\": \"x\\ny\",\r\n \"b\": [\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n,\r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\r]\n}";

#[mcp_type]
struct Report {
    #[schemars(with = "Value")]
    body: Box<RawValue>,
}

fn report() -> Report {
    let body = RawValue::from_string(UPSTREAM.to_owned()).unwrap();
    Report { body }
}

#[mcp_type]
struct HasLength {
    plain: f64,
    perhaps: Option<f64>,
    many: Vec<f32>,
}

fn measured(plain: f64, perhaps: Option<f64>, many: Vec<f32>) -> HasLength {
    HasLength {
        plain,
        perhaps,
        many,
    }
}

fn number<T: FromStr<Err: Debug>>(of: &str) -> T {
    of.parse().unwrap()
}

struct Relay;

#[mcp_tool]
impl Relay {
    #[tool]
    fn relay() -> Report {
        report()
    }

    #[tool]
    async fn relay_all(cx: &Context) -> Vec<Report> {
        cx.progress(1).await;
        vec![report(), report()]
    }

    #[tool]
    fn relay_each() -> impl Stream<Item = Report> {
        tokio_stream::iter([report(), report()])
    }

    #[tool(fold = "concat")]
    fn relay_lines() -> impl Stream<Item = Report> {
        tokio_stream::iter([report(), report()])
    }

    #[resource("relay://report")]
    fn resource() -> Report {
        report()
    }

    #[tool]
    fn plain(of: String) -> f64 {
        number(&of)
    }

    #[tool]
    fn single(of: String) -> f32 {
        number(&of)
    }

    #[tool]
    fn member(of: String) -> HasLength {
        measured(number(&of), None, vec![])
    }

    #[tool]
    fn optional(of: String) -> HasLength {
        measured(1.0, Some(number(&of)), vec![])
    }

    #[tool]
    fn element(of: String) -> HasLength {
        measured(1.0, None, vec![1.0, number(&of)])
    }

    #[tool]
    fn items(of: String) -> impl Stream<Item = f64> {
        tokio_stream::iter([1.0, number::<f64>(&of), 2.0])
    }

    #[resource("relay://numbers/{of}")]
    fn numbers(of: String) -> HasLength {
        measured(1.0, Some(number(&of)), vec![])
    }
}

fn server() -> Server {
    Server::builder("relay", "1.0.0")
        .mount(Relay)
        .build()
        .unwrap()
}

#[tokio::test]
async fn raw_json_does_not_break_lines() {
    let upstream: Value = serde_json::from_str(UPSTREAM).unwrap();
    let one = json!({"body": upstream});
    let (all, server) = (json!([one, one]), server());
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        for (tool, expected) in [("relay", &one), ("relay_all", &all), ("relay_each", &all)] {
            let result = peer.call(tool, json!({})).await;
            let read: Value = serde_json::from_str(text(&result)).unwrap();
            assert_eq!(read, *expected, "{tool} in {revision}");
            assert!(!text(&result).contains(['\n', '\r', '\t']), "{tool}");
            let structured = result.get("structuredContent");
            let wrapped = json!({"result": expected});
            let is_expected = |it: &Value| it == expected || *it == wrapped;
            assert!(structured.is_none_or(is_expected), "{tool} in {revision}");
        }
        let result = peer.call("relay_lines", json!({})).await;
        let lines: Vec<Value> = text(&result)
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines, [one.clone(), one.clone()], "{revision}");
        let params = json!({"uri": "relay://report"});
        let answer = peer.request("resources/read", params).await;
        let read = answer["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(read).unwrap(), one);
        assert_eq!(peer.finish().await, [] as [Value; 0], "nothing is forged");
    }
}

#[tokio::test]
async fn raw_items_do_not_break_lines_in_progress() {
    let mut peer = Peer::connect(&server(), MODERN).await;
    let meta = json!({"progressToken": 1, "dev.treenail/items": true});
    let params = json!({"name": "relay_each", "arguments": {}, "_meta": meta});
    let (told, answer) = peer.request_with_notifications("tools/call", params).await;
    let upstream: Value = serde_json::from_str(UPSTREAM).unwrap();
    let items: Vec<&Value> = told
        .iter()
        .map(|told| &told["params"]["_meta"]["dev.treenail/item"]["body"])
        .collect();
    assert_eq!(items, [&upstream, &upstream], "{answer}");
}

#[tokio::test]
async fn non_finite_numbers_are_failures() {
    let server = server();
    for revision in Revision::ALL {
        let mut peer = Peer::connect(&server, revision).await;
        for of in ["NaN", "inf", "-inf"] {
            for tool in ["plain", "single", "member", "optional", "element", "items"] {
                let result = peer.call(tool, json!({"of": of})).await;
                assert_eq!(result["isError"], true, "{tool} {of}: {result}");
                let blocks = result["content"].as_array().unwrap();
                let said = blocks.last().unwrap()["text"].as_str().unwrap();
                assert!(said.contains("JSON") && said.contains(of), "{said}");
            }
            let uri = format!("relay://numbers/{of}");
            let answer = peer.request("resources/read", json!({"uri": uri})).await;
            assert_eq!(error(&answer).0, -32603, "{of}: {answer}");
        }
        let result = peer.call("optional", json!({"of": "1.5"})).await;
        let read: Value = serde_json::from_str(text(&result)).unwrap();
        assert_eq!(read, json!({"plain": 1.0, "perhaps": 1.5, "many": []}));
        let result = peer.call("member", json!({"of": "2"})).await;
        let read: Value = serde_json::from_str(text(&result)).unwrap();
        let expected = json!({"plain": 2.0, "perhaps": null, "many": []});
        assert_eq!(read, expected, "what is absent is null");
    }
}

//! Arguments: error messages that let a model correct its call.

use serde_json::{Value, json};
use treenail::schema::Revision;

use super::weather::{MISSING_FIELD, WRONG_UNIT, server};
use crate::support::covering::covering;
use crate::support::peer::{MODERN, Peer, text};

#[tokio::test]
async fn good_arguments_reach_the_function() {
    let table = [
        ("add", json!({"a": 2, "b": 3}), "5"),
        ("add", json!({"b": -3, "a": 2}), "-1"),
        ("greet", json!({}), "Hello \"world\""),
        ("greet", json!({"name": null}), "Hello \"world\""),
        (
            "greet",
            json!({"name": "Zoë \u{1f600}\n"}),
            "Hello \"Zoë \u{1f600}\n\"",
        ),
        ("perhaps", json!({"text": "x"}), "x"),
    ];
    for revision in covering("ALL-BASE-01") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments, expected) in &table {
            assert_eq!(text(&peer.call(name, arguments.clone()).await), *expected);
        }
        let place = json!({"name": "Bergen", "latitude": 60.4});
        let arguments = json!({"city": "Oslo", "days": 3, "unit": "metric", "near": place});
        let result = peer.call("weather.forecast", arguments).await;
        let forecast: Value = serde_json::from_str(text(&result)).unwrap();
        assert_eq!(
            forecast,
            json!({"name": "Oslo 3 Metric", "latitude": 59.9, "note": "Bergen"})
        );
    }
}

#[tokio::test]
async fn keys_may_be_escaped_and_arguments_omitted() {
    let mut peer = Peer::connect(&server(), Revision::V2025_11_25).await;
    peer.send_line(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"n\u0061me":"add","arguments":{"\u0061":1,"b":2}}}"#,
    )
    .await;
    assert_eq!(text(&peer.receive("tools/call").await["result"]), "3");
    let result = peer.request("tools/call", json!({"name": "greet"})).await["result"].take();
    assert_eq!(text(&result), "Hello \"world\"");
}

#[tokio::test]
async fn errors_have_pointer_expected_value_and_suggestion() {
    // AMB-08: the arguments, and the lines about them.
    let forecast = "weather.forecast";
    let table: [(&str, Value, &[&str]); 12] = [
        (
            "add",
            json!({"a": 1}),
            &["- /b: missing; expected an integer"],
        ),
        (
            "add",
            json!({"a": "one", "b": 2}),
            &["- /a: expected an integer, got the string \"one\""],
        ),
        (
            "add",
            json!({"a": 1.5, "b": null}),
            &[
                "- /a: expected an integer, got 1.5",
                "- /b: expected an integer, got null",
            ],
        ),
        (
            forecast,
            json!({"citty": "Oslo"}),
            &[
                "- /citty: unknown argument; did you mean `city`?",
                "- /city: missing; expected a string",
            ],
        ),
        (
            forecast,
            json!({"city": "Oslo", "days": 9}),
            &["- /days: expected an integer (at least 1, at most 7), got 9"],
        ),
        (
            forecast,
            json!({"city": "Oslo", "days": 300}),
            &["- /days: expected an integer (at least 1, at most 7), got 300"],
        ),
        (
            forecast,
            json!({"city": "Oslo", "unit": "kelvin"}),
            &[WRONG_UNIT],
        ),
        (
            forecast,
            json!({"city": "Oslo", "near": {"name": "x", "latitude": "north"}}),
            &["- /near/latitude: expected a number, got the string \"north\""],
        ),
        (
            forecast,
            json!({"city": "Oslo", "near": {"name": "x"}}),
            &[MISSING_FIELD],
        ),
        (
            "greet",
            json!({"name": ""}),
            &[
                "- /name: expected a string (characters at least 1, characters at most 20), got the string \"\"",
            ],
        ),
        (
            "nothing",
            json!({"a/b~": 1}),
            &["- /a~1b~0: unknown argument; known arguments: none"],
        ),
        (
            "perhaps",
            json!({"text": [1]}),
            &["- /text: expected a string, got the array [1]"],
        ),
    ];
    for revision in covering("SRV-TOOL-16, ALL-JSCH-11") {
        let mut peer = Peer::connect(&server(), revision).await;
        for (name, arguments, lines) in &table {
            let result = peer.call(name, arguments.clone()).await;
            assert_eq!(result["isError"], true);
            assert_eq!(result.get("structuredContent"), None);
            let expected = format!(
                "Wrong arguments for the tool `{name}`:\n{}\nCorrect them and call the tool again.",
                lines.join("\n")
            );
            assert_eq!(text(&result), expected);
        }
    }
}

#[tokio::test]
async fn values_in_messages_are_bounded() {
    let mut peer = Peer::connect(&server(), MODERN).await;
    let long = "é".repeat(100_000);
    let result = peer.call("add", json!({"a": long, "b": 1, &long: 1})).await;
    assert!(text(&result).len() < 600, "{}", text(&result).len());
}

#[tokio::test]
async fn a_function_can_see_the_meta_of_its_call() {
    for revision in covering("ALL-META-07, ALL-META-08, ALL-TRACE-02, ALL-TRACE-03") {
        let mut peer = Peer::connect(&server(), revision).await;
        let params = json!({"name": "weather.trace-id", "_meta": {"traceparent": "00-ab-cd-01"}});
        let result = peer.request("tools/call", params).await["result"].take();
        assert_eq!(text(&result), "00-ab-cd-01");
    }
}

#[test]
fn defaults_outside_their_bounds_do_not_build() {
    const MOST: u8 = 7;

    #[treenail::mcp_type]
    struct Level(#[schemars(range(max = 3))] u8);

    #[treenail::mcp_type]
    struct Pair {
        level: Level,
    }

    #[treenail::mcp_tool]
    fn double(#[arg(default = MOST + 1, range = 1..=MOST)] number: u8) -> u8 {
        number * 2
    }

    #[treenail::mcp_tool]
    fn lower(#[arg(default = Level(9))] level: Level) -> u8 {
        level.0
    }

    #[treenail::mcp_tool]
    fn lower_all(#[arg(default = vec![Pair { level: Level(4) }])] pairs: Vec<Pair>) -> usize {
        pairs.len()
    }

    #[treenail::mcp_tool]
    fn lowest(
        #[arg(default = Level(3))] level: Level,
        #[arg(default = Some(Level(1)))] other: Option<Level>,
    ) -> u8 {
        level.0 + other.map_or(0, |other| other.0)
    }

    let table = [
        (treenail::tools![double], "double", "number"),
        (treenail::tools![lower], "lower", "level"),
        (treenail::tools![lower_all], "lower_all", "pairs"),
    ];
    for (tools, tool, argument) in table {
        let error = treenail::server!().tools(tools).build().unwrap_err();
        let expected =
            format!("tool `{tool}`: the default of argument `{argument}` is out of range");
        assert_eq!(error.to_string(), expected);
    }
    let fine = treenail::server!().tools(treenail::tools![lowest]).build();
    assert!(fine.is_ok());
}

#[test]
fn a_default_that_is_no_json_does_not_build() {
    #[treenail::mcp_tool]
    fn double(#[arg(default = f64::NAN)] number: f64) -> f64 {
        number * 2.0
    }

    let error = treenail::server!()
        .tools(treenail::tools![double])
        .build()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "tool `double`: the default of argument `number` cannot be written as JSON, for example because it is NaN"
    );
}

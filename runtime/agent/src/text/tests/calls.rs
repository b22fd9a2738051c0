//! Tests of the distinction between calls and text.

use serde_json::json;

use super::{call, parse, text};
use crate::text::{Piece, TextToolFormat};

#[track_caller]
fn check(message: &str, expected: &[Piece]) {
    assert_eq!(
        parse(&TextToolFormat::default(), message),
        expected,
        "{message}"
    );
}

#[test]
fn calls_are_parsed_in_any_layout() {
    let table = [
        "TOOL: clock\nPARAMETERS: {\"a\": 1}",
        "TOOL: clock\nPARAMETERS: {\"a\": 1}\n",
        "TOOL: clock\r\nPARAMETERS: {\"a\": 1}\r\n",
        "tool: clock\nparameters: {\"a\": 1}",
        "Tool:clock\nParameters:{\"a\":1}",
        "TOOL : clock\nPARAMETERS : {\"a\": 1}",
        "  TOOL: clock  \n\n  PARAMETERS:\n{\n  \"a\": 1\n}\n",
        "**TOOL:** clock\n**PARAMETERS:** {\"a\": 1}",
        "**TOOL**: clock\n**PARAMETERS**: {\"a\": 1}",
        "**TOOL: clock**\n**PARAMETERS: {\"a\": 1}**\n",
        "__TOOL:__ clock\n__PARAMETERS__: {\"a\": 1}",
        "### TOOL: clock\n### PARAMETERS: {\"a\": 1}",
        "TOOL: `clock`\nPARAMETERS: `{\"a\": 1}`",
        "`TOOL: clock`\n`PARAMETERS: {\"a\": 1}`\n",
        "TOOL: \"clock\"\nPARAMETERS: {\"a\": 1}",
        "TOOL: clock()\nPARAMETERS: {\"a\": 1}",
        "TOOL: clock.\nPARAMETERS: {\"a\": 1}",
        "TOOL: clock PARAMETERS: {\"a\": 1}",
        "TOOL: clock, PARAMETERS: {\"a\": 1}",
        "TOOL: clock\nPARAMETERS:\n```json\n{\"a\": 1}\n```\n",
        "TOOL: clock\nPARAMETERS: ```{\"a\": 1}```",
        "```\nTOOL: clock\nPARAMETERS: {\"a\": 1}\n```",
        "```text\n\nTOOL: clock\nPARAMETERS: {\"a\": 1}\n```\n",
        "~~~\nTOOL: clock\nPARAMETERS: {\"a\": 1}\n~~~",
        "TOOL: clock {\"a\": 1}",
        "TOOL: clock\n{\"a\": 1}",
        "TOOL: clock\n```json\n{\"a\": 1}\n```",
    ];
    for message in table {
        check(message, &[call("clock", json!({"a": 1}))]);
    }
}

#[test]
fn names_may_contain_dots_hyphens_and_underscores() {
    for name in [
        "weather.forecast",
        "list-files",
        "_a_",
        "a.b-c_D9",
        "unknown",
    ] {
        let message = format!("TOOL: {name}\nPARAMETERS: {{}}");
        check(&message, &[call(name, json!({}))]);
    }
}

#[test]
fn the_end_of_an_object_is_detected() {
    let objects = [
        json!({"a": {"b": [{"c": "}"}, "]"]}}),
        json!({"a": "\" } \\\" {", "b\"}": "\\"}),
        json!({"code": "fn main() { TOOL: }\nTOOL: x\nPARAMETERS: {}\n```\n"}),
        json!({"é": "日本語 🦀", "empty": {}, "none": null}),
    ];
    for object in objects {
        for json in [object.to_string(), format!("{object:#}")] {
            let message = format!("TOOL: x\nPARAMETERS: {json}\nafter");
            check(&message, &[call("x", object.clone()), text("after")]);
        }
    }
}

#[test]
fn text_around_calls_is_preserved() {
    check(
        "Let me look.\n\nTOOL: a\nPARAMETERS: {}\n\nAnd then\nTOOL: b\nPARAMETERS: {}\nDone.",
        &[
            text("Let me look.\n\n"),
            call("a", json!({})),
            text("\nAnd then\n"),
            call("b", json!({})),
            text("Done."),
        ],
    );
    check(
        "TOOL: a PARAMETERS: {} TOOL: b PARAMETERS: {} and that is all",
        &[
            call("a", json!({})),
            call("b", json!({})),
            text(" and that is all"),
        ],
    );
    check(
        "Like this:\n```\nTOOL: a\nPARAMETERS: {}\n\nTOOL: clock\n```\nok",
        &[
            text("Like this:\n"),
            call("a", json!({})),
            text("\n"),
            call("clock", json!({})),
            text("ok"),
        ],
    );
}

#[test]
fn only_known_tools_can_be_called_without_parameters() {
    check("TOOL: clock", &[call("clock", json!({}))]);
    check("TOOL: clock\n\n", &[call("clock", json!({})), text("\n")]);
    check("TOOL: clock\nok?", &[call("clock", json!({})), text("ok?")]);
    check("TOOL: list-files\n", &[call("list-files", json!({}))]);
    check(
        "```\nTOOL: list-files\n\nTOOL: clock\n```",
        &[
            call("list-files", json!({})),
            text("\n"),
            call("clock", json!({})),
        ],
    );
    // Validation of the arguments reports missing ones.
    check(
        "TOOL: weather.forecast",
        &[call("weather.forecast", json!({}))],
    );
    // Such text is written only by a model that knows `get_time`.
    check("TOOL: gettime", &[call("gettime", json!({}))]);
    check("Tool: hammer\nPrice: 3", &[text("Tool: hammer\nPrice: 3")]);
}

#[test]
fn other_text_is_only_text() {
    let table = [
        "",
        "Hello.\n",
        "The line TOOL: clock is how it begins, PARAMETERS: {} follows.",
        "He wrote TOOL: clock\nPARAMETERS: {}",
        "> TOOL: clock\n> PARAMETERS: {}\n",
        "- TOOL: clock\n- PARAMETERS: {}\n",
        "TOOL: clock and hammer\n",
        "TOOL: a hammer\nPARAMETERS: {}",
        "TOOL:\nPARAMETERS: {}",
        "TOOL: ...\n",
        "TOOLS: clock\n",
        "TOOLBOX: clock\n",
        "PARAMETERS: {\"a\": 1}\n",
        "Tool: hammer\nParameters: 3 kg",
        "```rust\nlet a = 1;\nTOOL: clock\nPARAMETERS: {}\n```\n",
        "````\nfirst\n```\nTOOL: clock\n````\n",
        "```not a fence``` TOOL: clock\n",
        "{\"a\": 1}\n```json\n{}\n```\n",
    ];
    for message in table {
        let expected = [text(message)];
        check(message, if message.is_empty() { &[] } else { &expected });
    }
}

#[test]
fn few_unknown_names_are_compared_with_the_tools() {
    let lines = |count: usize, end: &str| {
        let line = |number| format!("TOOL: {number}{}\n", "x".repeat(120));
        (0..count).map(line).collect::<String>() + end
    };
    let format = TextToolFormat::default();
    let similar = "TOOL: clok";
    assert_eq!(
        parse(&format, &lines(10, similar)),
        [text(&lines(10, "")), call("clok", json!({}))]
    );
    // Known names remain calls.
    for (end, expected) in [(similar, None), ("TOOL: clock", Some("clock"))] {
        let pieces = parse(&format, &lines(8_000, end));
        match expected {
            None => assert_eq!(pieces, [text(&lines(8_000, end))]),
            Some(name) => assert_eq!(pieces[1..], [call(name, json!({}))]),
        }
    }
}

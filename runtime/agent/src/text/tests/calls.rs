//! Tests of the distinction between calls and text.

use serde_json::json;

use super::{call, joined, parse, text, tools};
use crate::text::{Piece, TextParser, TextToolFormat};

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

/// Checks the remaining text of a message, and the error for the model.
#[track_caller]
fn check_malformed(format: &TextToolFormat, message: &str, reported: &[&str]) {
    let pieces = parse(format, message);
    let malformed = pieces.iter().find_map(|piece| match piece {
        Piece::Malformed {
            name,
            source,
            message,
        } => Some((name, source, message)),
        _ => None,
    });
    let (name, source, words) = malformed.unwrap_or_else(|| panic!("{message}: {pieces:?}"));
    assert_eq!(name.as_deref(), Some("clock"), "{message}");
    assert!(message.contains(source.trim_end_matches('…')), "{source}");
    for reported in reported {
        assert!(words.contains(reported), "{message}: {words}");
    }
    assert!(
        words.contains("PARAMETERS: {\"argument\": \"value\"}"),
        "{words}"
    );
    let is_call = |piece: &Piece| matches!(piece, Piece::Call { .. });
    assert!(!pieces.iter().any(is_call), "{pieces:?}");
}

#[test]
fn malformed_calls_are_reported_with_the_position() {
    let format = TextToolFormat {
        arguments_bytes: 64,
        arguments_depth: 3,
        ..TextToolFormat::default()
    };
    let deep = "TOOL: clock\nPARAMETERS: {\"a\": [[{}]]}";
    let long = format!(
        "TOOL: clock\nPARAMETERS: {{\"a\": \"{}\"}}\n",
        "b".repeat(64)
    );
    let table: [(&str, &[&str]); 12] = [
        (
            "TOOL: clock\nPARAMETERS: {\"a\" 1}",
            &["expected `:` at line 1 column 6", "near {\"a\" 1}"],
        ),
        (
            "TOOL: clock\nPARAMETERS: {\n  \"a\": 1,\n}",
            &["trailing comma at line 3 column 1"],
        ),
        (
            "TOOL: clock\nPARAMETERS: {'a': 1}",
            &["key must be a string at line 1 column 2"],
        ),
        ("TOOL: clock\nPARAMETERS: {\"a\": 1]", &["line 1 column 8"]),
        (
            "TOOL: clock\nPARAMETERS: {\"a\": \"b\nc\"}",
            &["control character", "line 2 column 0"],
        ),
        (
            "TOOL: clock\nPARAMETERS: {\"a\": 1",
            &["EOF while parsing an object at line 1 column 7"],
        ),
        (
            "TOOL: clock\nPARAMETERS: place=Oslo\n",
            &["start with `{`, but found `p`"],
        ),
        (
            "TOOL: clock\nPARAMETERS:",
            &["start with `{`, but found the end of the message"],
        ),
        ("TOOL: clock\nPARAMETERS: [1]", &["found `[`"]),
        (
            "TOOL: clock\nPARAMETERS: {\"a\": 1,\n\"a\": 2}",
            &["duplicate argument `a` at line 2"],
        ),
        (deep, &["nested deeper than 3 levels"]),
        (&long, &["longer than 64 bytes"]),
    ];
    for (message, reported) in table {
        check_malformed(&format, message, reported);
    }
}

#[test]
fn a_call_with_possible_arguments_must_not_precede_text() {
    // Without its arguments, the call would have another effect.
    let message = "TOOL: list-files\nOnly those in src:\nPARAMETERS: {\"path\": \"src\"}";
    let pieces = parse(&TextToolFormat::default(), message);
    let Piece::Malformed { message, .. } = &pieces[0] else {
        panic!("{pieces:?}");
    };
    assert!(
        message.contains("has to start with PARAMETERS:"),
        "{message}"
    );
    assert_eq!(
        pieces[1..],
        [text("Only those in src:\nPARAMETERS: {\"path\": \"src\"}")]
    );
}

#[test]
fn nothing_after_a_malformed_call_is_a_call() {
    // It may be part of the content to be written.
    let message =
        "TOOL: clock\nPARAMETERS: {\"text\": \"he said \"hi\"\n}\nTOOL: clock\nPARAMETERS: {}\nend";
    check_malformed(
        &TextToolFormat::default(),
        message,
        &["Calls after this one"],
    );
    let pieces = parse(
        &TextToolFormat::default(),
        "TOOL: clock\nPARAMETERS: no\nTOOL: clock\nend",
    );
    assert_eq!(pieces[1..], [text("TOOL: clock\nend")]);
    let pieces = parse(
        &TextToolFormat::default(),
        "```\nTOOL: clock\nPARAMETERS: {a}\n```\nend",
    );
    assert_eq!(pieces[1..], [text("end")]);
}

#[test]
fn a_call_at_the_end_of_a_truncated_message_is_malformed() {
    for message in [
        "TOOL: clock",
        "TOOL: clock\n",
        "TOOL: clock\nPARAMETERS: {\"a\": 1",
        "TOOL: clock\nPARAMETERS:",
    ] {
        let mut parser = TextParser::new(&TextToolFormat::default(), &tools());
        let mut pieces = parser.push(message);
        pieces.extend(parser.finish_cut_off());
        assert!(
            matches!(&pieces[..], [Piece::Malformed { .. }]),
            "{pieces:?}"
        );
    }
    let mut parser = TextParser::new(&TextToolFormat::default(), &tools());
    let mut pieces = parser.push("TOOL: clock\nPARAMETERS: {}\nand the");
    pieces.extend(parser.finish_cut_off());
    assert_eq!(joined(pieces), [call("clock", json!({})), text("and the")]);
}

#[test]
fn text_is_emitted_as_soon_as_it_cannot_be_a_call() {
    let mut parser = TextParser::new(&TextToolFormat::default(), &tools());
    let steps: [(&str, &[Piece]); 12] = [
        ("He", &[text("He")]),
        ("llo ", &[text("llo ")]),
        ("TOOL: ", &[text("TOOL: ")]),
        ("x\n", &[text("x\n")]),
        ("To", &[]),
        ("morrow", &[text("Tomorrow")]),
        ("\n``", &[text("\n")]),
        ("`\nTOO", &[]),
        ("L: clock\nPAR", &[]),
        ("AMETERS: {\"a\"", &[]),
        (": {}}", &[call("clock", json!({"a": {}}))]),
        ("\n```\nok", &[text("ok")]),
    ];
    for (chunk, expected) in steps {
        assert_eq!(joined(parser.push(chunk)), expected, "{chunk}");
    }
    assert_eq!(parser.finish(), []);
}

#[test]
fn the_pending_text_is_bounded() {
    let format = TextToolFormat {
        arguments_bytes: 1000,
        ..TextToolFormat::default()
    };
    let endless = [
        " ".repeat(5000),
        "TOOL: clock".to_owned() + &"\n".repeat(5000),
        "`".repeat(5000),
        "TOOL: ".to_owned() + &"a".repeat(5000),
        "TOOL: clock\nPARAMETERS: {\"a\": \"".to_owned() + &"é".repeat(5000),
        "TOOL: clock\nPARAMETERS: ".to_owned() + &"{".repeat(5000),
    ];
    for text in endless {
        let mut parser = TextParser::new(&format, &tools());
        for (at, character) in text.char_indices() {
            parser.push(&text[at..at + character.len_utf8()]);
            assert!(
                parser.pending.text().len() <= 1100,
                "{} of {text}",
                parser.pending.text().len()
            );
        }
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

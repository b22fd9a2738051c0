//! Tests of calls that cannot be parsed.

use serde_json::json;

use super::{call, joined, parse, text, tools};
use crate::text::{Piece, TextParser, TextToolFormat};

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
    let format = TextToolFormat::default()
        .arguments_bytes(64)
        .arguments_depth(3);
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

//! Tests of the text that is pending while a message arrives.

use serde_json::json;

use super::{call, joined, text, tools};
use crate::text::{Piece, TextParser, TextToolFormat};

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
    let format = TextToolFormat::default().arguments_bytes(1000);
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

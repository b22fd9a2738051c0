//! Tests of announcements of calls.

use serde_json::json;

use super::{call, parse, text};
use crate::text::{Piece, TextToolFormat};

fn called(message: &str) -> Option<String> {
    let format = TextToolFormat::default().mentions(true);
    parse(&format, message)
        .into_iter()
        .find_map(|piece| match piece {
            Piece::Call { name, .. } => Some(name),
            _ => None,
        })
}

#[test]
fn announcements_are_calls_if_enabled() {
    let message = "I will use the clock tool.";
    assert_eq!(parse(&TextToolFormat::default(), message), [text(message)]);
    let format = TextToolFormat::default().mentions(true);
    assert_eq!(
        parse(&format, message),
        [text(message), call("clock", json!({}))]
    );
    for message in [
        "I'll use the clock tool",
        "Sure, I will now call the clock tool to find out.",
        "Let me use the clock tool!",
        "Use the clock tool.",
        "Using the clock tool to tell the time.",
        "Call the clock tool for the time!",
        "It is late.\nI am going to call the\n**clock** tool.",
        "I will use the clock tool. The clock tool is good. I will use the clock tool.",
    ] {
        assert_eq!(called(message).as_deref(), Some("clock"), "{message}");
    }
    assert_eq!(called("I will call get_time.").as_deref(), Some("get_time"));
    assert_eq!(
        called("I'll run list-files now").as_deref(),
        Some("list-files")
    );
}

#[test]
fn other_sentences_are_not_announcements() {
    for message in [
        // Negations, conditions, questions, and other actors.
        "Do not use the clock tool.",
        "I will not use the clock tool.",
        "I won't use the clock tool.",
        "I will never use the clock tool",
        "I will answer without the clock tool.",
        "I will use the clock tool instead of guessing.",
        "Instead of guessing, use the clock tool.",
        "Should I use the clock tool?",
        "I will use the clock tool?",
        "If you like, I will use the clock tool.",
        "I will use the clock tool if needed.",
        "You can use the clock tool.",
        "I could use the clock tool.",
        "I will use the clock tool when asked.",
        "Never\nuse the clock tool.",
        "Never do this: use the clock tool.",
        "Never do this:\n\nUse the clock tool.",
        "There are ways, e.g. use the clock tool.",
        "If needed... use the clock tool.",
        // Statements, and instructions to others.
        "Using the clock tool is forbidden.",
        "Calling the clock tool is unnecessary.",
        "Using the clock tool for this is forbidden.",
        "Calling the clock tool to tell the time is a waste.",
        "Run the clock tool yourself.",
        "I'll run the clock tool, then run it yourself.",
        "Use the clock tool as a last resort.",
        // Quotations and code.
        "He said \"I will use the clock tool.\"",
        "He said “Well. I will use the clock tool. Yes.”",
        "He said: \"Well. I will use the clock tool. Yes.\"",
        "He said: 'Well. Use the clock tool.'",
        "> I will use the clock tool.",
        "> Bob said. I will use the clock tool.",
        "I will use the `clock` tool.",
        "`use the clock tool`",
        "`let a = \"b`. He said \"well. Use the clock tool.",
        "```\nI will use the clock tool.\n```",
        "    Use the clock tool.",
        "- use the clock tool",
        "1. Use the clock tool",
        // Unknown tools, tools with required arguments, several tools, and ordinary words.
        "I will use the hammer tool.",
        "I will use the weather.forecast tool.",
        "I will use the clock tool. Then I will use the get_time tool.",
        "I will clock in.",
        "I will use the clock.",
        "I will call clock.",
        "The clock tool is there to use.",
        "I used the clock tool.",
    ] {
        assert_eq!(called(message), None, "{message}");
    }
}

#[test]
fn announcements_beside_a_call_are_ignored() {
    let message = "I will use the clock tool.\nTOOL: get_time\nI will use the clock tool.";
    let format = TextToolFormat::default().mentions(true);
    let pieces = parse(&format, message);
    let calls = pieces
        .iter()
        .filter(|piece| matches!(piece, Piece::Call { .. }));
    assert_eq!(calls.count(), 1, "{pieces:?}");
    let broken = "TOOL: clock\nPARAMETERS: {a}\n\nI will use the clock tool.";
    assert_eq!(called(broken), None);
}

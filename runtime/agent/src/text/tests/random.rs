//! Properties that hold for all text and all chunk boundaries.

use fastrand::Rng;
use serde::Deserialize;
use serde_json::Value;
use treenail_schema::JsonObject;

use super::{joined, tools};
use crate::text::{Piece, TextParser, TextToolFormat};

const PARTS: [&str; 48] = [
    "TOOL: clock\n",
    "TOOL: weather.forecast\n",
    "TOOL: list-files",
    "tool: hammer\n",
    "**TOOL:** `get_time`\n",
    "TOOL: clock PARAMETERS: {\"a\": 1}",
    "TOOL: x\nPARAMETERS: {\"place\": \"Oslo\"}\n",
    "TOOL: gettime\n",
    "PARAMETERS: ",
    "PARAMETERS:\n",
    "parameters: {}",
    "**PARAMETERS**: {\"a\": [1, {\"b\": \"}\\\"\"}]}\n",
    "{\"a\": 1}",
    "{\"a\": \"TOOL: x\\nPARAMETERS: {}\"}",
    "{\"a\": \"b\nc\"}",
    "{\"a\" 1}",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "'",
    "```\n",
    "```json\n",
    "````",
    "~~~\n",
    "`",
    "**",
    "_",
    "> ",
    "- ",
    "# ",
    "\n",
    "\n\n",
    "\r\n",
    " ",
    "    ",
    ".",
    "I will use the clock tool. ",
    "Do not use the clock tool. ",
    "Use the get_time tool",
    "Hello, ",
    "é",
    "日本",
    "🦀",
    ":",
    "TOOL",
];

fn message(random: &mut Rng) -> String {
    let parts = random.usize(..24);
    let mut message: String = (0..parts)
        .map(|_| PARTS[random.usize(..PARTS.len())])
        .collect();
    for _ in 0..random.usize(..4) {
        mutate(&mut message, random);
    }
    message
}

fn mutate(message: &mut String, random: &mut Rng) {
    let places: Vec<usize> = message.char_indices().map(|(at, _)| at).collect();
    let Some(at) = random.choice(places) else {
        return;
    };
    match random.u8(..4) {
        0 => drop(message.remove(at)),
        1 => message.insert(at, random.char(..)),
        2 => message.truncate(at),
        _ => message.insert_str(at, PARTS[random.usize(..PARTS.len())]),
    }
}

/// Starts of sentences that are not announcements.
const BEGINNINGS: [&str; 14] = [
    "Do not ",
    "Never use ",
    "It is not a ",
    "I will not call ",
    "I won't use the ",
    "Without the ",
    "You can use the ",
    "He wrote \"",
    "He wrote: \"Not TOOL: ",
    "Nobody said “",
    "No TOOL: ",
    "- No ",
    "> Not this: ",
    "PARAMETERS: not ",
];

/// Words of prose about tools.
const WORDS: [&str; 30] = [
    "clock",
    "get_time",
    "weather.forecast",
    "list-files",
    "clock tool",
    "the clock tool",
    "I will use the clock tool",
    "use the get_time tool",
    "tool",
    "tool:",
    "TOOL",
    "TOOL:",
    "TOOL: clock",
    "TOOL: clock PARAMETERS: {}",
    "**TOOL:** `get_time`",
    "PARAMETERS:",
    "PARAMETERS: {\"place\": \"Oslo\"}",
    "{\"a\": 1}",
    "{\"name\": \"clock\", \"arguments\": {}}",
    "{",
    "}",
    "\"",
    "”",
    "'",
    "`",
    "`clock`",
    "**",
    "not",
    "never",
    "é",
];

/// Prose about tools without a call: no line starts with `TOOL:`, and no sentence announces a call.
fn prose(random: &mut Rng) -> String {
    let mut prose = String::new();
    for _ in 0..random.usize(1..6) {
        prose.push_str(BEGINNINGS[random.usize(..BEGINNINGS.len())]);
        for _ in 0..random.usize(..8) {
            prose.push_str(WORDS[random.usize(..WORDS.len())]);
            prose.push_str([" ", ", "][random.usize(..2)]);
        }
        prose.push_str(["not. ", "\n", ".\n", "\n\n", "\r\n"][random.usize(..5)]);
    }
    prose
}

fn noise(random: &mut Rng) -> String {
    let length = random.usize(..200);
    let bytes: Vec<u8> = (0..length).map(|_| random.u8(..)).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn format(random: &mut Rng) -> TextToolFormat {
    TextToolFormat {
        mentions: random.bool(),
        arguments_bytes: if random.bool() {
            256 << 10
        } else {
            random.usize(..40)
        },
        arguments_depth: random.u32(1..5),
        ..TextToolFormat::default()
    }
}

/// Parses a message in one chunk; returns its pieces and the ranges that belong to calls.
fn whole(
    format: &TextToolFormat,
    message: &str,
    cut: bool,
) -> (Vec<Piece>, Vec<std::ops::Range<usize>>) {
    let mut parser = TextParser::new(format, &tools());
    let mut pieces = parser.push(message);
    pieces.extend(if cut {
        parser.finish_cut_off()
    } else {
        parser.finish()
    });
    assert_eq!(parser.pending.parts.0, message.len(), "{message}");
    (joined(pieces), parser.pending.parts.1)
}

fn in_chunks(format: &TextToolFormat, message: &str, cut: bool, random: &mut Rng) -> Vec<Piece> {
    let mut parser = TextParser::new(format, &tools());
    let longest = [1, 3, 20][random.usize(..3)];
    let mut pieces = Vec::new();
    let mut start = 0;
    while start < message.len() {
        let mut end = (start + random.usize(1..=longest)).min(message.len());
        while !message.is_char_boundary(end) {
            end += 1;
        }
        pieces.extend(parser.push(&message[start..end]));
        start = end;
    }
    pieces.extend(if cut {
        parser.finish_cut_off()
    } else {
        parser.finish()
    });
    joined(pieces)
}

/// Returns true if the text contains the parsed call.
fn is_written(text: &str, name: &str, input: &JsonObject) -> bool {
    let braces = text.match_indices('{').map(|(at, _)| &text[at..]);
    let mut objects = braces.filter_map(|rest| {
        let mut json = serde_json::Deserializer::from_str(rest);
        Value::deserialize(&mut json).ok()
    });
    text.contains(name)
        && (input.is_empty() || objects.any(|found| found.as_object() == Some(input)))
}

fn check(message: &str, random: &mut Rng) -> usize {
    let (format, cut) = (format(random), random.bool());
    let (pieces, calls) = whole(&format, message, cut);
    for _ in 0..3 {
        let split = in_chunks(&format, message, cut, random);
        assert_eq!(split, pieces, "{format:?} {message:?}");
    }
    let mut retained = message.to_owned();
    for range in calls.iter().rev() {
        retained.replace_range(range.clone(), "");
    }
    let (mut text, mut found) = (String::new(), 0);
    for piece in &pieces {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Call { name, input } => {
                found += 1;
                assert!(
                    is_written(message, name, input),
                    "{name} {input:?} in {message:?}"
                );
            }
            Piece::Malformed { source, .. } => {
                found += 1;
                assert!(
                    message.contains(source.trim_end_matches('…')),
                    "{message:?}"
                );
            }
        }
    }
    assert_eq!(text, retained, "{message:?}");
    found
}

#[test]
fn chunk_boundaries_do_not_change_the_pieces() {
    let mut random = Rng::with_seed(7);
    let mut found = 0;
    for _ in 0..5_000 {
        let message = message(&mut random);
        found += check(&message, &mut random);
    }
    assert!(found > 1_000, "only {found} calls were tried");
}

#[test]
fn prose_about_tools_has_no_calls() {
    let mut random = Rng::with_seed(9);
    let mut names = 0;
    for _ in 0..5_000 {
        let message = prose(&mut random);
        names += message.matches("TOOL: clock").count();
        assert_eq!(check(&message, &mut random), 0, "{message:?}");
    }
    assert!(names > 1_000, "only {names} calls could have been invented");
}

#[test]
fn noise_has_no_calls() {
    let mut random = Rng::with_seed(8);
    for _ in 0..2_000 {
        let message = noise(&mut random);
        assert_eq!(check(&message, &mut random), 0, "{message:?}");
    }
}

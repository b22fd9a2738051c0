//! Text of a peer within messages, cut to a bounded length.

/// The longest piece of a peer's text that is repeated in an error message, in characters.
const QUOTED: usize = 64;

/// A peer's text between backticks, cut to a bounded length, with control characters escaped.
pub fn quoted(text: &str) -> String {
    let mut quoted = String::from("`");
    let mut characters = text.chars();
    for character in characters.by_ref().take(QUOTED) {
        match character {
            '`' => quoted.push('\''),
            control if control.is_control() => quoted.extend(control.escape_default()),
            other => quoted.push(other),
        }
    }
    quoted.push_str(if characters.next().is_some() {
        "…`"
    } else {
        "`"
    });
    quoted
}

/// The longest reason that is told, in characters: those of `serde_json` repeat what the peer sent.
const REASON: usize = 200;

/// A reason why something could not be read, cut to a bounded length.
pub fn shortened(reason: &str) -> String {
    match reason.char_indices().nth(REASON) {
        Some((end, _)) => format!("{}…", &reason[..end]),
        None => reason.to_owned(),
    }
}

//! Tips for wrong command lines. Those that clap would print are wrong for commands that take a server or its arguments.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use treenail_schema::internal::shortened;

/// Commands that connect to a server, with the number of words before it.
const SERVER_COMMANDS: [(&str, usize); 7] = [
    ("list", 1),
    ("call", 1),
    ("read", 1),
    ("prompt", 1),
    ("info", 0),
    ("lock", 0),
    ("check", 1),
];

/// Words that `list` takes before the server.
const KINDS: [&str; 4] = ["tools", "prompts", "resources", "templates"];

/// Shortens the value that an error shows, and replaces its tips: for an unknown option of `call` or `prompt`, and for a server without `--`.
pub(crate) fn add_tips(mut error: clap::Error, typed: &[String]) -> clap::Error {
    if let Some(ContextValue::String(value)) = error.get(ContextKind::InvalidValue) {
        let value = shortened(value);
        error.insert(ContextKind::InvalidValue, ContextValue::String(value));
    }
    let Some((command, own_words)) = typed.get(1).and_then(|typed| {
        let known = SERVER_COMMANDS.iter();
        known.copied().find(|(command, _)| command == typed)
    }) else {
        return error;
    };
    let has_dashes = typed.iter().any(|word| word == "--");
    let tip = match error.kind() {
        ErrorKind::MissingRequiredArgument if is_server_missing(&error) => {
            server_tip(command, own_words, typed)
        }
        ErrorKind::UnknownArgument | ErrorKind::InvalidValue | ErrorKind::ValueValidation
            if !has_dashes =>
        {
            let tip = server_words(command, own_words, typed).map(|at| dashes_tip(at, typed));
            tip.or_else(|| argument_tip(&error, command, typed))
        }
        ErrorKind::UnknownArgument => argument_tip(&error, command, typed),
        _ => None,
    };
    match tip {
        Some(tip) => with_tip(error, tip),
        None => error,
    }
}

fn with_tip(mut error: clap::Error, tip: String) -> clap::Error {
    let tip = ContextValue::StyledStrs(vec![tip.into()]);
    error.remove(ContextKind::SuggestedArg);
    error.remove(ContextKind::SuggestedValue);
    error.insert(ContextKind::Suggested, tip);
    error
}

fn is_server_missing(error: &clap::Error) -> bool {
    let missing = error.get(ContextKind::InvalidArg);
    let Some(ContextValue::Strings(missing)) = missing else {
        return false;
    };
    missing.iter().any(|argument| argument.contains("--url"))
}

/// Returns the tip for a command line without a server, or with a server whose `--` is missing.
fn server_tip(command: &str, own_words: usize, typed: &[String]) -> Option<String> {
    let found = server_words(command, own_words, typed).map(|at| dashes_tip(at, typed));
    found.or_else(|| {
        let words = typed.iter().skip(1).map(String::as_str);
        let line: Vec<_> = words.take_while(|word| *word != "--").collect();
        let line = line.join(" ");
        Some(format!(
            "start a server with its command after `--`, as in `treenail {line} -- my-server`, or connect to one with `--url http://127.0.0.1:8080/mcp`"
        ))
    })
}

/// Returns the place of the first word that seems to be the command of a server, because the command takes no such word.
fn server_words(command: &str, own_words: usize, typed: &[String]) -> Option<usize> {
    let mut own_words = own_words;
    for (at, word) in typed.iter().enumerate().skip(2) {
        // The next word may be the value of this option.
        if word.starts_with('-') {
            return None;
        }
        if own_words > 0 && (command != "list" || KINDS.contains(&word.as_str())) {
            own_words -= 1;
            continue;
        }
        let takes_arguments = matches!(command, "call" | "prompt");
        // A JSON object is no command: its error names `--args`.
        if takes_arguments && word.starts_with('{') {
            return None;
        }
        if !(takes_arguments && word.contains('=')) {
            return Some(at);
        }
    }
    None
}

fn dashes_tip(at: usize, typed: &[String]) -> String {
    let (own, server) = typed[1..].split_at(at - 1);
    let (own, server) = (own.join(" "), server.join(" "));
    format!("put `--` before the command of the server: `treenail {own} -- {server}`")
}

/// Returns the tip for a tool argument that was passed as an option.
fn argument_tip(error: &clap::Error, command: &str, typed: &[String]) -> Option<String> {
    if error.kind() != ErrorKind::UnknownArgument || !matches!(command, "call" | "prompt") {
        return None;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return None;
    };
    let name = option.strip_prefix("--").filter(|name| !name.is_empty())?;
    let value = option_value(option, typed).unwrap_or("…");
    Some(format!("pass arguments without dashes: `{name}={value}`"))
}

/// Returns the value of an option: the text after `=`, or the next word.
fn option_value<'a>(option: &str, typed: &'a [String]) -> Option<&'a str> {
    let mut words = typed.iter();
    let word = words.find(|word| word.split('=').next() == Some(option))?;
    let next = words.next().map(String::as_str);
    match word.split_once('=') {
        Some((_, value)) => Some(value),
        None => next.filter(|next| !next.starts_with('-')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_of_a_server_is_found() {
        let cases = [
            (
                "list npx -y some",
                Some("put `--` before the command of the server: `treenail list -- npx -y some`"),
            ),
            (
                "list tools npx",
                Some("put `--` before the command of the server: `treenail list tools -- npx`"),
            ),
            (
                "call add a=1 b:=2 npx some",
                Some(
                    "put `--` before the command of the server: `treenail call add a=1 b:=2 -- npx some`",
                ),
            ),
            (
                "info npx",
                Some("put `--` before the command of the server: `treenail info -- npx`"),
            ),
            ("call add a=1", None),
            ("call add {\"a\":1}", None),
            ("read file:///a", None),
            ("list --timeout 3 npx", None),
        ];
        for (line, expected) in cases {
            let line = format!("treenail {line}");
            let typed: Vec<_> = line.split(' ').map(str::to_owned).collect();
            let known = SERVER_COMMANDS
                .iter()
                .find(|(command, _)| *command == typed[1]);
            let found = server_words(&typed[1], known.unwrap().1, &typed);
            let tip = found.map(|at| dashes_tip(at, &typed));
            assert_eq!(tip.as_deref(), expected, "{line}");
        }
    }
}

//! Tip for command lines that pass a tool argument as an option. The tip that clap would print is wrong here.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Replaces the tip of an error about an unknown option of `call` or `prompt`.
pub(crate) fn add_argument_tip(mut error: clap::Error, typed: &[String]) -> clap::Error {
    let takes_arguments = typed
        .get(1)
        .is_some_and(|command| ["call", "prompt"].contains(&command.as_str()));
    if !takes_arguments || error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let Some(name) = option.strip_prefix("--").filter(|name| !name.is_empty()) else {
        return error;
    };
    let value = option_value(option, typed).unwrap_or("…");
    let tip = format!("pass arguments without dashes: `{name}={value}`");
    let tip = ContextValue::StyledStrs(vec![tip.into()]);
    error.insert(ContextKind::Suggested, tip);
    error
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

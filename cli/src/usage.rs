//! A command line that clap does not understand, with advice that fits: clap does not know how arguments of tools are given.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The error with the right advice, where an argument of a tool or a prompt was given as an option.
pub(crate) fn advise(mut error: clap::Error, typed: &[String]) -> clap::Error {
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
    let value = value_of(option, typed).unwrap_or("…");
    let advice = format!("arguments are given without dashes: `{name}={value}`");
    let advice = ContextValue::StyledStrs(vec![advice.into()]);
    error.insert(ContextKind::Suggested, advice);
    error
}

/// The value that was given with an option: behind `=`, or as the next word.
fn value_of<'a>(option: &str, typed: &'a [String]) -> Option<&'a str> {
    let mut words = typed.iter();
    let word = words.find(|word| word.split('=').next() == Some(option))?;
    let next = words.next().map(String::as_str);
    match word.split_once('=') {
        Some((_, value)) => Some(value),
        None => next.filter(|next| !next.starts_with('-')),
    }
}

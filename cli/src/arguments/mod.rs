//! Conversion of command-line arguments to the arguments of a tool or a prompt.

mod convert;
mod raw_argument;
mod source;

use serde_json::{Map, Value};
use treenail::schema::{Prompt, Tool};

pub(crate) use self::raw_argument::RawArgument;
pub(crate) use self::source::RawArguments;
use crate::exit::Failure;
use crate::render::{render_arguments, sanitize_line};

/// Converts arguments to those of a tool. Text is converted by the input schema; JSON is passed through unchanged.
pub(crate) fn tool_arguments(
    raw: &RawArguments,
    tool: &Tool,
) -> Result<Map<String, Value>, Failure> {
    let mut arguments = raw.object.clone().unwrap_or_default();
    let mut problems = Vec::new();
    for (name, texts) in raw.grouped() {
        match convert::convert_argument(tool, name, &texts, &|name| raw.contains(name)) {
            Ok(value) => drop(arguments.insert(name.to_owned(), value)),
            Err(problem) => problems.push(problem),
        }
    }
    // An explicit JSON object is sent unchanged, so the server reports missing members.
    if raw.object.is_none() {
        let missing = convert::missing_arguments(tool, &arguments);
        // An argument that failed to convert is not reported as missing, too.
        let missing = missing.filter(|name| !raw.contains(name));
        problems.extend(
            missing.map(|name| format!("missing required argument `{}`", sanitize_line(name))),
        );
    }
    if problems.is_empty() {
        return Ok(arguments);
    }
    let failure = Failure::usage(format!(
        "invalid arguments for tool `{}`:\n- {}",
        sanitize_line(&tool.name),
        problems.join("\n- ")
    ));
    let described = render_arguments(tool, None);
    if described.is_empty() {
        let note = if convert::has_parts(&tool.input_schema) {
            "the schema of the tool has conditions; `--args` passes arguments as JSON"
        } else {
            "the tool takes no arguments"
        };
        return Err(failure.note(note));
    }
    Err(failure.note(format!("accepted arguments:\n{}", described.join("\n"))))
}

/// Converts arguments to those of a prompt, which are strings.
pub(crate) fn prompt_arguments(
    raw: &RawArguments,
    prompt: &Prompt,
) -> Result<Map<String, Value>, Failure> {
    let mut arguments = raw.object.clone().unwrap_or_default();
    let known = || prompt.arguments.iter().flatten();
    let names = || known().map(|argument| argument.name.as_str());
    let mut problems = Vec::new();
    for (name, texts) in raw.grouped() {
        match texts.as_slice() {
            _ if !names().any(|known| known == name) => {
                let missing = names().filter(|name| !raw.contains(name));
                problems.push(convert::unknown_argument(name, missing));
            }
            [RawArgument::Text(_, text)] => {
                drop(arguments.insert(name.to_owned(), text.as_str().into()));
            }
            [RawArgument::Json(..)] => {
                problems.push(format!("`{name}` is a string; use `{name}=…`"));
            }
            _ => problems.push(format!("`{name}` was given more than once")),
        }
    }
    if raw.object.is_none() {
        let required = known().filter(|argument| argument.required == Some(true));
        let missing = required.filter(|argument| !raw.contains(&argument.name));
        problems.extend(
            missing.map(|it| format!("missing required argument `{}`", sanitize_line(&it.name))),
        );
    }
    if problems.is_empty() {
        return Ok(arguments);
    }
    Err(Failure::usage(format!(
        "invalid arguments for prompt `{}`:\n- {}",
        sanitize_line(&prompt.name),
        problems.join("\n- ")
    )))
}

/// Returns an error about an unknown tool or prompt, with the closest known name.
pub(crate) fn unknown_name<'a>(
    kind: &str,
    name: &str,
    known: impl Iterator<Item = &'a str>,
) -> Failure {
    let known: Vec<_> = known.collect();
    let message = format!("the server has no {kind} `{name}`");
    let closest = convert::closest_match(name, known.iter().copied());
    match closest {
        Some(closest) => {
            let closest = sanitize_line(closest);
            Failure::usage(format!("{message}; did you mean `{closest}`?"))
        }
        None => {
            Failure::usage(message).note(format!("run `treenail list {kind}s` to see all {kind}s"))
        }
    }
}

//! What was typed, as the arguments that a tool or a prompt takes.

mod given;
mod source;
mod typed;

use serde_json::{Map, Value};
use treenail::schema::{Prompt, Tool};

pub(crate) use self::given::Given;
pub(crate) use self::source::Typed;
use crate::exit::Failure;
use crate::show::{arguments_of, clean_line};

/// The arguments of a tool. What was typed as `key=value` is read by the tool's schema; JSON is sent as it is.
pub(crate) fn of_tool(given: &Typed, tool: &Tool) -> Result<Map<String, Value>, Failure> {
    let mut arguments = given.whole.clone().unwrap_or_default();
    let mut problems = Vec::new();
    for (name, texts) in given.grouped() {
        match typed::value(tool, name, &texts) {
            Ok(value) => drop(arguments.insert(name.to_owned(), value)),
            Err(problem) => problems.push(problem),
        }
    }
    // Whoever gives all arguments as JSON means them as they are.
    if given.whole.is_none() {
        let missing = typed::missing(tool, &arguments);
        // An argument that could not be read is not missing too.
        let missing = missing.filter(|name| !given.has(name));
        problems.extend(missing.map(|name| format!("`{}` is missing", clean_line(name))));
    }
    if problems.is_empty() {
        return Ok(arguments);
    }
    let failure = Failure::usage(format!(
        "wrong arguments for the tool `{}`:\n- {}",
        clean_line(&tool.name),
        problems.join("\n- ")
    ));
    let described = arguments_of(tool, None);
    if described.is_empty() {
        return Err(failure.note("it takes no arguments"));
    }
    Err(failure.note(format!("it takes\n{}", described.join("\n"))))
}

/// The arguments of a prompt, which are texts.
pub(crate) fn of_prompt(given: &Typed, prompt: &Prompt) -> Result<Map<String, Value>, Failure> {
    let mut arguments = given.whole.clone().unwrap_or_default();
    let known = || prompt.arguments.iter().flatten();
    let names = || known().map(|argument| argument.name.as_str());
    let mut problems = Vec::new();
    for (name, texts) in given.grouped() {
        match texts.as_slice() {
            _ if !names().any(|known| known == name) => {
                problems.push(typed::unknown_argument(name, names()));
            }
            [Given::Text(_, text)] => drop(arguments.insert(name.to_owned(), text.as_str().into())),
            [Given::Json(..)] => problems.push(format!("`{name}` is a text, so write `{name}=…`")),
            _ => problems.push(format!("`{name}` is given twice")),
        }
    }
    if given.whole.is_none() {
        let required = known().filter(|argument| argument.required == Some(true));
        let missing = required.filter(|argument| !given.has(&argument.name));
        problems.extend(missing.map(|it| format!("`{}` is missing", clean_line(&it.name))));
    }
    if problems.is_empty() {
        return Ok(arguments);
    }
    Err(Failure::usage(format!(
        "wrong arguments for the prompt `{}`:\n- {}",
        clean_line(&prompt.name),
        problems.join("\n- ")
    )))
}

/// That there is no such tool or prompt, and which ones have nearly that name.
pub(crate) fn unknown<'a>(kind: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Failure {
    let known: Vec<_> = known.collect();
    let message = format!("the server has no {kind} `{name}`");
    let nearest = typed::nearest(name, known.iter().copied());
    match nearest {
        Some(nearest) => {
            let nearest = clean_line(nearest);
            Failure::usage(format!("{message}; did you mean `{nearest}`?"))
        }
        None => Failure::usage(message).note(format!("`treenail list {kind}s` shows what it has")),
    }
}

//! What was typed, as the arguments that a tool or a prompt takes.

mod given;
mod source;
mod typed;

use serde_json::{Map, Value};
use treenail::schema::{Prompt, Tool};

pub(crate) use self::given::Given;
use crate::args::ArgumentArgs;
use crate::exit::Failure;
use crate::show::{arguments_of, clean_line};

/// The arguments of a tool. What was typed as `key=value` is read by the tool's schema; JSON is sent as it is.
pub(crate) fn of_tool(args: &ArgumentArgs, tool: &Tool) -> Result<Map<String, Value>, Failure> {
    let (mut arguments, whole) = source::whole(args)?;
    let mut problems = Vec::new();
    for (name, texts) in grouped(args) {
        match typed::value(tool, name, &texts) {
            Ok(value) => drop(arguments.insert(name.to_owned(), value)),
            Err(problem) => problems.push(problem),
        }
    }
    // Whoever gives all arguments as JSON means them as they are.
    if !whole {
        let missing = typed::missing(tool, &arguments);
        // An argument that could not be read is not missing too.
        let missing = missing.filter(|name| !args.given.iter().any(|it| it.name() == Some(*name)));
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
pub(crate) fn of_prompt(
    args: &ArgumentArgs,
    prompt: &Prompt,
) -> Result<Map<String, Value>, Failure> {
    let (mut arguments, whole) = source::whole(args)?;
    let known = || prompt.arguments.iter().flatten();
    let names = || known().map(|argument| argument.name.as_str());
    let mut problems = Vec::new();
    for (name, texts) in grouped(args) {
        match texts.as_slice() {
            _ if !names().any(|known| known == name) => {
                problems.push(typed::unknown_argument(name, names()));
            }
            [Given::Text(_, text)] => drop(arguments.insert(name.to_owned(), text.as_str().into())),
            [Given::Json(..)] => problems.push(format!("`{name}` is a text, so write `{name}=…`")),
            _ => problems.push(format!("`{name}` is given twice")),
        }
    }
    if !whole {
        let required = known().filter(|argument| argument.required == Some(true));
        let missing = required.filter(|argument| {
            !args
                .given
                .iter()
                .any(|it| it.name() == Some(&argument.name))
        });
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

/// What was given for each name, in the order in which names came first.
fn grouped(args: &ArgumentArgs) -> Vec<(&str, Vec<&Given>)> {
    let mut groups: Vec<(&str, Vec<&Given>)> = Vec::new();
    for given in &args.given {
        let Some(name) = given.name() else {
            continue;
        };
        match groups.iter_mut().find(|(known, _)| *known == name) {
            Some((_, group)) => group.push(given),
            None => groups.push((name, vec![given])),
        }
    }
    groups
}

//! All arguments as one JSON object.

use std::fs;
use std::io::{self, Read};

use serde_json::{Map, Value};

use super::Given;
use crate::args::ArgumentArgs;
use crate::exit::Failure;

/// The arguments that were given as one object, and whether there were any.
pub(super) fn whole(args: &ArgumentArgs) -> Result<(Map<String, Value>, bool), Failure> {
    let stdin = args.given.contains(&Given::Stdin);
    let (name, text) = match &args.args {
        Some(_) if stdin => {
            return Err(Failure::usage(
                "give the arguments with `--args` or with `-`, not both",
            ));
        }
        Some(text) if text == "-" => ("standard input", from_stdin()?),
        Some(text) => match text.strip_prefix('@') {
            Some(path) => (path, from_file(path)?),
            None => ("--args", text.clone()),
        },
        None if stdin => ("standard input", from_stdin()?),
        None => return Ok((Map::new(), false)),
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(arguments)) => Ok((arguments, true)),
        Ok(_) => Err(Failure::usage(format!(
            "{name}: the arguments are no JSON object"
        ))),
        Err(error) => Err(Failure::usage(format!(
            "{name}: the arguments are no JSON: {error}"
        ))),
    }
}

fn from_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = io::stdin().lock().read_to_string(&mut text);
    read.map_err(Failure::local("standard input"))?;
    Ok(text)
}

fn from_file(path: &str) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(Failure::local(format!("`{path}`")))
}

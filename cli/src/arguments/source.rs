//! Arguments from the command line, files and standard input.

use std::fs;
use std::io::{self, Read};

use serde_json::{Map, Value};

use super::RawArgument;
use crate::args::ArgumentArgs;
use crate::exit::Failure;

/// Arguments before conversion. Referenced files and standard input have been read.
#[derive(Debug)]
pub(crate) struct RawArguments {
    /// JSON object with all arguments, from `--args` or `-`.
    pub(super) object: Option<Map<String, Value>>,
    /// Single arguments, which take precedence over `object`.
    pub(super) given: Vec<RawArgument>,
}

impl RawArguments {
    /// Reads the files and the standard input that the command line refers to.
    pub(crate) fn read(args: &ArgumentArgs) -> Result<Self, Failure> {
        let object = match read_object_text(args)? {
            Some((name, text)) => Some(parse_object(&name, &text)?),
            None => None,
        };
        let given = args.given.clone();
        Ok(Self { object, given })
    }

    /// Returns whether an argument of this name was given.
    pub(super) fn contains(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.name() == Some(name))
    }

    /// Groups the arguments by name, in the order of first occurrence.
    pub(super) fn grouped(&self) -> Vec<(&str, Vec<&RawArgument>)> {
        let mut groups: Vec<(&str, Vec<&RawArgument>)> = Vec::new();
        for given in &self.given {
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
}

/// Returns the JSON text with all arguments, and its origin for error messages.
fn read_object_text(args: &ArgumentArgs) -> Result<Option<(String, String)>, Failure> {
    let stdin = || Ok(Some(("standard input".to_owned(), read_stdin()?)));
    let is_dash = args.given.contains(&RawArgument::Stdin);
    match args.args.as_deref() {
        Some(_) if is_dash => Err(Failure::usage("`--args` cannot be combined with `-`")),
        Some("-") => stdin(),
        None if is_dash => stdin(),
        Some(text) => Ok(Some(match text.strip_prefix('@') {
            Some(path) => (path.to_owned(), read_file(path)?),
            None => ("--args".to_owned(), text.to_owned()),
        })),
        None => Ok(None),
    }
}

fn parse_object(name: &str, text: &str) -> Result<Map<String, Value>, Failure> {
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
        Ok(_) => Err(Failure::usage(format!(
            "{name}: the arguments are not a JSON object"
        ))),
        Err(error) => Err(Failure::usage(format!(
            "{name}: the arguments are not valid JSON: {error}"
        ))),
    }
}

fn read_stdin() -> Result<String, Failure> {
    let mut text = String::new();
    let read = io::stdin().lock().read_to_string(&mut text);
    read.map_err(Failure::io("standard input"))?;
    Ok(text)
}

fn read_file(path: &str) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(Failure::io(format!("`{path}`")))
}

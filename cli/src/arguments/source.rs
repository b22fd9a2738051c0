//! What was typed, and what stands in files and on standard input.

use std::fs;
use std::io::{self, Read};

use serde_json::{Map, Value};

use super::Given;
use crate::args::ArgumentArgs;
use crate::exit::Failure;

/// What was typed, with what it refers to read.
#[derive(Debug)]
pub(crate) struct Typed {
    /// All arguments as one JSON object, if they were given so.
    pub(super) whole: Option<Map<String, Value>>,
    pub(super) given: Vec<Given>,
}

impl Typed {
    /// Reads what the command line refers to: files, and standard input.
    pub(crate) fn read(args: &ArgumentArgs) -> Result<Self, Failure> {
        let whole = match text(args)? {
            Some((name, text)) => Some(object(&name, &text)?),
            None => None,
        };
        let given = args.given.clone();
        Ok(Self { whole, given })
    }

    /// Whether something was given for this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.iter().any(|given| given.name() == Some(name))
    }

    /// What was given for each name, in the order in which names came first.
    pub(super) fn grouped(&self) -> Vec<(&str, Vec<&Given>)> {
        let mut groups: Vec<(&str, Vec<&Given>)> = Vec::new();
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

/// The text that has all arguments, and what it is called.
fn text(args: &ArgumentArgs) -> Result<Option<(String, String)>, Failure> {
    let stdin = || Ok(Some(("standard input".to_owned(), from_stdin()?)));
    let is_dash = args.given.contains(&Given::Stdin);
    match args.args.as_deref() {
        Some(_) if is_dash => Err(Failure::usage(
            "give the arguments with `--args` or with `-`, not both",
        )),
        Some("-") => stdin(),
        None if is_dash => stdin(),
        Some(text) => Ok(Some(match text.strip_prefix('@') {
            Some(path) => (path.to_owned(), from_file(path)?),
            None => ("--args".to_owned(), text.to_owned()),
        })),
        None => Ok(None),
    }
}

fn object(name: &str, text: &str) -> Result<Map<String, Value>, Failure> {
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => Ok(arguments),
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

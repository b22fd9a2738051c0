//! Arguments that are strings, with names that are known at run time only.

use super::arguments::{Arguments, Form};
use crate::function::argument::ArgumentList;
use crate::function::argument_error::{Fault, MAX_REPORTED, Problem, truncated_json};
use crate::wire::{Members, as_string};

/// Arguments that are strings with known names: those of a prompt.
pub(super) struct Texts {
    /// Names, with `true` for those that are required.
    arguments: Vec<(String, bool)>,
}

impl Texts {
    pub(super) fn new(arguments: Vec<(String, bool)>) -> Self {
        Self { arguments }
    }

    fn known(&self) -> impl Iterator<Item = &str> + Clone {
        self.arguments.iter().map(|(name, _)| &**name)
    }

    /// Returns the JSON of each argument that is given, and the problems with other members.
    fn collect<'a>(&self, object: &'a str) -> (Vec<Option<&'a str>>, Vec<Problem>) {
        let mut given = vec![None; self.arguments.len()];
        let (mut problems, mut unknown) = (Vec::new(), Vec::new());
        if let Ok(mut members) = Members::new(object) {
            while let Ok(Some((name, text))) = members.next() {
                match self.known().position(|known| known == name) {
                    Some(at) if given[at].replace(text).is_none() => {}
                    _ if problems.len() + unknown.len() >= MAX_REPORTED => {}
                    Some(_) => problems.push(Problem::new(&name, Fault::Repeated)),
                    None => unknown.push(name),
                }
            }
        }
        let missing = self.known().zip(&given);
        let missing = missing.filter(|(_, text)| text.is_none());
        let missing = missing.map(|(name, _)| name);
        // An argument that is given already is not meant.
        let unknown = unknown.iter();
        problems.extend(unknown.map(|name| Problem::unknown(name, missing.clone())));
        (given, problems)
    }
}

/// Returns the problem with an argument of a prompt, if there is one.
fn problem(name: &str, required: bool, text: Option<&str>) -> Option<Problem> {
    let fault = match text {
        None if required => Fault::Missing,
        Some(text) if as_string(text).is_none() => Fault::Unreadable {
            value: None,
            reason: format!("expected a string in quotes, got {}", truncated_json(text)),
        },
        _ => return None,
    };
    Some(Problem::new(name, fault))
}

impl ArgumentList for Texts {
    type Values = Arguments;

    fn read(&self, text: Option<&str>) -> Result<Arguments, Vec<Problem>> {
        let (given, mut problems) = self.collect(text.unwrap_or("{}"));
        let arguments = self.arguments.iter().zip(given);
        problems
            .extend(arguments.filter_map(|((name, required), it)| problem(name, *required, it)));
        if problems.is_empty() {
            Ok(Arguments::new(text, Form::Texts))
        } else {
            Err(problems)
        }
    }
}

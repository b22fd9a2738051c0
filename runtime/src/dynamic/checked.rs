//! Lists of arguments whose names and types are known at run time only.

use std::sync::Arc;

use serde_json::{Map, Value};
use treenail_schema::SchemaObject;
use treenail_schema::internal::ValidationLimits;
use treenail_validation::{CompiledSchema, Verdict};

use super::arguments::{Arguments, Form};
use crate::function::argument::ArgumentList;
use crate::function::argument_error::{Fault, MAX_REPORTED, Problem, truncated_json};
use crate::function::violations::to_problems;
use crate::wire::{Members, as_string};

/// Arguments that need no check: those of a raw handler, and the variables of a URI that matches its template.
pub(super) struct Unchecked(pub(super) Form);

impl ArgumentList for Unchecked {
    type Values = Arguments;

    fn schema(&self) -> Result<Map<String, Value>, String> {
        Ok(Map::new())
    }

    fn read(&self, text: Option<&str>) -> Result<Arguments, Vec<Problem>> {
        Ok(Arguments::new(text, self.0))
    }
}

/// Arguments that must match a schema: those of a tool.
pub(super) struct Matching {
    schema: SchemaObject,
    /// `None` if the schema was rejected, and the tool with it.
    compiled: Option<CompiledSchema>,
}

impl Matching {
    /// Compiles the schema. The error is the reason for rejecting it.
    pub(super) fn new(
        schema: &SchemaObject,
        limits: &ValidationLimits,
    ) -> (Self, Result<(), String>) {
        let (compiled, outcome) = match CompiledSchema::new(schema, limits) {
            Ok(compiled) => (Some(compiled), Ok(())),
            Err(reason) => (None, Err(format!("its input schema is rejected: {reason}"))),
        };
        let schema = schema.clone();
        (Self { schema, compiled }, outcome)
    }

    fn check(&self, text: &str) -> Result<(), Vec<Problem>> {
        let Some(compiled) = &self.compiled else {
            return Ok(());
        };
        let unreadable = |reason: String| {
            let fault = Fault::Unreadable {
                value: None,
                reason,
            };
            vec![Problem::at(String::new(), fault)]
        };
        let value: Value =
            serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
        let verdict = compiled.verdict(&value);
        match verdict.map_err(|reason| unreadable(format!("not validated: {reason}")))? {
            Verdict::Valid => Ok(()),
            Verdict::Invalid(violations) => Err(to_problems(&value, &violations, &self.schema).0),
            Verdict::TooLarge => Err(unreadable(
                "does not match the schema, and is too large to report the location".to_owned(),
            )),
        }
    }
}

impl ArgumentList for Arc<Matching> {
    type Values = Arguments;

    fn schema(&self) -> Result<Map<String, Value>, String> {
        Ok(Map::new())
    }

    fn read(&self, text: Option<&str>) -> Result<Arguments, Vec<Problem>> {
        self.check(text.unwrap_or("{}"))?;
        Ok(Arguments::new(text, Form::Json))
    }
}

/// Arguments that are strings with known names: those of a prompt.
pub(super) struct Texts {
    /// Names, with `true` for those that are required.
    arguments: Vec<(String, bool)>,
}

impl Texts {
    pub(super) fn new(arguments: Vec<(String, bool)>) -> Self {
        Self { arguments }
    }

    fn known(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(|(name, _)| &**name)
    }

    /// Returns the problem with one member, if there is one.
    fn problem(&self, name: &str, text: &str, seen: &mut [bool]) -> Option<Problem> {
        let Some(at) = self.known().position(|known| known == name) else {
            return Some(Problem::unknown(name, self.known()));
        };
        if std::mem::replace(&mut seen[at], true) {
            return Some(Problem::new(name, Fault::Repeated));
        }
        if as_string(text).is_none() {
            let reason = format!("expected a string in quotes, got {}", truncated_json(text));
            let value = None;
            return Some(Problem::new(name, Fault::Unreadable { value, reason }));
        }
        None
    }
}

impl ArgumentList for Texts {
    type Values = Arguments;

    fn schema(&self) -> Result<Map<String, Value>, String> {
        Ok(Map::new())
    }

    fn read(&self, text: Option<&str>) -> Result<Arguments, Vec<Problem>> {
        let mut seen = vec![false; self.arguments.len()];
        let mut problems = Vec::new();
        if let Ok(mut members) = Members::new(text.unwrap_or("{}")) {
            while let Ok(Some((name, value))) = members.next() {
                let problem = self.problem(&name, value, &mut seen);
                problems.extend(problem.filter(|_| problems.len() < MAX_REPORTED));
            }
        }
        let missing = self.arguments.iter().zip(seen);
        let missing = missing.filter(|((_, required), seen)| *required && !seen);
        problems.extend(missing.map(|((name, _), _)| Problem::new(name, Fault::Missing)));
        if problems.is_empty() {
            Ok(Arguments::new(text, Form::Texts))
        } else {
            Err(problems)
        }
    }
}

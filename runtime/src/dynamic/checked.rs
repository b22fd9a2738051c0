//! Lists of arguments whose names and types are known at run time only.

use std::collections::HashSet;
use std::fmt::Write;

use serde_json::{Map, Value};
use treenail_schema::SchemaObject;
use treenail_schema::internal::{Places, ValidationLimits};
use treenail_validation::{CompiledSchema, FlatSchema, Verdict, Violation, ViolationKind};

use super::arguments::{Arguments, Form};
use crate::call::{Call, CallState, CallValue, Lifetime};
use crate::context::Context;
use crate::function::argument::ArgumentList;
use crate::function::argument_error::{Fault, MAX_REPORTED, Problem};
use crate::function::violations::{member_pointer, to_problems};
use crate::wire::{Members, has_private_key};

/// Reason for rejecting arguments with a key by which `serde_json` recognizes its own types.
const RESERVED_KEY: &str = "a key that starts with `$serde_json::private::` is not allowed";

/// Arguments that need no check: those of a raw handler, and the variables of a URI that matches its template.
pub(super) struct Unchecked(pub(super) Form);

impl ArgumentList for Unchecked {
    type Values = Arguments;

    fn read(&self, text: Option<&str>) -> Result<Arguments, Vec<Problem>> {
        Ok(Arguments::new(text, self.0))
    }
}

/// Sets the type of an input schema that allows objects. With another one, clients would reject the whole list of tools.
pub(super) fn of_object(schema: &mut SchemaObject) -> Result<(), String> {
    match schema.get("type") {
        Some(kind) if kind == "object" => return Ok(()),
        None => {}
        Some(Value::Array(kinds)) if kinds.iter().any(|kind| kind == "object") => {}
        Some(_) => {
            return Err("its input schema does not have `\"type\": \"object\"`".to_owned());
        }
    }
    let mut members = Map::clone(schema);
    members.insert("type".to_owned(), "object".into());
    *schema = members.into();
    Ok(())
}

/// Arguments that must match a schema: those of a tool.
pub(super) struct Matching {
    schema: SchemaObject,
    flat: Option<FlatSchema>,
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
        let matching = Self {
            schema: schema.clone(),
            flat: FlatSchema::new(schema),
            compiled,
        };
        (matching, outcome)
    }

    /// Validates arguments.
    fn accept(&self, text: Option<&str>) -> Result<Accepted, Vec<Problem>> {
        let object = text.unwrap_or("{}");
        let places = self.flat.as_ref().and_then(|flat| flat.accepts(object));
        places.map_or_else(|| self.check(object), |places| Ok(Accepted::Given(places)))
    }

    /// Validates arguments that are not accepted quickly.
    #[cold]
    fn check(&self, text: &str) -> Result<Accepted, Vec<Problem>> {
        if has_private_key(text) {
            // The handler would read other arguments than those that were validated.
            return Err(whole(RESERVED_KEY.to_owned()));
        }
        let repeated = repeated(text);
        if !repeated.is_empty() {
            return Err(repeated);
        }
        let value: Value = serde_json::from_str(text).map_err(|error| whole(error.to_string()))?;
        let verdict = self.verdict(&value);
        if let Ok(Verdict::Valid) = verdict {
            return Ok(Accepted::Given(Places::unknown()));
        }
        // A model that writes null instead of omitting an argument means the default.
        match self.without_optional_nulls(&value, &verdict) {
            Some(rest) if matches!(self.verdict(&rest), Ok(Verdict::Valid)) => {
                Ok(Accepted::Changed(only(&rest, text)))
            }
            _ => Err(self.problems(&value, verdict)),
        }
    }

    fn verdict(&self, value: &Value) -> Result<Verdict, String> {
        let compiled = self.compiled.as_ref();
        compiled.map_or(Ok(Verdict::Valid), |compiled| compiled.verdict(value))
    }

    /// Returns the problems of a value that is not valid.
    fn problems(&self, value: &Value, verdict: Result<Verdict, String>) -> Vec<Problem> {
        match verdict {
            Ok(Verdict::Valid) => Vec::new(),
            Ok(Verdict::Invalid(violations)) => {
                let (mut problems, _) = to_problems(value, &violations, &self.schema);
                // As in the reports of macro-made tools: a missing argument follows the unknown one that may be meant.
                problems.sort_by_key(|problem| !problem.is_unknown());
                problems
            }
            Ok(Verdict::TooLarge) => whole(
                "they do not match the schema, and are too large to report the place".to_owned(),
            ),
            Err(reason) => whole(format!("they cannot be validated: {reason}")),
        }
    }

    /// Returns the arguments without those that are optional, and null although their schema does not allow that, if there are
    /// any. If the places of the violations are unknown, all that are optional and null are left out.
    fn without_optional_nulls(
        &self,
        value: &Value,
        verdict: &Result<Verdict, String>,
    ) -> Option<Value> {
        let mut places = HashSet::new();
        let are_known = match verdict {
            Ok(Verdict::Invalid(violations)) => {
                collect_places(violations, &mut places);
                true
            }
            _ => false,
        };
        let is_invalid = |name: &str| !are_known || places.contains(&*member_pointer("", name));
        let required = self.schema.get("required").and_then(Value::as_array);
        let is_required =
            |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
        let properties = self.schema.get("properties")?.as_object()?;
        let mut arguments = value.as_object()?.clone();
        let before = arguments.len();
        arguments.retain(|name, value| {
            let is_optional = !is_required(name) && properties.contains_key(name);
            !(value.is_null() && is_optional && is_invalid(name))
        });
        (arguments.len() < before).then_some(Value::Object(arguments))
    }
}

/// Returns the text of an object with only these members. Their values are unchanged, such as the digits of a number.
fn only(members: &Value, text: &str) -> String {
    let mut object = String::from("{");
    if let Ok(mut all) = Members::new(text) {
        while let Ok(Some((name, value))) = all.next() {
            if members.get(&*name).is_some() {
                let comma = if object.len() > 1 { "," } else { "" };
                // Writing to a string cannot fail.
                let _ = write!(object, "{comma}{}:{value}", Value::from(&*name));
            }
        }
    }
    object.push('}');
    object
}

/// Adds the places of violations, in all branches of choices.
fn collect_places<'a>(violations: &'a [Violation], places: &mut HashSet<&'a str>) {
    for violation in violations {
        places.insert(&violation.pointer);
        if let ViolationKind::Choice(branches) = &violation.kind {
            for branch in branches {
                collect_places(branch, places);
            }
        }
    }
}

/// Returns the problem of the arguments as a whole.
fn whole(reason: String) -> Vec<Problem> {
    let value = None;
    let fault = Fault::Unreadable { value, reason };
    vec![Problem::at(String::new(), fault)]
}

/// Returns a problem for each argument that is given twice.
fn repeated(text: &str) -> Vec<Problem> {
    let (mut seen, mut problems) = (HashSet::new(), Vec::new());
    if let Ok(mut members) = Members::new(text) {
        while let Ok(Some((name, _))) = members.next() {
            if problems.len() < MAX_REPORTED && seen.contains(&name) {
                problems.push(Problem::new(&name, Fault::Repeated));
            }
            seen.insert(name);
        }
    }
    problems
}

impl ArgumentList for Matching {
    type Values = Arguments;

    fn read(&self, text: Option<&str>) -> Result<Arguments, Vec<Problem>> {
        Ok(match self.accept(text)? {
            Accepted::Given(_) => Arguments::new(text, Form::Json),
            Accepted::Changed(text) => Arguments::new(Some(&text), Form::Json),
        })
    }
}

/// Arguments that match their schema.
pub(super) enum Accepted {
    /// The text of the call, with the places of its members.
    Given(Places),
    /// Another text, without the arguments that are null.
    Changed(String),
}

/// As [`Matching`], for a function that gets the text of the arguments with its context.
pub(super) struct Shared(pub(super) Matching);

impl ArgumentList for Shared {
    type Values = Accepted;

    fn read(&self, text: Option<&str>) -> Result<Accepted, Vec<Problem>> {
        self.0.accept(text)
    }
}

/// Context of a call, which has the text of the arguments.
pub(super) struct WithArguments {
    context: Context,
    /// Set if the context is that of the layers around the function, which may have changed the arguments.
    text: Option<Box<str>>,
}

impl CallValue for WithArguments {
    fn from_call(call: &Call<'_>) -> Self {
        match call.context {
            Some(context) => Self {
                context: context.clone(),
                text: Some(call.target.arguments.unwrap_or("{}").into()),
            },
            None => Self {
                context: Context::new(
                    CallState::with_arguments(call, true),
                    call.extensions.clone(),
                ),
                text: None,
            },
        }
    }

    fn lifetime(&self) -> Lifetime {
        self.context.lifetime()
    }
}

impl WithArguments {
    /// Returns the values that a handler takes.
    #[inline]
    pub(super) fn split(self, accepted: Accepted) -> (Context, Arguments) {
        let arguments = match (accepted, self.text) {
            (Accepted::Changed(text), _) => Arguments::new(Some(&text), Form::Json),
            (Accepted::Given(_), Some(text)) => Arguments::new(Some(&text), Form::Json),
            (Accepted::Given(places), None) => Arguments::of_call(&self.context, places),
        };
        (self.context, arguments)
    }
}

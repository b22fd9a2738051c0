//! A single argument of a function: its schema, and the conversion from JSON to a Rust value.

mod flattened;
mod list;
mod none;

use std::fmt;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;
use treenail_schema::internal::read_scalar;

pub use self::flattened::Flattened;
pub use self::list::{ArgumentList, InputSchema, NamedArguments};
use self::none::none_within;
pub(crate) use self::none::value_if_missing;
use crate::attribute_value::DefaultValue;
use crate::function::argument_error::{Fault, Problem};
use crate::function::bounds::Check;
use crate::function::default_value::for_model;
use crate::function::integral::without_fractions;
use crate::function::nested_bounds::NestedBounds;
use crate::function::schema::{Direction, drop_null};
use crate::function::type_schema::schema_for;

/// A type that can be an argument of a tool: owned, deserializable from JSON, and with a JSON schema.
///
/// Implemented for every type that implements [`serde::Deserialize`] and [`schemars::JsonSchema`]; `#[mcp_type]`
/// derives both. A type that can be deserialized from a missing value, such as `Option<T>`, makes the argument
/// optional.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument of a tool",
    label = "an argument needs `Deserialize`, `JsonSchema` and `Send`",
    note = "put `#[mcp_type]` on your own types; those of `chrono`, `jiff`, `rust_decimal`, `url` and `uuid` need the feature with that name; `cx: &Context` is taken by reference; state such as a database is in `self`: write `&self`, and mount a value of the type"
)]
pub trait ToolArgument: Sized {
    /// Returns the schema and the conversion of the argument called `name`.
    fn argument(name: &'static str) -> Argument<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> ToolArgument for T {
    fn argument(name: &'static str) -> Argument<Self> {
        Argument::new(name, Form::Json, read_scalar, |name, text| {
            let json = &mut serde_json::Deserializer::from_str(text);
            let located = serde_path_to_error::deserialize::<_, T>(json).err();
            located.map(|error| Problem::from_path_error(name, text, &error))
        })
    }
}

/// One argument of a function, as `#[mcp_tool]` declares it.
///
/// Stores the operations on `T` as functions, so only the constructor needs trait bounds on `T`.
pub struct Argument<T> {
    name: &'static str,
    description: &'static str,
    schema: fn(&mut SchemaGenerator) -> Value,
    read: fn(&str) -> Option<T>,
    /// Parses the value again and explains the failure. The parameters are the name of the argument and its JSON.
    explain: fn(&str, &str) -> Option<Problem>,
    /// Returns the value `None` within this number of `Some`, if the type has it.
    none: fn(usize) -> Option<T>,
    default: Option<DefaultValue<T>>,
    checks: Vec<Check<T>>,
    form: Form,
    /// Bounds in the schema of the type, known when the schema has been made.
    nested_bounds: Option<Box<NestedBounds>>,
}

/// The form of an argument in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The JSON that the schema describes.
    Json,
    /// A string that the value is parsed from.
    Text,
}

impl<T> fmt::Debug for Argument<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Argument")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl<T> Argument<T> {
    /// Creates an argument; `read` parses its JSON.
    pub(crate) fn new(
        name: &'static str,
        form: Form,
        read: fn(&str) -> Option<T>,
        explain: fn(&str, &str) -> Option<Problem>,
    ) -> Self
    where
        T: DeserializeOwned + JsonSchema,
    {
        Self {
            name,
            description: "",
            schema: schema_for::<T>,
            read,
            explain,
            none: none_within::<T>,
            default: None,
            checks: Vec::new(),
            form,
            nested_bounds: None,
        }
    }

    /// Sets the description of the argument.
    #[must_use]
    pub fn description(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// Makes the argument optional, with this value if it is missing. It is the value of `null` too, unless the type accepts
    /// that, as `Option` does.
    #[must_use]
    pub fn default(mut self, default: DefaultValue<T>) -> Self {
        self.default = Some(default);
        self
    }

    /// Accepts only values for which `check` holds.
    #[must_use]
    pub fn check(mut self, check: Check<T>) -> Self {
        self.checks.push(check);
        self
    }

    /// Returns whether the argument is optional.
    fn is_optional(&self) -> bool {
        self.default.is_some() || self.missing_value().is_some()
    }

    fn missing_value(&self) -> Option<T> {
        (self.none)(0)
    }

    /// Returns the value of `null` if it differs from that of a missing argument, as `Some(None)` of an `Option<Option<_>>` does.
    fn null_value(&self) -> Option<T> {
        (self.none)(1)
    }

    /// Returns the schema of the argument, as a property of the input schema, and collects the bounds in it.
    fn property(&mut self, generator: &mut SchemaGenerator) -> Result<Value, String> {
        let mut property = (self.schema)(generator);
        self.nested_bounds = NestedBounds::of(&property, generator.definitions());
        Direction::Input.tidy(&mut property);
        let default = self.json_default()?;
        // `Option<T>` also allows null. If omitting the argument means the same, it is dropped: hosts accept that schema.
        let null_differs = match &default {
            Some(_) => (self.read)("null").is_some(),
            None => self.null_value().is_some(),
        };
        if self.is_optional() && !null_differs {
            drop_null(&mut property);
        }
        if let Value::Object(property) = &mut property {
            if !self.description.is_empty() {
                property.insert("description".to_owned(), self.description.into());
            }
            for check in &self.checks {
                check.declare(property);
            }
            if let Some(default) = default.and_then(|default| for_model(default, property)) {
                property.insert("default".to_owned(), default);
            }
        }
        Ok(property)
    }

    /// Returns the default as JSON, if there is one that differs from `null`.
    fn json_default(&self) -> Result<Option<Value>, String> {
        let Some(default) = &self.default else {
            return Ok(None);
        };
        let name = self.name;
        if self.null_value().is_some() {
            return Err(format!(
                "argument `{name}` has a default, but is `None` if it is missing, because `null` is `Some(None)`"
            ));
        }
        let value = (default.make)();
        if !self.checks.iter().all(|check| check.holds(&value)) {
            return Err(out_of_range(name));
        }
        let value = (default.json)(&value).map_err(|error| {
            format!("the default of argument `{name}` cannot be written as JSON: {error}")
        })?;
        if (self.nested_bounds.as_ref()).is_some_and(|bounds| !bounds.accepts(&value)) {
            return Err(out_of_range(name));
        }
        let is_absence = || (self.read)("null").is_some() || self.missing_value().is_some();
        if value.is_null() && !is_absence() {
            return Err(format!(
                "the default of argument `{name}` cannot be written as JSON, for example because it is NaN"
            ));
        }
        Ok(Some(value).filter(|value| !value.is_null()))
    }

    fn read(&self, text: Option<&str>) -> Result<T, Problem> {
        let fallback = || match &self.default {
            Some(default) => Some((default.make)()),
            None => self.missing_value(),
        };
        let Some(text) = text else {
            return fallback().ok_or_else(|| Problem::new(self.name, Fault::Missing));
        };
        let null = if text == "null" {
            self.null_value()
        } else {
            None
        };
        match null.or_else(|| (self.read)(text)) {
            Some(value) if self.checks.iter().all(|check| check.holds(&value)) => Ok(value),
            Some(_) => Err(Problem::new(self.name, Fault::wrong(text))),
            // A model that writes null instead of omitting the argument means the default.
            None if text == "null" && self.default.is_some() => {
                fallback().ok_or_else(|| Problem::new(self.name, Fault::Missing))
            }
            None => self.retry(text),
        }
    }

    /// Appends the violations of bounds in the JSON of a value that has been read.
    #[inline]
    fn check_bounds(&self, text: &str, problems: &mut Vec<Problem>) {
        if let Some(bounds) = &self.nested_bounds {
            bounds.check(self.name, self.form, text, problems);
        }
    }

    /// Reads a value that may only have integers with a fraction, such as `1.0`, which its schema allows.
    #[cold]
    fn retry(&self, text: &str) -> Result<T, Problem> {
        let rewritten = without_fractions(text);
        match rewritten.and_then(|text| (self.read)(&text)) {
            Some(value) if self.checks.iter().all(|check| check.holds(&value)) => Ok(value),
            Some(_) => Err(Problem::new(self.name, Fault::wrong(text))),
            None => Err((self.explain)(self.name, text)
                .unwrap_or_else(|| Problem::new(self.name, Fault::wrong(text)))),
        }
    }
}

fn out_of_range(name: &str) -> String {
    format!("the default of argument `{name}` is out of range")
}

/// A type whose default can be written as a string literal.
#[diagnostic::on_unimplemented(
    message = "a string literal cannot be the default of a `{Self}`",
    label = "expected a value of type `{Self}`"
)]
pub trait FromText {
    /// Converts the literal.
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> FromText for T {
    fn from_text(text: &'static str) -> Self {
        text.into()
    }
}

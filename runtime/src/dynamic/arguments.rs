//! Arguments of a call, as a handler takes them.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::de::value::MapDeserializer;
use serde_json::{Map, Value};
use serde_path_to_error::Segment;
use treenail_schema::internal::{Places, TextDeserializer};

use crate::call::CallState;
use crate::context::Context;
use crate::error::Error;
use crate::function::argument_error::{Problem, format_problems, short_value};
use crate::function::integral::without_fractions;
use crate::wire::{Members, as_string};

/// Arguments of one call, which own their JSON text. Needs the feature `dynamic`.
///
/// They match the schema of the feature, unless its handler is a `raw` one.
///
/// ```
/// use treenail::dynamic::Tool;
/// use treenail::prelude::*;
/// use treenail::json;
///
/// #[mcp_type]
/// struct Trip {
///     city: String,
///     #[serde(default)]
///     days: u8,
/// }
///
/// let tool = Tool::new("trip")
///     .input(json!({
///         "type": "object",
///         "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 14}},
///         "required": ["city"],
///     }))
///     .handler(|_, arguments| async move {
///         let trip: Trip = arguments.parse()?;
///         Ok::<_, ToolError>(format!("{}, {} days", trip.city, trip.days))
///     });
/// # let _ = tool;
/// ```
#[derive(Clone)]
pub struct Arguments {
    text: Text,
    form: Form,
}

/// JSON text of the object.
#[derive(Clone)]
enum Text {
    Own(Box<str>),
    /// That of a call, with the places of its members.
    OfCall(Arc<CallState>, Places),
}

/// Form of the values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON of any type.
    Json,
    /// Strings, from which other types are parsed.
    Texts,
}

impl fmt::Debug for Arguments {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Arguments")
            .field("bytes", &self.text().len())
            .finish_non_exhaustive()
    }
}

impl Arguments {
    /// Copies the text of an object that has been checked.
    pub(super) fn new(text: Option<&str>, form: Form) -> Self {
        let text = Text::Own(text.unwrap_or("{}").into());
        Self { text, form }
    }

    /// Returns the arguments of a call whose state has their text.
    #[inline]
    pub(super) fn of_call(context: &Context, places: Places) -> Self {
        let text = Text::OfCall(Arc::clone(context.state()), places);
        let form = Form::Json;
        Self { text, form }
    }

    /// Returns the JSON text of the object that contains the arguments, as the caller wrote it.
    pub fn text(&self) -> &str {
        match &self.text {
            Text::Own(text) => text,
            Text::OfCall(state, _) => state.arguments(),
        }
    }

    /// Returns the JSON text, for a `raw` handler without a copy.
    pub fn into_text(self) -> String {
        match self.text {
            Text::Own(text) => text.into(),
            Text::OfCall(state, _) => state.arguments().to_owned(),
        }
    }

    /// Returns the argument with this name, if it is present and a string.
    pub fn get(&self, name: &str) -> Option<String> {
        let mut texts = self.texts().into_iter();
        texts.find(|(known, _)| known == name).map(|(_, text)| text)
    }

    /// Parses the arguments as a JSON value, an object.
    pub fn value(&self) -> Value {
        // The text has been checked; only nesting that serde_json does not support remains.
        serde_json::from_str(self.text()).unwrap_or_default()
    }

    /// Deserializes the arguments.
    ///
    /// The arguments of prompts and the variables of URIs are strings. Numbers and other types are parsed from them, as
    /// [`TextArgument`](crate::TextArgument) describes.
    ///
    /// # Errors
    ///
    /// [`ArgumentError`] if they do not fit the type. It names the argument.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ArgumentError> {
        match self.form {
            Form::Json => {
                if let Text::OfCall(state, places) = &self.text {
                    if let Some(read) = places.read(state.arguments()) {
                        return Ok(read);
                    }
                }
                // Only a failure needs the location, whose tracking takes time.
                serde_json::from_str(self.text()).or_else(|_| {
                    let rewritten = without_fractions(self.text());
                    if let Some(Ok(read)) = rewritten.map(|text| serde_json::from_str(&text)) {
                        return Ok(read);
                    }
                    let json = &mut serde_json::Deserializer::from_str(self.text());
                    serde_path_to_error::deserialize(json)
                        .map_err(|error| ArgumentError::new(self.text(), &error))
                })
            }
            Form::Texts => {
                let read = parse_texts(&self.texts());
                read.map_err(|error| ArgumentError::new(self.text(), &error))
            }
        }
    }

    /// Returns the members that are strings, in order.
    pub(super) fn texts(&self) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        let Ok(mut members) = Members::new(self.text()) else {
            return texts;
        };
        while let Ok(Some((name, value))) = members.next() {
            if let Some(value) = as_string(value) {
                texts.push((name.into_owned(), value.into_owned()));
            }
        }
        texts
    }
}

/// Error of arguments that are strings, with its place.
type TextError = serde_path_to_error::Error<serde::de::value::Error>;

/// Deserializes arguments that are strings: each from the string itself or, if that fails, from the JSON in it.
///
/// The declared names limit the number of attempts.
fn parse_texts<T: DeserializeOwned>(texts: &[(String, String)]) -> Result<T, TextError> {
    let mut json: Vec<&str> = Vec::new();
    loop {
        let error = match read_texts(texts, &|name| json.contains(&name)) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        match failed_argument(texts, &error) {
            Some(name) if !json.contains(&name) => json.push(name),
            Some(_) => return Err(error),
            // The members of a flattened field have no place.
            None => return read_texts(texts, &|_| true).map_err(|last| later(texts, error, last)),
        }
    }
}

/// Returns the error of the second attempt, unless it names an argument that the first attempt has read.
fn later(texts: &[(String, String)], first: TextError, second: TextError) -> TextError {
    match failed_argument(texts, &second) {
        Some(_) => first,
        None => second,
    }
}

/// Deserializes arguments of which some are read from JSON.
fn read_texts<T: DeserializeOwned>(
    texts: &[(String, String)],
    is_json: &dyn Fn(&str) -> bool,
) -> Result<T, TextError> {
    let texts = texts.iter().map(|(name, text)| {
        let value = if is_json(name) {
            TextDeserializer::json(text)
        } else {
            TextDeserializer::new(text)
        };
        (&**name, value)
    });
    serde_path_to_error::deserialize(MapDeserializer::new(texts))
}

/// Returns the name of the argument that does not fit, if the error has its place.
fn failed_argument<'a>(texts: &'a [(String, String)], error: &TextError) -> Option<&'a str> {
    let Some(Segment::Map { key }) = error.path().iter().next() else {
        return None;
    };
    let mut names = texts.iter().map(|(name, _)| &**name);
    names.find(|name| name == key)
}

/// Error of [`Arguments::parse`]: an argument does not fit the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError(Box<str>);

impl ArgumentError {
    fn new<E: fmt::Display>(text: &str, error: &serde_path_to_error::Error<E>) -> Self {
        let problem = Problem::located("", short_value(text).as_ref(), error);
        let heading = "the arguments could not be read:".to_owned();
        Self(format_problems(heading, &[problem], &Value::Null, &Map::new()).into())
    }
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ArgumentError {}

impl From<ArgumentError> for Error {
    fn from(error: ArgumentError) -> Self {
        Self::Other(error.into())
    }
}

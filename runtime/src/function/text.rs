//! Arguments that are transmitted as strings: those of prompts, and the variables of resource URIs.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use treenail_schema::internal::TextDeserializer;

use crate::function::argument::{Argument, Form};
use crate::function::argument_error::{Fault, Problem, reason_of, truncated_json};
use crate::wire::as_string;

/// A type that can be an argument of a prompt or a variable of a resource URI: owned, and parsable from a string.
///
/// Implemented for every type that implements [`serde::Deserialize`] and [`schemars::JsonSchema`]; `#[mcp_type]`
/// derives both. Strings and enums without data are the string itself. Numbers and booleans are parsed from it; lists,
/// maps, structs and enums with data are parsed from it as JSON. An `Option<T>` makes the argument optional.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be parsed from a string",
    label = "arguments of prompts and variables of URIs need `Deserialize`, `JsonSchema` and `Send`",
    note = "put `#[mcp_type]` on your own types; those of `chrono`, `jiff`, `rust_decimal`, `url` and `uuid` need the feature with that name; `cx: &Context` is taken by reference; state such as a database is in `self`: write `&self`, and mount a value of the type"
)]
pub trait TextArgument: Sized {
    /// Returns the schema and the conversion of the argument called `name`.
    fn argument(name: &'static str) -> Argument<Self>;
}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> TextArgument for T {
    fn argument(name: &'static str) -> Argument<Self> {
        let read = |json: &str| TextDeserializer::read(&as_string(json)?).ok();
        Argument::new(name, Form::Text, read, |name, json| {
            let Some(text) = as_string(json) else {
                let reason = format!("expected a string in quotes, got {}", truncated_json(json));
                let fault = Fault::Unreadable {
                    value: None,
                    reason,
                };
                return Some(Problem::new(name, fault));
            };
            let error = TextDeserializer::read::<T>(&text).err()?;
            let mut reason = reason_of(&error);
            if TextDeserializer::json(&text).is_json() && reason.starts_with("invalid ") {
                // The place in the JSON is unknown, so the expected type of the whole does not explain the error.
                reason = format!("the text has an {reason}");
            }
            let value = Some(Value::String(text.into_owned()));
            Some(Problem::new(name, Fault::Unreadable { value, reason }))
        })
    }
}

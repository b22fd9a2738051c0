//! What a tool returns, written by the server half and read by the client half.

use std::error::Error;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;
use treenail_schema::{CallToolResult, ContentBlock};

use crate::contract::content::FromContent;
use crate::contract::structured::{locate, read_structured};
use crate::function::Output;
use crate::function::kind::{self, Kind};
use crate::function::schema::Direction;
use crate::tool::ToolInfo;
use crate::tool::output::{Shape, ToolOutput};

/// A `Result`: what each method of a trait with `#[mcp_client]` returns, since a call can fail on its way.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`",
    label = "a call can fail on its way, so this has to be a `Result`",
    note = "write `Result<{Self}, ToolError>`, or any other error in place of `ToolError`"
)]
pub trait Fallible {
    /// What there is after success.
    type Ok;
}

#[diagnostic::do_not_recommend]
impl<T, E> Fallible for Result<T, E> {
    type Ok = T;
}

/// A type that a tool can return where one trait has a server half and a client half.
///
/// As [`ToolOutput`](crate::ToolOutput), and values have to be readable too: [`serde::Deserialize`], which `#[mcp_type]`
/// derives with the others. The parameters, the way in which it is written and what the client gets, are always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool that has a client",
    label = "an output needs `Serialize`, `Deserialize` and `JsonSchema`",
    note = "put `#[mcp_type]` on your own types, or return content blocks; the error is any `Error`"
)]
pub trait ContractOutput<K, T>: Sized {
    /// How the server writes it.
    fn output(kind: Kind<K>) -> Output<Self, ToolInfo>;

    /// How the client reads it.
    fn reader(kind: Kind<K>) -> OutputReader<T>;
}

/// Reads what a tool has returned from a result that tells of no failure.
pub type OutputReader<T> = fn(CallToolResult) -> serde_json::Result<T>;

#[diagnostic::do_not_recommend]
impl<T, E, K> ContractOutput<kind::Fallible<K>, T> for Result<T, E>
where
    T: ToolOutput<K> + FromToolResult<K>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn output(kind: Kind<kind::Fallible<K>>) -> Output<Self, ToolInfo> {
        <Self as ToolOutput<_>>::output(kind)
    }

    fn reader(_: Kind<kind::Fallible<K>>) -> OutputReader<T> {
        T::from_tool_result
    }
}

/// What is no `Result` is refused by [`Fallible`], in one place.
macro_rules! refused_elsewhere {
    ($($kind:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<T: ToolOutput<kind::$kind>> ContractOutput<kind::$kind, ()> for T {
            fn output(kind: Kind<kind::$kind>) -> Output<Self, ToolInfo> {
                <Self as ToolOutput<_>>::output(kind)
            }

            fn reader(_: Kind<kind::$kind>) -> OutputReader<()> {
                |_| Err(serde_json::Error::custom("not a `Result`"))
            }
        }
    )*};
}

refused_elsewhere!(Json Content);

/// What is read from the result of a tool; the kind `K` is always inferred.
pub trait FromToolResult<K>: Sized {
    /// Reads it from a result that tells of no failure.
    fn from_tool_result(result: CallToolResult) -> serde_json::Result<Self>;
}

impl<T: FromContent> FromToolResult<kind::Content> for T {
    fn from_tool_result(result: CallToolResult) -> serde_json::Result<Self> {
        T::from_result(result)
    }
}

impl<T: DeserializeOwned + JsonSchema> FromToolResult<kind::Json> for T {
    fn from_tool_result(mut result: CallToolResult) -> serde_json::Result<Self> {
        if let Some(structured) = result.structured_content.take() {
            return read_structured(structured, &result);
        }
        read_text(text_of(&result), is_plain_text::<T>)
    }
}

/// The texts of a result; `None` if it has no content.
pub(crate) fn text_of(result: &CallToolResult) -> Option<String> {
    if result.content.is_empty() {
        return None;
    }
    Some(text_of_blocks(&result.content))
}

/// The texts among some blocks, each in lines of its own.
pub(crate) fn text_of_blocks(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(ContentBlock::as_text);
    texts.collect::<Vec<_>>().join("\n")
}

/// A value from the text that stands for it: its JSON, or the text itself for a type that is a plain text, or if the text
/// is no such JSON.
pub(crate) fn read_text<T: DeserializeOwned>(
    text: Option<String>,
    is_plain_text: fn() -> bool,
) -> serde_json::Result<T> {
    let Some(text) = text else {
        let nothing = serde_json::from_value(Value::Null);
        return nothing.or_else(|error| from_text(String::new()).map_err(|_| error));
    };
    // Only such a text could be taken for the JSON of a text, so only then the schema has to say what it is.
    let may_be_both = text.starts_with('"') || text == "null";
    if may_be_both && is_plain_text() {
        return from_text(text);
    }
    let read = serde_json::from_str(&text);
    read.or_else(|error| {
        // Only in such a text is there a place where something does not fit.
        let json = text.starts_with(['{', '[']).then(|| text.clone());
        from_text(text).map_err(|_| match json {
            Some(json) => locate::<T>(error, &json),
            None => error,
        })
    })
}

fn from_text<T: DeserializeOwned>(text: String) -> serde_json::Result<T> {
    serde_json::from_value(Value::String(text))
}

/// Whether the server writes a value of this type as a text that is not JSON.
fn is_plain_text<T: JsonSchema>() -> bool {
    let mut schema = Direction::Output
        .generator()
        .subschema_for::<T>()
        .to_value();
    Direction::Output.tidy(&mut schema);
    Shape::of(&schema) == Shape::Text
}

//! Tool output of a trait that has both a server and a client.

use std::error::Error;

use schemars::JsonSchema;
use serde::de::{DeserializeOwned, Error as _};
use serde_json::Value;
use treenail_schema::{CallToolResult, ContentBlock, ResultMetaObject};

use crate::function::Output;
use crate::function::integral::without_fractions;
use crate::function::kind::{self, Kind};
use crate::revision::{unmark_wrapped, wrapped_value};
use crate::tool::ToolInfo;
use crate::tool::output::{ToolOutput, is_plain_text};
use crate::tool::structured::Structured;
use crate::typed_contract::content::FromContent;
use crate::typed_contract::structured::{add_location, read_structured};

/// A `Result`: the return type of each method of a trait with `#[mcp_client]`, because any remote call can fail.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result`",
    label = "a remote call can fail, so this has to be a `Result`",
    note = "write `Result<{Self}, ToolError>`, or any other error in place of `ToolError`"
)]
pub trait Fallible {
    /// Type of the success value.
    type Ok;
}

#[diagnostic::do_not_recommend]
impl<T, E> Fallible for Result<T, E> {
    type Ok = T;
}

/// A tool output of a trait that has both a server and a client.
///
/// It is a [`ToolOutput`](crate::ToolOutput) whose values can also be deserialized: [`serde::Deserialize`] is required
/// too, which `#[mcp_type]` derives with the others. The parameters, the encoding and the output type of the client,
/// are always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the output of a tool that has a client",
    label = "an output needs `Serialize`, `Deserialize` and `JsonSchema`, the error needs `Error`",
    note = "put `#[mcp_type]` on your own types, also on the `T` of a `Structured<T>`, or return content blocks",
    note = "an error derives `thiserror::Error` or is a `ToolError`; `Box<dyn Error>` needs `+ Send + Sync`"
)]
pub trait ContractOutput<K, T>: Sized {
    /// Returns the serialization of the output, for the server.
    fn output(kind: Kind<K>) -> Output<Self, ToolInfo>;

    /// Returns the deserialization of the output, for the client.
    fn reader(kind: Kind<K>) -> OutputReader<T>;
}

/// Function that reads the output from a successful result.
pub type OutputReader<T> = fn(CallToolResult) -> serde_json::Result<T>;

#[diagnostic::do_not_recommend]
impl<T, E, K> ContractOutput<kind::FallibleOutput<K>, T> for Result<T, E>
where
    T: ToolOutput<K> + FromToolResult<K>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    fn output(kind: Kind<kind::FallibleOutput<K>>) -> Output<Self, ToolInfo> {
        <Self as ToolOutput<_>>::output(kind)
    }

    fn reader(_: Kind<kind::FallibleOutput<K>>) -> OutputReader<T> {
        T::from_tool_result
    }
}

/// Implements the trait for types other than `Result`, so that only [`Fallible`] reports them as an error.
macro_rules! impl_for_other_types {
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

impl_for_other_types!(JsonOutput ContentOutput StructuredOutput);

/// Output that can be read from a tool result. The kind `K` is always inferred.
pub trait FromToolResult<K>: Sized {
    /// Deserializes the output of a successful result.
    fn from_tool_result(result: CallToolResult) -> serde_json::Result<Self>;
}

impl<T: FromContent> FromToolResult<kind::ContentOutput> for T {
    fn from_tool_result(result: CallToolResult) -> serde_json::Result<Self> {
        T::from_result(result)
    }
}

impl<T: DeserializeOwned + JsonSchema> FromToolResult<kind::JsonOutput> for T {
    fn from_tool_result(mut result: CallToolResult) -> serde_json::Result<Self> {
        if let Some(structured) = result.structured_content.take() {
            return read_structured(structured, &result);
        }
        read_text(text_of(&result), is_plain_text::<T>)
    }
}

impl<T: DeserializeOwned + JsonSchema> FromToolResult<kind::StructuredOutput> for Structured<T> {
    fn from_tool_result(mut result: CallToolResult) -> serde_json::Result<Self> {
        let value = match result.structured_content.take() {
            Some(structured) => {
                let has_copy = ends_with_copy(&structured, &result);
                let value = read_structured(structured, &result)?;
                if has_copy {
                    result.content.pop();
                }
                value
            }
            None => read_text(text_of(&result), is_plain_text::<T>)?,
        };
        let mut output = Self::new(value).with_content(result.content);
        output.meta = result.meta.and_then(own_meta);
        Ok(output)
    }
}

impl<T: DeserializeOwned + JsonSchema> FromToolResult<kind::StructuredOutput>
    for Option<Structured<T>>
{
    fn from_tool_result(result: CallToolResult) -> serde_json::Result<Self> {
        let Structured {
            value,
            content,
            meta,
        } = Structured::<Option<T>>::from_tool_result(result)?;
        Ok(value.map(|value| Structured {
            value,
            content,
            meta,
        }))
    }
}

/// Returns whether the last block is the text copy of structured content, or of the value within.
fn ends_with_copy(structured: &Value, result: &CallToolResult) -> bool {
    let text = result.content.last().and_then(ContentBlock::as_text);
    let copy = text.and_then(|text| serde_json::from_str::<Value>(text).ok());
    copy.is_some_and(|copy| copy == *structured || Some(&copy) == wrapped_value(structured))
}

/// Returns the `_meta` of a result without the members that describe the connection on which it came.
fn own_meta(mut meta: ResultMetaObject) -> Option<ResultMetaObject> {
    meta.server_info = None;
    unmark_wrapped(&mut meta);
    (meta != ResultMetaObject::default()).then_some(meta)
}

/// Returns the text of a result, or `None` without content.
#[inline]
pub(crate) fn text_of(result: &CallToolResult) -> Option<String> {
    if result.content.is_empty() {
        return None;
    }
    Some(text_of_blocks(&result.content))
}

/// Joins the text blocks with line breaks.
#[inline]
pub(crate) fn text_of_blocks(blocks: &[ContentBlock]) -> String {
    let texts = blocks.iter().filter_map(ContentBlock::as_text);
    texts.collect::<Vec<_>>().join("\n")
}

/// Reads a value from text: as JSON, or as the text itself for a string type or if the text is not valid JSON for the
/// type. Integers in the JSON may have a fraction of zero.
pub(crate) fn read_text<T: DeserializeOwned>(
    text: Option<String>,
    is_plain_text: fn() -> bool,
) -> serde_json::Result<T> {
    let Some(text) = text else {
        let missing = serde_json::from_value(Value::Null);
        return missing.or_else(|error| from_text(String::new()).map_err(|_| error));
    };
    let is_composite = text.starts_with(['{', '[']);
    match serde_json::from_str(&text) {
        Ok(value) if is_composite => Ok(value),
        Ok(value) => Ok(prefer_text(value, text, is_plain_text)),
        Err(_) => from_text(text.clone()).or_else(|_| {
            let json = without_fractions(&text).unwrap_or(text);
            let read = serde_json::from_str(&json);
            // Only JSON of an object or a list has locations inside.
            if is_composite {
                read.map_err(|error| add_location::<T>(error, &json))
            } else {
                read
            }
        }),
    }
}

/// Chooses between the value of a text as JSON and that of the text itself, which a decimal number has both.
///
/// Most types cannot be read from a text, so the schema is rarely needed.
fn prefer_text<T: DeserializeOwned>(value: T, text: String, is_plain_text: fn() -> bool) -> T {
    match from_text(text) {
        Ok(plain) if is_plain_text() => plain,
        _ => value,
    }
}

fn from_text<T: DeserializeOwned>(text: String) -> serde_json::Result<T> {
    serde_json::from_value(Value::String(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check<T: DeserializeOwned + PartialEq + std::fmt::Debug>(
        text: &str,
        expected: Result<T, &str>,
    ) {
        let found = read_text(Some(text.to_owned()), || false).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned), "{text}");
    }

    #[test]
    fn integers_in_a_text_may_have_a_fraction_of_zero() {
        check("3.0", Ok(3_u32));
        check("3.0", Ok(3.0_f64));
        check("3.0", Ok("3.0".to_owned()));
        check("[1, 2e2]", Ok(vec![1_u32, 200]));
        check(
            "[1.0, 2.5]",
            Err::<Vec<u32>, _>("at `[1]`: invalid type: floating point `2.5`, expected u32"),
        );
        check(
            "2.5",
            Err::<u32, _>("invalid type: floating point `2.5`, expected u32 at line 1 column 3"),
        );
    }
}

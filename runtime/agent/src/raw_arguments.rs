//! Tool calls whose arguments arrive as text, which may not be valid JSON.

use serde_json::Value;
use treenail_schema::{JsonObject, MetaObject, ToolUseContent};

/// `_meta` key of a `tool_use` for the raw text of arguments that are not a JSON object. `input` is then empty, and the
/// call must not be run.
pub const RAW_ARGUMENTS: &str = "dev.treenail/raw-arguments";

/// `_meta` key of a `tool_use` for the raw text of a call that could not be parsed from the model's text.
pub(crate) const RAW_CALL: &str = "dev.treenail/written-call";

/// Creates a tool call from arguments that the model wrote as text. Intended for implementations of
/// [`Model`](crate::Model) over an endpoint that returns arguments as text.
///
/// Empty text means no arguments. Text that is not a JSON object is stored under [`RAW_ARGUMENTS`], and the tool loop
/// answers such a call with a parse error.
///
/// ```
/// use treenail::agent::{RAW_ARGUMENTS, tool_use_from_raw};
///
/// let call = tool_use_from_raw("call_1", "forecast", r#"{"city": "Oslo"}"#);
/// assert_eq!(call.input["city"], "Oslo");
///
/// let call = tool_use_from_raw("call_2", "forecast", r#"{"city": "Os"#);
/// assert!(call.input.is_empty());
/// assert_eq!(call.meta.unwrap()[RAW_ARGUMENTS], r#"{"city": "Os"#);
/// ```
pub fn tool_use_from_raw(
    id: impl Into<String>,
    name: impl Into<String>,
    arguments: &str,
) -> ToolUseContent {
    if let Ok(input) = parse(arguments) {
        return ToolUseContent::new(id, name, input);
    }
    let meta: MetaObject = [(RAW_ARGUMENTS, arguments)].into_iter().collect();
    ToolUseContent::new(id, name, JsonObject::new()).with_meta(meta)
}

/// Returns the parse error of a call whose arguments are not a JSON object, with its position, for the model.
pub(crate) fn parse_error(tool_use: &ToolUseContent) -> Option<String> {
    let raw = tool_use.meta.as_ref()?.get(RAW_ARGUMENTS)?.as_str()?;
    parse(raw).err()
}

fn parse(arguments: &str) -> Result<JsonObject, String> {
    if arguments.trim().is_empty() {
        return Ok(JsonObject::new());
    }
    let kind = match serde_json::from_str(arguments) {
        Ok(Value::Object(input)) => return Ok(input),
        // Models write `null` for "none".
        Ok(Value::Null) => return Ok(JsonObject::new()),
        Ok(Value::Array(_)) => "an array",
        Ok(Value::String(_)) => "a string",
        Ok(Value::Number(_)) => "a number",
        Ok(Value::Bool(_)) => "a boolean",
        // The error contains the line and column.
        Err(error) => return Err(format!("the arguments are not valid JSON: {error}")),
    };
    Err(format!("the arguments are {kind} and not a JSON object"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_are_not_an_object_are_preserved_as_raw_text() {
        let cases = [
            ("", Ok("{}")),
            (" \n", Ok("{}")),
            ("null", Ok("{}")),
            ("{\"a\": [1]}", Ok("{\"a\":[1]}")),
            (
                "[1]",
                Err("the arguments are an array and not a JSON object"),
            ),
            (
                "\"{}\"",
                Err("the arguments are a string and not a JSON object"),
            ),
            (
                "{\"a\": 1,\n}",
                Err("the arguments are not valid JSON: trailing comma at line 2 column 1"),
            ),
            (
                "{\"a\": \"b",
                Err(
                    "the arguments are not valid JSON: EOF while parsing a string at line 1 column 8",
                ),
            ),
        ];
        for (raw, expected) in cases {
            let call = tool_use_from_raw("1", "tool", raw);
            let parse = match parse_error(&call) {
                None => Ok(Value::Object(call.input).to_string()),
                Some(why) => {
                    assert!(call.input.is_empty(), "{raw}");
                    assert_eq!(call.meta.unwrap()[RAW_ARGUMENTS], raw);
                    Err(why)
                }
            };
            let parse = parse.as_deref().map_err(String::as_str);
            assert_eq!(parse, expected, "{raw}");
        }
    }

    #[test]
    fn other_meta_keys_are_ignored() {
        let meta: MetaObject = [("vendor/key", "{")].into_iter().collect();
        let call = ToolUseContent::new("1", "tool", JsonObject::new()).with_meta(meta);
        assert_eq!(parse_error(&call), None);
    }
}

//! Arguments that clients repeat in HTTP headers (`x-mcp-header`), so that intermediaries can route by them.

#[cfg(any(feature = "http-server", feature = "client"))]
mod find;

use std::collections::HashSet;

use serde_json::{Map, Value};

#[cfg(any(feature = "http-server", feature = "client"))]
pub use self::find::{Ambiguity, FoundArgument, find_arguments};
use crate::function::bounds::HEADER_KEYWORD;

/// Maximum number of arguments of a tool that are repeated in headers. Each is a header of every call.
const MAX_PARAMS: usize = 64;

/// Maximum length of the paths to these arguments together, in bytes. Each argument stores its whole path, so a long name
/// that contains many of them would otherwise be stored as often.
const MAX_PATH_BYTES: usize = 16 << 10;

/// An argument that is repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(feature = "http-server", feature = "client", test)),
    allow(dead_code, reason = "other transports have no headers")
)]
pub struct HeaderParam {
    /// Name of the header in lower case, including the common prefix.
    pub header: String,
    /// Keys that lead to the argument, starting at the outermost object.
    pub path: Vec<String>,
}

/// Returns the header arguments of an input schema. Fails if clients would reject the tool because of one of them, or if
/// there are more than [`MAX_PARAMS`], or their paths are longer than [`MAX_PATH_BYTES`] together.
pub(crate) fn header_params(schema: &Map<String, Value>) -> Result<Vec<HeaderParam>, String> {
    let mut collector = Collector::default();
    collector.visit_object(schema, Some(&mut Vec::new()))?;
    Ok(collector.params)
}

#[derive(Default)]
struct Collector {
    params: Vec<HeaderParam>,
    names: HashSet<String>,
    path_bytes: usize,
}

impl Collector {
    /// Visits a schema. `path` leads to it, if it is reachable through `properties` only.
    fn visit_object(
        &mut self,
        schema: &Map<String, Value>,
        mut path: Option<&mut Vec<String>>,
    ) -> Result<(), String> {
        if let Some(name) = schema.get(HEADER_KEYWORD) {
            self.add(name, schema, path.as_deref())?;
        }
        for (keyword, value) in schema {
            match keyword.as_str() {
                "properties" => self.visit_properties(value, path.as_deref_mut())?,
                // The values of these keywords are not schemas.
                "default" | "const" | "enum" | "examples" => {}
                _ => self.visit_other(value)?,
            }
        }
        Ok(())
    }

    fn visit_properties(
        &mut self,
        properties: &Value,
        mut path: Option<&mut Vec<String>>,
    ) -> Result<(), String> {
        for (name, schema) in properties.as_object().into_iter().flatten() {
            let Some(schema) = schema.as_object() else {
                continue;
            };
            if let Some(path) = &mut path {
                path.push(name.clone());
            }
            self.visit_object(schema, path.as_deref_mut())?;
            if let Some(path) = &mut path {
                path.pop();
            }
        }
        Ok(())
    }

    /// Visits schemas without a fixed location in the arguments: items, alternatives, definitions.
    fn visit_other(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Object(schema) => self.visit_object(schema, None),
            Value::Array(values) => values.iter().try_for_each(|value| self.visit_other(value)),
            _ => Ok(()),
        }
    }

    fn add(
        &mut self,
        name: &Value,
        schema: &Map<String, Value>,
        path: Option<&Vec<String>>,
    ) -> Result<(), String> {
        let name = name.as_str().filter(|name| is_token(name));
        let name = name.ok_or_else(|| format!("`{HEADER_KEYWORD}` is not a valid header name"))?;
        let shown = crate::wire::quoted(name);
        let path = path.filter(|path| !path.is_empty()).ok_or_else(|| {
            format!("`{HEADER_KEYWORD}` = {shown} is not at a fixed place; only arguments, and fields of arguments that are objects, can have it")
        })?;
        let kind = schema.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Err(format!(
                "`{HEADER_KEYWORD}` = {shown} requires a string, an integer or a boolean, without alternatives: not an `Option` with \
                 a default, nor an enum whose variants have descriptions"
            ));
        }
        let lower = name.to_ascii_lowercase();
        if !self.names.insert(lower.clone()) {
            return Err(format!("`{HEADER_KEYWORD}` = {shown} is used twice"));
        }
        self.charge(path)?;
        self.params.push(HeaderParam {
            header: format!("mcp-param-{lower}"),
            path: path.clone(),
        });
        Ok(())
    }

    /// Counts another argument, before its path is stored.
    fn charge(&mut self, path: &[String]) -> Result<(), String> {
        if self.params.len() >= MAX_PARAMS {
            return Err(format!(
                "more than {MAX_PARAMS} arguments have `{HEADER_KEYWORD}`"
            ));
        }
        self.path_bytes += path.iter().map(String::len).sum::<usize>();
        if self.path_bytes > MAX_PATH_BYTES {
            return Err(format!(
                "the paths to the arguments with `{HEADER_KEYWORD}` are longer than {MAX_PATH_BYTES} bytes together"
            ));
        }
        Ok(())
    }
}

/// Returns whether a string can be part of a header name (`token` in RFC 9110).
fn is_token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(schema: &Value) -> Result<Vec<String>, String> {
        let params = header_params(schema.as_object().unwrap())?;
        let show = |param: HeaderParam| format!("{}={}", param.path.join("/"), param.header);
        Ok(params.into_iter().map(show).collect())
    }

    #[test]
    fn header_arguments_are_found_at_fixed_places() {
        let schema = json!({"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "x-mcp-header": {"type": "array"},
            "user": {"type": "object", "properties": {
                "tier": {"type": "integer", "x-mcp-header": "User-Tier"},
            }},
        }});
        let expected = ["region=mcp-param-region", "user/tier=mcp-param-user-tier"];
        assert_eq!(outcome(&schema).unwrap(), expected, "SRV-HDR-05");
    }

    /// Strings with a header each, as the properties of one object.
    fn strings(count: usize) -> Value {
        let string = |at| json!({"type": "string", "x-mcp-header": format!("a{at}")});
        let strings: Map<_, _> = (0..count)
            .map(|at| (format!("a{at}"), string(at)))
            .collect();
        json!({"properties": strings})
    }

    #[test]
    fn header_arguments_are_limited_in_number() {
        assert_eq!(outcome(&strings(64)).unwrap().len(), 64);
        let error = outcome(&strings(65)).unwrap_err();
        assert!(error.contains("more than 64 arguments"), "{error}");
    }

    #[test]
    fn the_paths_of_header_arguments_are_limited_together() {
        let below = |length, count| json!({"properties": {"n".repeat(length): strings(count)}});
        // Each path is this name and another one of two bytes.
        let longest = (1 << 14) / 8 - 2;
        assert!(outcome(&below(longest, 8)).is_ok());
        for (length, count) in [(longest + 1, 8), (1 << 18, 1), (1 << 18, 4_000)] {
            let error = outcome(&below(length, count)).unwrap_err();
            assert!(error.contains("16384 bytes together"), "{error}");
        }
    }

    #[test]
    fn tools_that_clients_would_reject_are_rejected() {
        let one = |schema: Value| json!({"properties": {"a": schema}});
        let text = json!({"type": "string", "x-mcp-header": "A"});
        let cases = [
            (
                "SRV-HDR-06",
                one(json!({"type": "string", "x-mcp-header": ""})),
            ),
            (
                "SRV-HDR-06",
                one(json!({"type": "string", "x-mcp-header": "a b"})),
            ),
            (
                "SRV-HDR-06",
                one(json!({"type": "string", "x-mcp-header": "a\r\nb"})),
            ),
            (
                "SRV-HDR-06",
                one(json!({"type": "string", "x-mcp-header": 3})),
            ),
            (
                "SRV-HDR-06",
                json!({"properties": {
                    "a": text, "b": {"type": "string", "x-mcp-header": "a"},
                }}),
            ),
            (
                "SRV-HDR-07",
                one(json!({"type": "number", "x-mcp-header": "A"})),
            ),
            (
                "SRV-HDR-07",
                one(json!({"type": "array", "x-mcp-header": "A"})),
            ),
            ("SRV-HDR-08", one(json!({"type": "array", "items": text}))),
            ("SRV-HDR-08", one(json!({"anyOf": [text]}))),
            ("SRV-HDR-08", json!({"$defs": {"a": text}})),
            ("SRV-HDR-08", json!({"type": "object", "x-mcp-header": "A"})),
        ];
        for (id, schema) in cases {
            assert!(outcome(&schema).is_err(), "{id}: {schema}");
        }
    }
}

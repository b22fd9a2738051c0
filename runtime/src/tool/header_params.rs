//! Arguments that clients repeat in headers of HTTP, so that what stands between can route by them: `x-mcp-header`.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The key in the schema of an argument that names its header.
const KEY: &str = "x-mcp-header";

/// An argument that is repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(any(feature = "http-server", feature = "client", test)),
    allow(dead_code, reason = "other transports have no headers")
)]
pub(crate) struct HeaderParam {
    /// The name of the header in lower case, with what all of them begin with.
    pub(crate) header: String,
    /// The keys that lead to the argument, from the outermost object on.
    pub(crate) path: Vec<String>,
}

/// Those that an input schema names; an error if clients would refuse the tool for one of them.
pub(crate) fn mirrors(schema: &Map<String, Value>) -> Result<Vec<HeaderParam>, String> {
    let mut found = Found::default();
    found.object(schema, Some(&mut Vec::new()))?;
    Ok(found.mirrors)
}

#[derive(Default)]
struct Found {
    mirrors: Vec<HeaderParam>,
    names: HashSet<String>,
}

impl Found {
    /// Goes through a schema; `path` leads to it, if keys of `properties` alone do.
    fn object(
        &mut self,
        schema: &Map<String, Value>,
        mut path: Option<&mut Vec<String>>,
    ) -> Result<(), String> {
        if let Some(name) = schema.get(KEY) {
            self.add(name, schema, path.as_deref())?;
        }
        for (keyword, value) in schema {
            match keyword.as_str() {
                "properties" => self.properties(value, path.as_deref_mut())?,
                // These hold values, not schemas.
                "default" | "const" | "enum" | "examples" => {}
                _ => self.elsewhere(value)?,
            }
        }
        Ok(())
    }

    fn properties(
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
            self.object(schema, path.as_deref_mut())?;
            if let Some(path) = &mut path {
                path.pop();
            }
        }
        Ok(())
    }

    /// Goes through what no value of a fixed place has: items, alternatives, definitions.
    fn elsewhere(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::Object(schema) => self.object(schema, None),
            Value::Array(values) => values.iter().try_for_each(|value| self.elsewhere(value)),
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
        let name = name.ok_or_else(|| format!("`{KEY}` is not the name of a header"))?;
        let path = path.filter(|path| !path.is_empty()).ok_or_else(|| {
            format!("`{KEY}` = `{name}` stands where not every call has one value; only arguments, and fields of arguments that are objects, can have it")
        })?;
        let kind = schema.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Err(format!(
                "`{KEY}` = `{name}` belongs to a string, an integer or a boolean"
            ));
        }
        let lower = name.to_ascii_lowercase();
        if !self.names.insert(lower.clone()) {
            return Err(format!("`{KEY}` = `{name}` is given twice"));
        }
        self.mirrors.push(HeaderParam {
            header: format!("mcp-param-{lower}"),
            path: path.clone(),
        });
        Ok(())
    }
}

/// The text of the value that `path` leads to in the text of an object, unless there is none or it is `null`. (A member that
/// is given twice is refused when the arguments are read.)
#[cfg(any(feature = "http-server", feature = "client"))]
pub(crate) fn find<'a>(mut text: &'a str, path: &[String]) -> Option<&'a str> {
    for key in path {
        let mut members = crate::wire::Members::new(text).ok()?;
        text = loop {
            let (name, value) = members.next().ok()??;
            if name == key.as_str() {
                break value;
            }
        };
    }
    (text != "null").then_some(text)
}

/// Whether a text can be part of a header's name: a token of RFC 9110.
fn is_token(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(schema: &Value) -> Result<Vec<String>, String> {
        let found = mirrors(schema.as_object().unwrap())?;
        let show = |mirror: HeaderParam| format!("{}={}", mirror.path.join("/"), mirror.header);
        Ok(found.into_iter().map(show).collect())
    }

    #[test]
    fn headers_are_found_where_they_may_be() {
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

    #[test]
    fn tools_that_clients_would_drop_are_refused() {
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

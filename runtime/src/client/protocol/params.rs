//! Parameters of a request as JSON text, and the members that are added before it is sent.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use treenail_schema::{ClientCapabilities, Implementation, Revision};

use crate::client::ClientError;
use crate::wire::{Members, write_json};

/// Parameters of a request, without `_meta` and the members of an input round.
#[derive(Clone, Debug)]
pub(super) struct Params(String);

impl Params {
    /// Serializes `params`, which must be an object or `null`.
    pub(super) fn new(params: &impl Serialize) -> Result<Self, ClientError> {
        let text = serialize(params)?;
        match text.as_bytes().first() {
            Some(b'{') => Ok(Self(text)),
            Some(b'n') => Ok(Self("{}".to_owned())),
            _ => Err(ClientError::invalid("parameters must be an object")),
        }
    }

    /// Parameters with a name and arguments.
    pub(super) fn named(name: &str, arguments: &impl Serialize) -> Result<Self, ClientError> {
        let mut text = Vec::with_capacity(128);
        text.extend_from_slice(b"{\"name\":");
        append(&mut text, &name)?;
        let end = text.len();
        text.extend_from_slice(b",\"arguments\":");
        let start = text.len();
        append(&mut text, arguments)?;
        match text.get(start) {
            Some(b'{') => {}
            Some(b'n') => text.truncate(end),
            _ => return Err(ClientError::invalid("arguments must be an object, by name")),
        }
        text.push(b'}');
        let text = String::from_utf8(text);
        text.map(Self)
            .map_err(|_| ClientError::invalid("the serialized value is not UTF-8"))
    }

    /// Parameters of a request for one page of a list, the first page without a cursor.
    pub(super) fn page(cursor: Option<&str>) -> Result<Self, ClientError> {
        match cursor {
            Some(cursor) => Ok(Self(format!("{{\"cursor\":{}}}", serialize(&cursor)?))),
            None => Ok(Self("{}".to_owned())),
        }
    }

    /// Creates parameters from the JSON text of an object.
    pub(super) fn from_text(text: String) -> Self {
        Self(text)
    }

    /// Adds the parameter that asks for a task, in revision 2025-11-25.
    pub(super) fn ask_for_task(&mut self) {
        let mut text = OpenObject::reopen(&self.0, 16);
        text.push_members("\"task\":{}");
        text.0.push('}');
        self.0 = text.0;
    }

    /// Returns the JSON text of one parameter.
    pub(super) fn member(&self, name: &str) -> Option<&str> {
        let mut members = Members::new(&self.0).ok()?;
        while let Ok(Some((key, text))) = members.next() {
            if key == name {
                return Some(text);
            }
        }
        None
    }

    /// Returns the complete parameters, with the members of a round and `_meta`.
    pub(super) fn complete(&self, round: &RoundParams, meta: &Meta<'_>) -> String {
        let mut text = OpenObject::reopen(&self.0, round.0.len() + meta.len());
        if !round.0.is_empty() {
            text.push_members(&round.0);
        }
        if !meta.is_empty() {
            text.push_members("\"_meta\":{");
            meta.write(&mut text.0);
            text.0.push('}');
        }
        text.0.push('}');
        text.0
    }
}

fn append(text: &mut Vec<u8>, value: &impl Serialize) -> Result<(), ClientError> {
    write_json(text, value)
        .map_err(|error| ClientError::invalid(format!("could not be serialized: {error}")))
}

pub(super) fn serialize(value: &impl Serialize) -> Result<String, ClientError> {
    let mut text = Vec::with_capacity(128);
    append(&mut text, value)?;
    String::from_utf8(text).map_err(|_| ClientError::invalid("the serialized value is not UTF-8"))
}

/// JSON object without its closing brace.
struct OpenObject(String);

impl OpenObject {
    /// Removes the closing brace, and reserves space for `additional` bytes.
    fn reopen(text: &str, additional: usize) -> Self {
        let mut open = String::with_capacity(text.len() + additional + 16);
        open.push_str(text.strip_suffix('}').unwrap_or(text));
        Self(open)
    }

    fn push_members(&mut self, members: &str) {
        if !self.0.ends_with('{') {
            self.0.push(',');
        }
        self.0.push_str(members);
    }
}

/// Members that an input round adds to the parameters, as JSON text: answers to the server's requests, and its state.
#[derive(Debug, Default)]
pub(super) struct RoundParams(pub(super) String);

/// The `_meta` of a request.
#[derive(Debug)]
pub(super) struct Meta<'a> {
    /// Members that the era requires, as JSON text.
    pub(super) era: &'a str,
    pub(super) progress_token: Option<i64>,
    /// Members that the caller adds, as JSON text.
    pub(super) caller: &'a str,
}

impl Meta<'_> {
    fn len(&self) -> usize {
        self.era.len() + self.caller.len() + 48
    }

    fn is_empty(&self) -> bool {
        self.era.is_empty() && self.caller.is_empty() && self.progress_token.is_none()
    }

    fn write(&self, text: &mut String) {
        text.push_str(self.era);
        if let Some(token) = self.progress_token {
            push_separator(text);
            write!(text, "\"progressToken\":{token}").expect("writing to a string cannot fail");
        }
        if !self.caller.is_empty() {
            push_separator(text);
            text.push_str(self.caller);
        }
    }
}

/// Appends a comma, unless the next member is the first one.
fn push_separator(text: &mut String) {
    if !text.ends_with('{') {
        text.push(',');
    }
}

/// Members of `_meta` in each modern request.
pub(super) fn era_meta(
    revision: Revision,
    info: Option<&Implementation>,
    capabilities: &ClientCapabilities,
) -> Result<String, ClientError> {
    if !revision.is_modern() {
        return Ok(String::new());
    }
    let mut text = format!(
        "\"io.modelcontextprotocol/protocolVersion\":\"{revision}\",\
         \"io.modelcontextprotocol/clientCapabilities\":{}",
        serialize(capabilities)?
    );
    if let Some(info) = info {
        text.push_str(",\"io.modelcontextprotocol/clientInfo\":");
        text.push_str(&serialize(info)?);
    }
    Ok(text)
}

/// Appends a member to JSON text of members.
pub(super) fn push_member(members: &mut String, key: &str, value: &Value) {
    if !members.is_empty() {
        members.push(',');
    }
    write!(members, "{}:{value}", Value::from(key)).expect("writing to a string cannot fail");
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn arguments_are_written_on_one_line() {
        let raw = "{\n\t\"a\": [1,\r\n2]\n}".to_owned();
        let raw = RawValue::from_string(raw).expect("it is JSON");
        let params = Params::named("tool", &raw).expect("it can be written");
        assert_eq!(params.0, r#"{"name":"tool","arguments":{  "a": [1,  2] }}"#);
        assert_eq!(
            Params::new(&raw).expect("it can be written").0,
            "{  \"a\": [1,  2] }"
        );
    }

    #[test]
    fn numbers_without_a_json_form_are_not_sent_as_null() {
        let arguments = std::collections::BTreeMap::from([("a", f64::NAN)]);
        for params in [Params::named("tool", &arguments), Params::new(&arguments)] {
            let error = params.expect_err("JSON has no NaN").to_string();
            assert!(error.contains("JSON has no number NaN"), "{error}");
        }
    }
}

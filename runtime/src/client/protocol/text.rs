//! The parameters of a request as a text, and what is added to them on the way.

use std::fmt::Write;

use serde::Serialize;
use serde_json::Value;
use treenail_schema::{ClientCapabilities, Implementation, Revision};

use crate::client::ClientError;
use crate::wire::{Members, write_json};

/// The parameters of a request without what belongs to every request.
#[derive(Clone, Debug)]
pub(super) struct Head(String);

impl Head {
    /// What serializes to an object, or to nothing.
    pub(super) fn new(params: &impl Serialize) -> Result<Self, ClientError> {
        let text = write(params)?;
        match text.as_bytes().first() {
            Some(b'{') => Ok(Self(text)),
            Some(b'n') => Ok(Self("{}".to_owned())),
            _ => Err(ClientError::invalid("parameters are an object")),
        }
    }

    /// The parameters of a request for something by its name.
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
            _ => return Err(ClientError::invalid("arguments are an object, by name")),
        }
        text.push(b'}');
        let text = String::from_utf8(text);
        text.map(Self)
            .map_err(|_| ClientError::invalid("not written as UTF-8"))
    }

    /// The parameters of a request for the page of a list behind a cursor.
    pub(super) fn page(cursor: Option<&str>) -> Result<Self, ClientError> {
        match cursor {
            Some(cursor) => Ok(Self(format!("{{\"cursor\":{}}}", write(&cursor)?))),
            None => Ok(Self("{}".to_owned())),
        }
    }

    /// The text of one of the parameters.
    pub(super) fn member(&self, name: &str) -> Option<&str> {
        let mut members = Members::new(&self.0).ok()?;
        while let Ok(Some((key, text))) = members.next() {
            if key == name {
                return Some(text);
            }
        }
        None
    }

    /// The whole parameters, with further members.
    pub(super) fn complete(&self, round: &Round, meta: &Meta<'_>) -> String {
        let mut text = Object::reopen(&self.0, round.0.len() + meta.len());
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
        .map_err(|error| ClientError::invalid(format!("not written as JSON: {error}")))
}

pub(super) fn write(value: &impl Serialize) -> Result<String, ClientError> {
    let mut text = Vec::with_capacity(128);
    append(&mut text, value)?;
    String::from_utf8(text).map_err(|_| ClientError::invalid("not written as UTF-8"))
}

/// An object whose end is open.
struct Object(String);

impl Object {
    /// Opens an object again, with room for more.
    fn reopen(text: &str, more: usize) -> Self {
        let mut open = String::with_capacity(text.len() + more + 16);
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

/// What a round adds to the parameters: the answers to what the server has asked, and its state. Texts of members.
#[derive(Debug, Default)]
pub(super) struct Round(pub(super) String);

/// The `_meta` of a request.
#[derive(Debug)]
pub(super) struct Meta<'a> {
    /// What the era asks for: texts of members.
    pub(super) era: &'a str,
    pub(super) progress_token: Option<i64>,
    /// What the caller adds: texts of members.
    pub(super) own: &'a str,
}

impl Meta<'_> {
    fn len(&self) -> usize {
        self.era.len() + self.own.len() + 48
    }

    fn is_empty(&self) -> bool {
        self.era.is_empty() && self.own.is_empty() && self.progress_token.is_none()
    }

    fn write(&self, text: &mut String) {
        text.push_str(self.era);
        if let Some(token) = self.progress_token {
            separate(text);
            write!(text, "\"progressToken\":{token}").expect("a string takes everything");
        }
        if !self.own.is_empty() {
            separate(text);
            text.push_str(self.own);
        }
    }
}

/// Puts a comma behind a member.
fn separate(text: &mut String) {
    if !text.ends_with('{') {
        text.push(',');
    }
}

/// The members of `_meta` that each request of the modern era has.
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
        write(capabilities)?
    );
    if let Some(info) = info {
        text.push_str(",\"io.modelcontextprotocol/clientInfo\":");
        text.push_str(&write(info)?);
    }
    Ok(text)
}

/// Appends a member to texts of members.
pub(super) fn push_member(members: &mut String, key: &str, value: &Value) {
    if !members.is_empty() {
        members.push(',');
    }
    write!(members, "{}:{value}", Value::from(key)).expect("a string takes everything");
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn arguments_stand_on_one_line() {
        let raw = "{\n\t\"a\": [1,\r\n2]\n}".to_owned();
        let raw = RawValue::from_string(raw).expect("it is JSON");
        let head = Head::named("tool", &raw).expect("it can be written");
        assert_eq!(head.0, r#"{"name":"tool","arguments":{  "a": [1,  2] }}"#);
        assert_eq!(
            Head::new(&raw).expect("it can be written").0,
            "{  \"a\": [1,  2] }"
        );
    }

    #[test]
    fn numbers_that_json_has_not_are_not_sent_as_null() {
        let arguments = std::collections::BTreeMap::from([("a", f64::NAN)]);
        for head in [Head::named("tool", &arguments), Head::new(&arguments)] {
            let error = head.expect_err("JSON has no NaN").to_string();
            assert!(error.contains("JSON has no number NaN"), "{error}");
        }
    }
}

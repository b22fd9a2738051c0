//! Parameters of a request as JSON text, and the members that are added before it is sent.

use memchr::memmem;
use serde::Serialize;
use serde_json::{Map, Value};
use treenail_schema::{ClientCapabilities, Implementation, Revision};

use crate::client::ClientError;
use crate::client::protocol::meta::{Meta, append_member, push_text};
use crate::wire::{Members, SyntaxError, as_string, write_json};

/// Parameters of a request, without `_meta` and the members of an input round.
#[derive(Clone, Debug)]
pub(super) struct Params {
    text: String,
    /// Members of the `_meta` that was part of the parameters, as JSON text.
    meta: String,
}

impl Params {
    /// Serializes `params`, which must be an object or `null`. A `_meta` that they have is separated.
    pub(super) fn new(params: &impl Serialize) -> Result<Self, ClientError> {
        let text = serialize(params)?;
        match text.as_bytes().first() {
            Some(b'{') if memmem::find(text.as_bytes(), b"\"_meta\"").is_some() => {
                split_meta(&text).ok_or_else(|| {
                    ClientError::invalid("the member `_meta` of parameters must be an object")
                })
            }
            Some(b'{') => Ok(Self::from_text(text)),
            Some(b'n') => Ok(Self::from_text("{}".to_owned())),
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
        text.map(Self::from_text)
            .map_err(|_| ClientError::invalid("the serialized value is not UTF-8"))
    }

    /// Parameters with a name and arguments that are strings. Other values become the text of their JSON. A `null` is omitted.
    pub(super) fn named_texts(name: &str, arguments: &impl Serialize) -> Result<Self, ClientError> {
        let text = serialize(arguments)?;
        if !text.starts_with('{') {
            return Self::named(name, arguments);
        }
        let mut texts = Map::new();
        let invalid = |error: SyntaxError| ClientError::invalid(error.to_string());
        let mut members = Members::new(&text).map_err(invalid)?;
        while let Some((key, value)) = members.next().map_err(invalid)? {
            if value != "null" {
                let text = as_string(value).unwrap_or_else(|| value.into());
                texts.insert(key.into_owned(), Value::String(text.into_owned()));
            }
        }
        Self::named(name, &texts)
    }

    /// Parameters of a request for one page of a list, the first page without a cursor.
    pub(super) fn page(cursor: Option<&str>) -> Result<Self, ClientError> {
        match cursor {
            Some(cursor) => {
                let cursor = serialize(&cursor)?;
                Ok(Self::from_text(format!("{{\"cursor\":{cursor}}}")))
            }
            None => Ok(Self::from_text("{}".to_owned())),
        }
    }

    /// Creates parameters from the JSON text of an object.
    pub(super) fn from_text(text: String) -> Self {
        let meta = String::new();
        Self { text, meta }
    }

    /// Takes the members of the `_meta` that was part of the parameters.
    pub(super) fn take_meta(&mut self) -> String {
        std::mem::take(&mut self.meta)
    }

    /// Adds the parameter that asks for a task, in revision 2025-11-25.
    pub(super) fn ask_for_task(&mut self) {
        let mut text = OpenObject::reopen(&self.text, 16);
        text.push_members("\"task\":{}");
        text.0.push('}');
        self.text = text.0;
    }

    /// Returns the JSON text of one parameter.
    pub(super) fn member(&self, name: &str) -> Option<&str> {
        let mut members = Members::new(&self.text).ok()?;
        while let Ok(Some((key, text))) = members.next() {
            if key == name {
                return Some(text);
            }
        }
        None
    }

    /// Returns the complete parameters, with the members of a round and `_meta`.
    pub(super) fn complete(&self, round: &RoundParams, meta: &Meta<'_>) -> String {
        if round.0.is_empty() && meta.is_empty() {
            return self.text.clone();
        }
        let mut text = OpenObject::reopen(&self.text, round.0.len() + meta.len());
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
        // White space would hide that the object is empty.
        open.push_str(text.strip_suffix('}').unwrap_or(text).trim_end());
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

/// Separates the `_meta` of parameters. Returns `None` if it is neither an object nor `null`.
fn split_meta(text: &str) -> Option<Params> {
    let (mut rest, mut meta) = (String::with_capacity(text.len()), String::new());
    let mut members = Members::new(text).ok()?;
    while let Some((key, value)) = members.next().ok()? {
        match &*key {
            "_meta" if value == "null" => {}
            "_meta" => {
                let mut members = Members::new(value).ok()?;
                while let Some((key, value)) = members.next().ok()? {
                    push_text(&mut meta, &key, value);
                }
            }
            _ => append_member(&mut rest, &key, value),
        }
    }
    let text = format!("{{{rest}}}");
    Some(Params { text, meta })
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::RawValue;

    use super::*;

    #[test]
    fn arguments_are_written_on_one_line() {
        let raw = "{\n\t\"a\": [1,\r\n2]\n}".to_owned();
        let raw = RawValue::from_string(raw).expect("it is JSON");
        let params = Params::named("tool", &raw).expect("it can be written");
        assert_eq!(
            params.text,
            r#"{"name":"tool","arguments":{  "a": [1,  2] }}"#
        );
        assert_eq!(
            Params::new(&raw).expect("it can be written").text,
            "{  \"a\": [1,  2] }"
        );
    }

    #[test]
    fn members_are_added_to_empty_objects_with_white_space() {
        for (text, expected) in [("{ \n}", r#"{"a":1}"#), ("{\"b\":2 }", r#"{"b":2,"a":1}"#)] {
            let raw = RawValue::from_string(text.to_owned()).expect("it is JSON");
            let params = Params::new(&raw).expect("it can be written");
            let meta = Meta {
                era: "",
                progress_token: None,
                caller: "",
            };
            let round = RoundParams("\"a\":1".to_owned());
            assert_eq!(params.complete(&round, &meta), expected);
        }
    }

    #[test]
    fn a_meta_of_parameters_is_separated() {
        for (params, text, meta) in [
            (json!({"a": {"_meta": 1}}), r#"{"a":{"_meta":1}}"#, ""),
            (json!({"_meta": {"x": 1.5}}), "{}", r#""x":1.5"#),
            (
                json!({"_meta": {(crate::client::protocol::meta::ERA_KEYS[0]): "x"}, "a": 1}),
                r#"{"a":1}"#,
                "",
            ),
            (json!({"_meta": null}), "{}", ""),
        ] {
            let mut separated = Params::new(&params).expect("it can be written");
            assert_eq!(separated.text, text);
            assert_eq!(separated.take_meta(), meta);
        }
        let error = Params::new(&json!({"_meta": 1})).expect_err("it is no object");
        assert!(error.to_string().contains("`_meta`"), "{error}");
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

//! Scanner of messages, against `serde_json` on the same bytes.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use treenail_schema::internal::wire::{
    Body, Invalid, Message, ParseLimits, any_error_code, as_string, canonical, error_code,
    is_one_line, parse, parse_element, parse_with_known_meta, weight, write_error, write_json,
    write_result,
};

const LIMITS: ParseLimits = ParseLimits {
    depth: 32,
    id_bytes: 40,
    batch_messages: 4,
};

/// The input is one message.
pub(crate) fn run(data: &[u8]) {
    let body = parse(data, LIMITS);
    let Ok(text) = std::str::from_utf8(data) else {
        return assert_eq!(code(&body), Some(-32700));
    };
    let is_json = serde_json::from_str::<IgnoredAny>(text).is_ok();
    let is_refused = is_unread(&body);
    let mut is_accepted = is_json && nesting(text) <= LIMITS.depth;
    if is_accepted && is_refused {
        assert!(!keys_are_text(text), "{body:?}");
        is_accepted = false;
    }
    assert_eq!(is_refused, !is_accepted, "{body:?}");
    weight(text);
    if is_json {
        check_canonical(text);
        check_serialization(text);
    }
    match &body {
        Body::One(Err(_)) if !is_accepted => {}
        Body::One(message) => check_envelope(text, message.as_ref().ok()),
        Body::Batch(messages) => {
            let values: Vec<&RawValue> = serde_json::from_str(text).expect("an array");
            let most = LIMITS.batch_messages + 1;
            assert!(
                messages
                    .iter()
                    .copied()
                    .eq(values.iter().take(most).map(|it| it.get()))
            );
            for message in messages {
                check_envelope(message, parse_element(message, LIMITS).as_ref().ok());
            }
        }
    }
    if let Body::One(Ok(Message::Request(id, envelope))) = &body {
        check_known_meta(data, &body, envelope.params.meta);
        check_responses(id);
    }
}

/// Returns whether a text is not JSON, or is nested too deeply.
fn is_unread(body: &Body<'_>) -> bool {
    let is_too_deep = |invalid: &Invalid<'_>| invalid.error.message.contains("is nested deeper");
    code(body) == Some(-32700) || matches!(body, Body::One(Err(invalid)) if is_too_deep(invalid))
}

fn code(body: &Body<'_>) -> Option<i64> {
    match body {
        Body::One(Err(invalid)) => Some(invalid.error.code),
        _ => None,
    }
}

/// Returns the nesting of a valid text.
fn nesting(text: &str) -> u32 {
    let (mut depth, mut deepest, mut in_string, mut escaped) = (0, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_string,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => depth -= 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Returns whether each key of a valid text is Unicode: half of a surrogate pair is JSON, but may be refused.
fn keys_are_text(text: &str) -> bool {
    let text = text.trim_start();
    let values = match text.as_bytes().first() {
        Some(b'{') => serde_json::from_str::<Members<'_>>(text)
            .map(|members| members.0.into_iter().map(|(_, value)| value).collect()),
        Some(b'[') => serde_json::from_str::<Vec<&RawValue>>(text)
            .map(|elements| elements.into_iter().map(RawValue::get).collect()),
        _ => Ok(Vec::new()),
    };
    values.is_ok_and(|values| values.into_iter().all(keys_are_text))
}

fn check_canonical(text: &str) {
    let Ok(first) = canonical(text) else {
        return assert!(nesting(text) > 128, "{text}");
    };
    let json = without_last_commas(&String::from_utf8(first.clone()).expect("the form is text"));
    assert_eq!(canonical(&json), Ok(first));
    let values = [text, &json].map(serde_json::from_str::<Value>);
    if let [Ok(one), Ok(other)] = values {
        assert_eq!(one, other);
    }
}

/// Returns a canonical form as JSON: in the form, a comma follows each member.
fn without_last_commas(form: &str) -> String {
    let (mut json, mut in_string, mut escaped) = (String::new(), false, false);
    for letter in form.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = in_string,
            '"' => in_string = !in_string,
            '}' if !in_string && json.ends_with(',') => drop(json.pop()),
            _ => {}
        }
        json.push(letter);
    }
    json
}

fn check_serialization(text: &str) {
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        let mut written = Vec::new();
        write_json(&mut written, &value).expect("JSON has no other numbers");
        assert_eq!(
            String::from_utf8(written).expect("JSON is text"),
            value.to_string()
        );
    }
    let raw: &RawValue = serde_json::from_str(text).expect("the text is JSON");
    let mut written = Vec::new();
    write_json(&mut written, raw).expect("the text is JSON");
    assert!(is_one_line(&written));
    let written = String::from_utf8(written).expect("JSON is text");
    assert_eq!(canonical(&written), canonical(text));
    let string = serde_json::from_str::<String>(raw.get()).ok();
    assert_eq!(as_string(raw.get()).map(String::from), string);
}

/// Members of an object in their order, also repeated ones.
struct Members<'a>(Vec<(String, &'a str)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, &RawValue>()? {
            members.push((key, value.get()));
        }
        Ok(Members(members))
    }
}

impl Members<'_> {
    /// Returns the only member of this name, or an error if there are several.
    fn only(&self, names: &[&str]) -> Result<Option<&str>, ()> {
        let mut found = self.0.iter().filter(|(key, _)| names.contains(&&**key));
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(()),
            (found, None) => Ok(found.map(|(_, value)| *value)),
        }
    }
}

/// Compares the envelope of a valid text with that which `serde_json` finds.
fn check_envelope(text: &str, found: Option<&Message<'_>>) {
    if found.is_none() && !keys_are_text(text) {
        return;
    }
    let Ok(members) = serde_json::from_str::<Members<'_>>(text) else {
        return assert!(found.is_none(), "{found:?}");
    };
    let expected = envelope(&members);
    let found = found.map(|message| match message {
        Message::Request(id, envelope) => {
            check_params(envelope.params.text, envelope);
            format!(
                "request {id} {} {}",
                envelope.method,
                envelope.params_text()
            )
        }
        Message::Notification(envelope) => {
            check_params(envelope.params.text, envelope);
            format!(
                "notification {} {}",
                envelope.method,
                envelope.params_text()
            )
        }
        Message::Response(id, answer) => format!("response {id} {answer:?}"),
    });
    assert_eq!(found, expected.ok(), "{text}");
}

fn envelope(members: &Members<'_>) -> Result<String, ()> {
    let text = |json: &str| serde_json::from_str::<String>(json).map_err(drop);
    let answer = members.only(&["result", "error"])?;
    let version = members.only(&["jsonrpc"])?.map(text).transpose()?;
    let id = members.only(&["id"])?;
    let method = members.only(&["method"])?.map(text).transpose()?;
    let params = members.only(&["params"])?.unwrap_or("{}");
    let is_number = |id: &str| id.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    let is_id = |id: &str| id.len() <= LIMITS.id_bytes && (id.starts_with('"') || is_number(id));
    if version.as_deref() != Some("2.0") || !id.is_none_or(is_id) || !params.starts_with('{') {
        return Err(());
    }
    match (id, method, answer) {
        (Some(id), Some(method), None) => Ok(format!("request {id} {method} {params}")),
        (None, Some(method), None) => Ok(format!("notification {method} {params}")),
        (Some(id), None, Some(answer)) => {
            let is_result = members.0.iter().any(|(key, _)| key == "result");
            let answer = if is_result { Ok(answer) } else { Err(answer) };
            Ok(format!("response {id} {answer:?}"))
        }
        _ => Err(()),
    }
}

/// Compares the members of the parameters.
fn check_params(text: Option<&str>, envelope: &treenail_schema::internal::wire::Envelope<'_>) {
    let Some(Ok(members)) = text.map(serde_json::from_str::<Members<'_>>) else {
        return;
    };
    let params = &envelope.params;
    let pairs = [
        ("_meta", params.meta),
        ("name", params.name),
        ("arguments", params.arguments),
        ("cursor", params.cursor),
        ("requestId", params.request_id),
        ("inputResponses", params.input_responses),
        ("requestState", params.request_state),
    ];
    for (name, found) in pairs {
        if let Ok(expected) = members.only(&[name]) {
            assert_eq!(found, expected, "{name}");
        }
    }
}

/// A `_meta` that was checked before changes nothing.
fn check_known_meta(data: &[u8], body: &Body<'_>, meta: Option<&str>) {
    let meta = meta.filter(|meta| meta.starts_with('{'));
    for known in meta.into_iter().chain([r#"{"a":1}"#, "{}"]) {
        let again = parse_with_known_meta(data, LIMITS, known);
        assert_eq!(format!("{again:?}"), format!("{body:?}"));
    }
}

/// The code of a response is found again.
fn check_responses(id: &str) {
    let error = treenail::RpcError::new(-7, "no");
    let mut out = Vec::new();
    write_error(&mut out, Some(id), &error);
    assert_eq!(error_code(&out, id), Some(-7));
    assert_eq!(any_error_code(&out), Some(-7));
    out.clear();
    write_result(&mut out, id, |out| {
        out.extend_from_slice(br#"{"error":{"code":1}}"#);
    });
    assert_eq!((error_code(&out, id), any_error_code(&out)), (None, None));
    assert!(serde_json::from_slice::<IgnoredAny>(&out).is_ok());
}

//! The headers that repeat what a body says.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName};
use treenail_schema::error_code::HEADER_MISMATCH;

use crate::wire::{Envelope, RpcError, as_string};

pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The headers that each request of the modern era has.
#[derive(Debug)]
pub(super) struct Standard<'a> {
    version: &'a str,
    method: &'a str,
    name: Option<Cow<'a, str>>,
}

impl<'a> Standard<'a> {
    /// Reads those that a request of `method` needs.
    pub(super) fn read(headers: &'a HeaderMap, method: &str) -> Result<Self, RpcError> {
        let required = |name| {
            let value = single(headers, &name)?;
            value.ok_or_else(|| mismatch(format!("the header `{name}` is missing")))
        };
        let name = name_member(method).map(|_| required(NAME)).transpose()?;
        Ok(Self {
            version: required(PROTOCOL_VERSION)?,
            method: required(METHOD)?,
            name: name.map(|name| decode(&NAME, name)).transpose()?,
        })
    }

    /// Compares them with the body, which states `version`.
    pub(super) fn check(&self, version: &str, envelope: &Envelope<'_>) -> Result<(), RpcError> {
        equal(&PROTOCOL_VERSION, self.version, version)?;
        equal(&METHOD, self.method, &envelope.method)?;
        let Some(name) = &self.name else {
            return Ok(());
        };
        let member = match name_member(&envelope.method) {
            Some("uri") => envelope.params.member("uri")?,
            _ => envelope.params.name,
        };
        match member.and_then(as_string) {
            Some(member) => equal(&NAME, name, &member),
            None => Err(mismatch(format!(
                "the header `{NAME}` names what the body does not"
            ))),
        }
    }
}

/// Compares those of a notification, which needs none.
pub(super) fn check_notification(
    headers: &HeaderMap,
    envelope: &Envelope<'_>,
) -> Result<(), RpcError> {
    match single(headers, &METHOD)? {
        Some(method) => equal(&METHOD, method, &envelope.method),
        None => Ok(()),
    }
}

/// The member of `params` that `Mcp-Name` repeats.
fn name_member(method: &str) -> Option<&'static str> {
    match method {
        "tools/call" | "prompts/get" => Some("name"),
        "resources/read" => Some("uri"),
        _ => None,
    }
}

fn equal(name: &HeaderName, header: &str, body: &str) -> Result<(), RpcError> {
    if header == body {
        return Ok(());
    }
    Err(mismatch(format!(
        "the header `{name}` does not say what the body says"
    )))
}

/// The value of a header, without white space around it, if it is there; it must not be there twice.
pub(super) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(mismatch(format!("the header `{name}` is given twice")));
    }
    // This takes visible ASCII and tabs only.
    let value = value.to_str().map_err(|_| {
        mismatch(format!(
            "the header `{name}` has characters that are not allowed"
        ))
    })?;
    Ok(Some(value.trim_matches([' ', '\t'])))
}

/// What a value stands for, which may be written in Base64.
pub(super) fn decode<'a>(name: &HeaderName, value: &'a str) -> Result<Cow<'a, str>, RpcError> {
    let encoded = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="));
    let Some(encoded) = encoded else {
        return Ok(Cow::Borrowed(value));
    };
    let text = STANDARD
        .decode(encoded)
        .ok()
        .and_then(|bytes| String::from_utf8(bytes).ok());
    match text {
        Some(text) => Ok(Cow::Owned(text)),
        None => Err(mismatch(format!(
            "the header `{name}` is not the Base64 of a text"
        ))),
    }
}

/// The error for a header that does not fit the body.
pub(super) fn mismatch(message: String) -> RpcError {
    RpcError::new(HEADER_MISMATCH, message)
}

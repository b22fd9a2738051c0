//! Standard headers of modern requests, which must match the body.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderName};
use treenail_runtime::internal::{Envelope, as_string};
use treenail_runtime::{RpcError, Server};
use treenail_schema::error_code::HEADER_MISMATCH;

use crate::request_headers::Field;

pub(super) const PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(super) const METHOD: HeaderName = HeaderName::from_static("mcp-method");
pub(super) const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// Standard headers of a modern request.
#[derive(Debug)]
pub(super) struct StandardHeaders<'a> {
    version: &'a str,
    method: &'a str,
    name: Option<Cow<'a, str>>,
}

impl<'a> StandardHeaders<'a> {
    /// Reads the headers that a request of `method` requires, in one pass. `Mcp-Name` is required if it repeats a `member` of the
    /// parameters.
    pub(super) fn read(headers: &'a HeaderMap, member: Option<&str>) -> Result<Self, RpcError> {
        let (mut version, mut method) = (Field::default(), Field::default());
        let mut name = Field::default();
        for (key, value) in headers {
            match key.as_str() {
                "mcp-protocol-version" => version.add(value),
                "mcp-method" => method.add(value),
                "mcp-name" => name.add(value),
                _ => {}
            }
        }
        let required = |field: Field<'a>, name: &HeaderName| {
            let value = field.text(name)?;
            value.ok_or_else(|| header_mismatch(format!("the header `{name}` is missing")))
        };
        let name = member.map(|_| required(name, &NAME)).transpose()?;
        Ok(Self {
            version: required(version, &PROTOCOL_VERSION)?,
            method: required(method, &METHOD)?,
            name: name.map(|name| decode_header(&NAME, name)).transpose()?,
        })
    }

    /// Compares the headers with the body, whose protocol version is `version`.
    pub(super) fn check(
        &self,
        version: &str,
        envelope: &Envelope<'_>,
        member: Option<&str>,
    ) -> Result<(), RpcError> {
        expect_equal(&PROTOCOL_VERSION, self.version, version)?;
        expect_equal(&METHOD, self.method, &envelope.method)?;
        let Some(name) = &self.name else {
            return Ok(());
        };
        let member = match member {
            Some("name") | None => envelope.params.name,
            Some(member) => envelope.params.member(member)?,
        };
        match member.and_then(as_string) {
            Some(member) => expect_equal(&NAME, name, &member),
            None => Err(header_mismatch(format!(
                "the body has no value for the header `{NAME}`"
            ))),
        }
    }
}

/// Compares the optional headers of a notification with its body.
pub(super) fn check_notification(
    headers: &HeaderMap,
    envelope: &Envelope<'_>,
) -> Result<(), RpcError> {
    match single_header(headers, &METHOD)? {
        Some(method) => expect_equal(&METHOD, method, &envelope.method),
        None => Ok(()),
    }
}

/// Returns the member of `params` that the header `Mcp-Name` must match, for a method of `server`.
pub(super) fn name_member(server: &Server, method: &str) -> Option<Cow<'static, str>> {
    match method {
        "tools/call" | "prompts/get" => Some(Cow::Borrowed("name")),
        "resources/read" => Some(Cow::Borrowed("uri")),
        _ => Some(Cow::Owned(server.name_header(method)?.to_owned())),
    }
}

fn expect_equal(name: &HeaderName, header: &str, body: &str) -> Result<(), RpcError> {
    if header == body {
        return Ok(());
    }
    Err(header_mismatch(format!(
        "the header `{name}` does not match the body"
    )))
}

/// Returns the trimmed value of an optional header. It is an error if the header occurs twice.
pub(super) fn single_header<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, RpcError> {
    Field::find(headers, name).text(name)
}

/// Decodes a header value, which may be encoded as `=?base64?…?=`.
pub(super) fn decode_header<'a>(
    name: &HeaderName,
    value: &'a str,
) -> Result<Cow<'a, str>, RpcError> {
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
        None => Err(header_mismatch(format!(
            "the header `{name}` is not valid Base64 of UTF-8 text"
        ))),
    }
}

/// Returns the error for a header that does not match the body.
pub(super) fn header_mismatch(message: String) -> RpcError {
    RpcError::new(HEADER_MISMATCH, message)
}

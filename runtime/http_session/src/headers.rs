//! Headers of outgoing requests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{ACCEPT, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue};
use treenail_runtime::client::{ClientError, SessionRequest};
use treenail_runtime::internal::{Members, as_string};
use treenail_schema::Revision;

pub(crate) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
pub(crate) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
pub(crate) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const PARAM_PREFIX: &str = "mcp-param-";

/// Returns true for headers of the protocol, which users cannot set.
pub(crate) fn is_reserved(name: &HeaderName) -> bool {
    const RESERVED: [HeaderName; 10] = [
        ACCEPT,
        CONNECTION,
        CONTENT_LENGTH,
        CONTENT_TYPE,
        HOST,
        TRANSFER_ENCODING,
        VERSION,
        SESSION,
        LAST_EVENT,
        METHOD,
    ];
    RESERVED.contains(name) || *name == NAME || name.as_str().starts_with(PARAM_PREFIX)
}

/// Value of `MCP-Protocol-Version`.
pub(crate) fn version(revision: Revision) -> HeaderValue {
    HeaderValue::from_static(revision.as_str())
}

/// Headers of a modern request, which repeat parts of its body.
pub(crate) fn of_request(
    request: &SessionRequest,
    revision: Revision,
) -> Result<HeaderMap, ClientError> {
    let mut headers = of_notification(&request.method, revision)?;
    let name = request.name_header.clone();
    if let Some(name) = name.or_else(|| name_in(&request.method, &request.params)) {
        headers.insert(NAME, encode(&name)?);
    }
    for (name, value) in &request.headers {
        let name = HeaderName::from_bytes(format!("{PARAM_PREFIX}{name}").as_bytes());
        let name = name.map_err(|_| {
            ClientError::invalid(
                "the header name of an argument contains characters that are not allowed",
            )
        })?;
        headers.insert(name, encode(value)?);
    }
    Ok(headers)
}

/// Headers of a modern notification.
pub(crate) fn of_notification(method: &str, revision: Revision) -> Result<HeaderMap, ClientError> {
    let mut headers = HeaderMap::new();
    headers.insert(VERSION, version(revision));
    let method = HeaderValue::from_str(method);
    let method = method.map_err(|_| {
        ClientError::invalid("the method contains characters that are not allowed in a header")
    })?;
    headers.insert(METHOD, method);
    Ok(headers)
}

/// Returns the member of the parameters that `Mcp-Name` repeats, for a method of the protocol itself.
pub(crate) fn name_in(method: &str, params: &str) -> Option<String> {
    let member = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" => "uri",
        _ => return None,
    };
    let mut members = Members::new(params).ok()?;
    while let Some((key, value)) = members.next().ok()? {
        if key == member {
            return as_string(value).map(Into::into);
        }
    }
    None
}

/// Encodes a text as a header value. Text that is not visible ASCII, or that looks encoded already, is sent in Base64.
fn encode(text: &str) -> Result<HeaderValue, ClientError> {
    let visible = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let trimmed = !text.starts_with(' ') && !text.ends_with(' ');
    let looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
    let plain = visible && trimmed && !looks_encoded;
    let value = if plain {
        HeaderValue::from_str(text)
    } else {
        HeaderValue::try_from(format!("=?base64?{}?=", STANDARD.encode(text)))
    };
    value.map_err(|_| ClientError::invalid("a value cannot be sent in a header"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_encoded_where_necessary() {
        let cases = [
            ("us-west1", "us-west1"),
            ("", ""),
            ("a b", "a b"),
            (
                "file:///path/to/file%20name.txt",
                "file:///path/to/file%20name.txt",
            ),
            (" a", "=?base64?IGE=?="),
            ("a ", "=?base64?YSA=?="),
            ("a\tb", "=?base64?YQli?="),
            ("a\nb", "=?base64?YQpi?="),
            ("\u{7f}", "=?base64?fw==?="),
            ("Ø", "=?base64?w5g=?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
            ("=?base64?a", "=?base64?a"),
            ("=?BASE64?a?=", "=?BASE64?a?="),
        ];
        for (text, expected) in cases {
            assert_eq!(encode(text).unwrap(), expected, "CLI-HDR-05, CLI-HDR-06");
        }
    }

    #[test]
    fn headers_repeat_the_method_and_name_of_the_body() {
        let cases = [
            (
                "tools/call",
                r#"{"arguments":{"name":"x"},"name":"a\u0064d"}"#,
                Some("add"),
            ),
            ("prompts/get", r#"{"name":"p"}"#, Some("p")),
            ("resources/read", r#"{"name":"x","uri":"a:b"}"#, Some("a:b")),
            ("tools/list", r#"{"name":"x"}"#, None),
            ("tools/call", r#"{"name":7}"#, None),
            ("tools/call", "not an object", None),
        ];
        for (method, params, name) in cases {
            let mut request = SessionRequest::new(1, method, params.to_owned());
            request.headers = vec![("Region".to_owned(), "æ".to_owned())];
            let headers = of_request(&request, Revision::LATEST).unwrap();
            assert_eq!(headers[VERSION], "2026-07-28", "CLI-HDR-01");
            assert_eq!(headers[METHOD], method, "CLI-HDR-02");
            let got = headers.get(NAME).map(|name| name.to_str().unwrap());
            assert_eq!(got, name, "CLI-HDR-03, CLI-HDR-04: {method} {params}");
            assert_eq!(headers["mcp-param-region"], "=?base64?w6Y=?=", "CLI-HDR-07");
        }
        let mut request = SessionRequest::new(1, "tasks/cancel", "{}".to_owned());
        request.name_header = Some("7".to_owned());
        let headers = of_request(&request, Revision::LATEST).unwrap();
        assert_eq!(headers[NAME], "7", "TASK-S-28");
        let mut request = SessionRequest::new(1, "tools/call", "{}".to_owned());
        request.headers = vec![("a b".to_owned(), String::new())];
        let refused = of_request(&request, Revision::LATEST);
        assert!(matches!(refused, Err(ClientError::Invalid(_))));
    }
}

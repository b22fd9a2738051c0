//! Headers of all requests.

use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST,
    PROXY_AUTHORIZATION, TRANSFER_ENCODING, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue};
use treenail_schema::internal::quoted;

use super::key::{ApiKey, MIN_SECRET_LEN};
use crate::ModelError;

/// Redacts the values of sensitive headers in a text, and the credentials after the scheme of those that have one.
pub(super) fn redact_secrets(mut text: String, headers: &HeaderMap) -> String {
    let mut secrets: Vec<&str> = Vec::new();
    for (name, value) in headers.iter().filter(|(_, value)| value.is_sensitive()) {
        let Ok(value) = value.to_str() else { continue };
        let value = value.trim();
        secrets.push(value);
        if name == AUTHORIZATION || name == PROXY_AUTHORIZATION {
            let credentials = value.split_once(' ').map(|(_, credentials)| credentials);
            secrets.extend(credentials.map(str::trim));
        }
    }
    secrets.retain(|secret| secret.len() >= MIN_SECRET_LEN);
    // A secret may contain another one.
    secrets.sort_unstable_by_key(|secret| std::cmp::Reverse(secret.len()));
    for secret in secrets {
        text = text.replace(secret, "[secret]");
    }
    text
}

/// Combines the headers set by the user, the key, and the fixed ones.
pub(super) fn headers(
    extra: &[(String, String)],
    key: Option<&ApiKey>,
) -> Result<HeaderMap, ModelError> {
    const RESERVED: [HeaderName; 7] = [
        ACCEPT,
        ACCEPT_ENCODING,
        CONNECTION,
        CONTENT_LENGTH,
        CONTENT_TYPE,
        HOST,
        TRANSFER_ENCODING,
    ];

    let mut headers = HeaderMap::new();
    for (text, value) in extra {
        let invalid =
            |what: &str| ModelError::misconfigured(format!("the header {} {what}", quoted(text)));
        let name: HeaderName = text.parse().map_err(|_| invalid("has an invalid name"))?;
        if RESERVED.contains(&name) {
            return Err(invalid("is set by the client"));
        }
        if name == AUTHORIZATION && key.is_some() {
            return Err(invalid("is already set by the key"));
        }
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|_| invalid("has an invalid value"))?;
        value.set_sensitive(true);
        headers.append(name, value);
    }
    if let Some(key) = key {
        headers.insert(AUTHORIZATION, key.authorization()?);
    }
    let this = concat!("treenail/", env!("CARGO_PKG_VERSION"));
    headers
        .entry(USER_AGENT)
        .or_insert(HeaderValue::from_static(this));
    headers.insert(
        ACCEPT,
        HeaderValue::from_static("text/event-stream, application/json"),
    );
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(headers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_secrets_are_redacted_completely() {
        let extra = [
            ("Authorization", "Basic dXNlcg=="),
            ("x-long", "abcdefgh"),
            ("x-short", "cdef"),
            ("x-version", "1"),
        ];
        let extra = extra.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let headers = headers(&extra, None).unwrap();
        let text = "1: abcdefgh, cdef; Basic dXNlcg== or dXNlcg==, application/json";
        assert_eq!(
            redact_secrets(text.to_owned(), &headers),
            "1: [secret], [secret]; [secret] or [secret], application/json"
        );
    }
}

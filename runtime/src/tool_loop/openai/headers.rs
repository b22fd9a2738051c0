//! The headers of all requests.

use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HOST,
    TRANSFER_ENCODING, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use super::key::ApiKey;
use crate::tool_loop::ModelError;
use crate::wire::quoted;

/// Those that the user has given, the key, and what the request itself says.
pub(super) fn headers(
    given: &[(String, String)],
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
    for (text, value) in given {
        let invalid =
            |what: &str| ModelError::not_set_up(format!("the header {} {what}", quoted(text)));
        let name: HeaderName = text.parse().map_err(|_| invalid("has no valid name"))?;
        if RESERVED.contains(&name) {
            return Err(invalid("is set by the request itself"));
        }
        if name == AUTHORIZATION && key.is_some() {
            return Err(invalid("is that of the key"));
        }
        let value = HeaderValue::from_str(value);
        let mut value = value.map_err(|_| invalid("has a value that cannot be sent"))?;
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

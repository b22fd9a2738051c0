//! Checks of request headers: their size, and the media types of request and response.

use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::response::Rejection;

/// Rejects headers with a total size of more than `max_bytes`.
pub(super) fn check_size(headers: &HeaderMap, max_bytes: usize) -> Result<(), Rejection> {
    let length = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    if headers.iter().map(length).sum::<usize>() > max_bytes {
        let message = "the headers exceed the maximum size";
        return Err(Rejection::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            message,
        ));
    }
    Ok(())
}

/// Rejects bodies that are not declared as JSON, or are compressed. A layer that decompresses bodies removes that header.
pub(super) fn check_content(headers: &HeaderMap) -> Result<(), Rejection> {
    let is_plain = |encoding: &HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.contains_key(CONTENT_ENCODING)
        && !headers.get_all(CONTENT_ENCODING).iter().all(is_plain)
    {
        let message = "`Content-Encoding` is not supported";
        return Err(Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    if is_json(headers) {
        return Ok(());
    }
    let message = "`Content-Type` is not application/json";
    Err(Rejection::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message))
}

/// Rejects clients that do not accept all of these media types. Without `Accept`, they accept all.
pub(super) fn check_accept(headers: &HeaderMap, wanted: &[&str]) -> Result<(), Rejection> {
    // The value that the official clients send.
    let is_usual = |value: &HeaderValue| value == "application/json, text/event-stream";
    if headers.get(ACCEPT).is_none_or(is_usual)
        || wanted.iter().all(|wanted| accepts(headers, wanted))
    {
        return Ok(());
    }
    let message = "`Accept` does not include application/json or text/event-stream";
    Err(Rejection::new(StatusCode::NOT_ACCEPTABLE, message))
}

/// Returns true if the body is declared as JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let content = headers.get(CONTENT_TYPE);
    if content.is_some_and(|content| content == "application/json") {
        return true;
    }
    let content = content.map(|content| content.to_str());
    content.is_some_and(|content| {
        content.is_ok_and(|content| media_type(content) == Some("application/json"))
    })
}

/// Returns the media type of a header value in lower case, without parameters, if it is a known one.
fn media_type(value: &str) -> Option<&'static str> {
    const KNOWN: [&str; 5] = [
        "application/json",
        "text/event-stream",
        "application/*",
        "text/*",
        "*/*",
    ];
    let name = value.split(';').next().unwrap_or_default().trim();
    KNOWN
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
}

/// Returns true if the client accepts responses of this media type.
fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let values = headers.get_all(ACCEPT).iter();
    let (kind, _) = wanted.split_once('/').unwrap_or((wanted, ""));
    let mut values = values.filter_map(|value| value.to_str().ok());
    values.any(|value| {
        value.split(',').filter_map(media_type).any(|media_type| {
            media_type == wanted
                || media_type == "*/*"
                || media_type.strip_suffix("/*") == Some(kind)
        })
    })
}

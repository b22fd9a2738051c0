//! Checks of request headers: their size, and the media types of request and response.

use http::header::{ACCEPT, CONTENT_ENCODING};
use http::{HeaderValue, StatusCode};

use crate::request_headers::RequestHeaders;
use crate::response::Rejection;

/// Reason why the body of a request is not read.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unsupported {
    ContentEncoding,
    ContentType,
    Accept,
}

impl From<Unsupported> for Rejection {
    fn from(reason: Unsupported) -> Self {
        let (status, message) = match reason {
            Unsupported::ContentEncoding => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "`Content-Encoding` is not supported",
            ),
            Unsupported::ContentType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "`Content-Type` is not application/json",
            ),
            Unsupported::Accept => (
                StatusCode::NOT_ACCEPTABLE,
                "`Accept` does not include application/json or text/event-stream",
            ),
        };
        Self::new(status, message)
    }
}

/// Rejects headers with a total size of more than `max_bytes`.
pub(super) fn check_size(headers: &RequestHeaders<'_>, max_bytes: usize) -> Result<(), Rejection> {
    if headers.bytes > max_bytes {
        let message = "the headers exceed the maximum size";
        return Err(Rejection::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            message,
        ));
    }
    Ok(())
}

/// Rejects bodies that are not declared as JSON, or are compressed. A layer that decompresses bodies removes that header.
pub(super) fn check_content(headers: &RequestHeaders<'_>) -> Result<(), Unsupported> {
    let is_plain = |encoding: &HeaderValue| encoding.as_bytes().eq_ignore_ascii_case(b"identity");
    if headers.content_encoding.is_present()
        && !headers.all.get_all(CONTENT_ENCODING).iter().all(is_plain)
    {
        return Err(Unsupported::ContentEncoding);
    }
    match headers.content_type.value {
        Some(content) if is_json(content) => Ok(()),
        _ => Err(Unsupported::ContentType),
    }
}

/// Rejects clients that do not accept all of these media types. Without `Accept`, they accept all.
pub(super) fn check_accept(
    headers: &RequestHeaders<'_>,
    wanted: &[&str],
) -> Result<(), Unsupported> {
    // The value that the official clients send.
    let is_usual = |value: &HeaderValue| value == "application/json, text/event-stream";
    if headers.accept.value.is_none_or(is_usual)
        || wanted.iter().all(|wanted| accepts(headers, wanted))
    {
        return Ok(());
    }
    Err(Unsupported::Accept)
}

fn is_json(content: &HeaderValue) -> bool {
    content == "application/json"
        || content
            .to_str()
            .is_ok_and(|content| media_type(content) == Some("application/json"))
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
fn accepts(headers: &RequestHeaders<'_>, wanted: &str) -> bool {
    let values = headers.all.get_all(ACCEPT).iter();
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

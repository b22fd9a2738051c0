//! Requirements of HTTP on the headers of a request: their size, and the media types of what comes and goes.

use http::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::transport::http::reply::Refusal;

/// Refuses headers that are longer together than they may be.
pub(super) fn check_size(headers: &HeaderMap, most: usize) -> Result<(), Refusal> {
    let length = |(name, value): (&HeaderName, &HeaderValue)| name.as_str().len() + value.len();
    if headers.iter().map(length).sum::<usize>() > most {
        let why = "the headers are longer than they may be";
        return Err(Refusal::new(
            StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
            why,
        ));
    }
    Ok(())
}

/// Refuses bodies that do not say that they are JSON, or are compressed: a layer that unpacks them takes that header away.
pub(super) fn check_content(headers: &HeaderMap) -> Result<(), Refusal> {
    let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
    if !encodings.all(|encoding| encoding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let why = "bodies with a `Content-Encoding` are not taken";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    if is_json(headers) {
        return Ok(());
    }
    let why = "`Content-Type` is not application/json";
    Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, why))
}

/// Refuses who cannot take all of these types.
pub(super) fn check_accept(headers: &HeaderMap, wanted: &[&str]) -> Result<(), Refusal> {
    if wanted.iter().all(|wanted| accepts(headers, wanted)) {
        return Ok(());
    }
    let why = "`Accept` lacks application/json or text/event-stream";
    Err(Refusal::new(StatusCode::NOT_ACCEPTABLE, why))
}

/// Whether the body says that it is JSON.
fn is_json(headers: &HeaderMap) -> bool {
    let content = headers.get(CONTENT_TYPE);
    if content.is_some_and(|content| content == "application/json") {
        return true;
    }
    let content = content.map(|content| content.to_str());
    content.is_some_and(|content| {
        content.is_ok_and(|content| media(content) == Some("application/json"))
    })
}

/// The media type of a value, without its parameters. (All types that matter here are compared in lower case.)
fn media(value: &str) -> Option<&'static str> {
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

/// Whether an answer of this type can be taken. Who does not say takes all.
fn accepts(headers: &HeaderMap, wanted: &str) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    match values.peek() {
        None => return true,
        // What the official clients send.
        Some(value) if *value == "application/json, text/event-stream" => return true,
        Some(_) => {}
    }
    let (kind, _) = wanted.split_once('/').unwrap_or((wanted, ""));
    values.filter_map(|value| value.to_str().ok()).any(|value| {
        value.split(',').filter_map(media).any(|media| {
            media == wanted || media == "*/*" || media.strip_suffix("/*") == Some(kind)
        })
    })
}

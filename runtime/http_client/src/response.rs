//! Status and headers of responses.

use std::time::{Duration, SystemTime};

use http::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};

use crate::url::without_user;

/// Media type of a body, in lower case and without parameters.
pub fn media_type(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_TYPE)?;
    let text = String::from_utf8_lossy(value.as_bytes());
    let kind = text.split(';').next().unwrap_or_default();
    Some(kind.trim().to_ascii_lowercase())
}

/// Returns true if a body is compressed, although no request accepts compression.
pub fn is_compressed(headers: &HeaderMap) -> bool {
    let encoding = headers.get(CONTENT_ENCODING);
    encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

/// Value of the header `Location`.
pub fn location(headers: &HeaderMap) -> Option<&[u8]> {
    headers.get(LOCATION).map(HeaderValue::as_bytes)
}

/// Describes the target of a redirect, without its user name and its query, which may contain secrets.
pub fn describe_redirect(headers: &HeaderMap) -> String {
    let target = headers
        .get(LOCATION)
        .and_then(|target| target.to_str().ok());
    let target = target.and_then(|target| target.parse::<Uri>().ok());
    let Some(target) = target else {
        return "a redirect to no URL, which is not followed".to_owned();
    };
    let origin = match (target.scheme_str(), target.authority()) {
        (Some(scheme), Some(authority)) => format!("{scheme}://{}", without_user(authority)),
        // A relative path without a slash.
        (None, Some(authority)) => without_user(authority).to_owned(),
        _ => String::new(),
    };
    let path = target.path();
    format!("a redirect to {origin}{path}, which is not followed")
}

/// Returns the delay of the header `Retry-After`, which is a number of seconds, perhaps with a fraction, or a date.
pub fn retry_after(headers: &HeaderMap, now: SystemTime) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let then = httpdate::parse_http_date(text).ok()?;
    Some(then.duration_since(now).unwrap_or_default())
}

/// Returns the time after which the server closes an idle connection: the parameter `timeout` of the header `Keep-Alive`, in
/// seconds.
pub(crate) fn keep_alive_timeout(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get("keep-alive")?.to_str().ok()?;
    let parameters = text.split(',').filter_map(|one| one.split_once('='));
    let mut timeouts = parameters.filter(|(name, _)| name.trim().eq_ignore_ascii_case("timeout"));
    let (_, seconds) = timeouts.next()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

/// Returns true for a status that asks for other credentials.
pub fn is_unauthorized(status: StatusCode) -> bool {
    matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

/// Returns true for a status with which a retry may succeed.
pub fn is_transient(status: StatusCode) -> bool {
    status.is_server_error()
        || matches!(
            status,
            StatusCode::REQUEST_TIMEOUT
                | StatusCode::CONFLICT
                | StatusCode::TOO_EARLY
                | StatusCode::TOO_MANY_REQUESTS
        )
}

//! Failures of one attempt, and their classification.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::{HeaderMap, StatusCode};
use serde_json::Value;
use treenail_http_client::response::is_transient;
use treenail_runtime::internal::jitter;

use super::Endpoint;
use super::headers::redact_secrets;
use super::limits::OpenAiLimits;
use super::retry;
use crate::ModelError;

/// Maximum number of characters passed on from an error message of an endpoint.
const MAX_REASON_CHARS: usize = 500;

/// Error code for an account without credit.
const INSUFFICIENT_QUOTA: &str = "insufficient_quota";

/// Failure of an attempt.
#[derive(Debug)]
pub(super) struct Failure {
    kind: FailureKind,
    reason: String,
    /// Delay that the endpoint requested.
    retry_after: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FailureKind {
    /// A retry may succeed.
    Transient,
    Refused,
    InvalidResponse,
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.reason)
    }
}

impl Failure {
    pub(super) fn transient(reason: impl Into<String>) -> Self {
        Self::new(FailureKind::Transient, reason)
    }

    pub(super) fn invalid_response(reason: impl Into<String>) -> Self {
        Self::new(FailureKind::InvalidResponse, reason)
    }

    fn new(kind: FailureKind, reason: impl Into<String>) -> Self {
        Self {
            kind,
            reason: reason.into(),
            retry_after: None,
        }
    }

    /// A redirect, which is not followed.
    pub(super) fn redirected(reason: String) -> Self {
        Self::new(FailureKind::Refused, reason)
    }

    /// A response with an error status.
    pub(super) fn from_status(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Self {
        let details = ErrorDetails::read(body);
        let may_pass = match headers
            .get("x-should-retry")
            .map(http::HeaderValue::as_bytes)
        {
            Some(b"true") => true,
            Some(b"false") => false,
            // An account without credit gets the status of a rate limit.
            _ => is_transient(status) && !details.codes().any(|name| name == INSUFFICIENT_QUOTA),
        };
        let kind = if may_pass {
            FailureKind::Transient
        } else {
            FailureKind::Refused
        };
        let mut reason = format!("HTTP status {}", status.as_u16());
        if !details.message.is_empty() {
            reason = format!("{reason}: {}", details.message);
        }
        Self {
            kind,
            reason,
            retry_after: retry::requested_delay(headers, SystemTime::now()),
        }
    }

    /// An error within a stream.
    pub(super) fn from_stream_error(error: &str) -> Self {
        let details = ErrorDetails::from_value(serde_json::from_str(error).unwrap_or_default());
        let kind = if details.codes().any(is_permanent) {
            FailureKind::Refused
        } else {
            FailureKind::Transient
        };
        let message = if details.message.is_empty() {
            "no details given"
        } else {
            &details.message
        };
        Self::new(kind, format!("an error in the stream: {message}"))
    }

    /// Removes the key and secret header values from the reason, and truncates it.
    pub(super) fn redacted(mut self, endpoint: &Endpoint) -> Self {
        if let Some(key) = &endpoint.key {
            self.reason = key.redact(&self.reason);
        }
        self.reason = redact_secrets(self.reason, &endpoint.headers);
        let mut reason = String::new();
        let mut characters = self.reason.chars();
        for character in characters.by_ref().take(MAX_REASON_CHARS) {
            match character {
                '\n' | '\t' => reason.push(' '),
                control if control.is_control() => reason.extend(control.escape_default()),
                other => reason.push(other),
            }
        }
        if characters.next().is_some() {
            reason.push('…');
        }
        self.reason = reason;
        self
    }

    /// Returns the delay before the next attempt, if one is worthwhile.
    pub(super) fn retry_delay(&self, failures: u32, limits: &OpenAiLimits) -> Option<Duration> {
        (self.kind == FailureKind::Transient)
            .then(|| retry::retry_delay(failures, self.retry_after, jitter(), limits))
            .flatten()
    }

    pub(super) fn into_error(self) -> ModelError {
        let reason = Arc::from(self.reason);
        match self.kind {
            FailureKind::Transient => ModelError::Unavailable {
                reason,
                retry_after: self.retry_after,
            },
            FailureKind::Refused => ModelError::Refused(reason),
            FailureKind::InvalidResponse => ModelError::InvalidResponse(reason),
        }
    }
}

/// Returns true if an error code in a stream makes a retry pointless.
fn is_permanent(name: &str) -> bool {
    let status = name.parse().map(StatusCode::from_u16);
    name.starts_with("invalid")
        || matches!(name, INSUFFICIENT_QUOTA | "context_length_exceeded")
        || matches!(status, Ok(Ok(status)) if !is_transient(status))
}

/// Error details from an endpoint.
#[derive(Debug, Default, PartialEq, Eq)]
struct ErrorDetails {
    message: String,
    code: Option<String>,
    /// `type` member, which may be more or less specific than the code.
    kind: Option<String>,
}

impl ErrorDetails {
    /// Returns the codes that identify the error.
    fn codes(&self) -> impl Iterator<Item = &str> {
        self.code.as_deref().into_iter().chain(self.kind.as_deref())
    }

    fn read(body: &[u8]) -> Self {
        let Ok(Value::Object(mut body)) = serde_json::from_slice(body) else {
            let text = String::from_utf8_lossy(body);
            let text = text.trim();
            // HTML pages are for browsers.
            let message = if text.starts_with('<') { "" } else { text };
            return Self {
                message: message.to_owned(),
                ..Self::default()
            };
        };
        match body.remove("error") {
            Some(error) if !error.is_null() => Self::from_value(error),
            _ => Self::from_value(Value::Object(body)),
        }
    }

    /// Endpoints use different members for the message.
    fn from_value(error: Value) -> Self {
        let member = |name: &str| match error.get(name) {
            Some(Value::String(text)) if !text.is_empty() => Some(text.clone()),
            Some(Value::Number(number)) => Some(number.to_string()),
            _ => None,
        };
        let message = member("message").or_else(|| member("detail"));
        Self {
            code: member("code"),
            kind: member("type"),
            message: message.unwrap_or_else(|| match error {
                Value::String(text) => text,
                Value::Null => String::new(),
                other => other.to_string(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_bodies_of_many_formats_are_parsed() {
        let cases: [(&str, &str, &[&str]); 11] = [
            (
                r#"{"error": {"message": "no", "type": "t", "code": "c"}}"#,
                "no",
                &["c", "t"],
            ),
            (
                r#"{"error": {"message": "no", "type": "t", "code": null}}"#,
                "no",
                &["t"],
            ),
            (
                r#"{"error": {"message": "no", "code": 502}}"#,
                "no",
                &["502"],
            ),
            (r#"{"error": "no"}"#, "no", &[]),
            (r#"{"message": "no", "error": null}"#, "no", &[]),
            (r#"{"detail": "no"}"#, "no", &[]),
            (r#"{"detail": [1]}"#, r#"{"detail":[1]}"#, &[]),
            (" no\n", "no", &[]),
            ("[1]", "[1]", &[]),
            ("<html>no</html>", "", &[]),
            ("", "", &[]),
        ];
        for (body, message, expected_codes) in cases {
            let details = ErrorDetails::read(body.as_bytes());
            let codes: Vec<_> = details.codes().collect();
            assert_eq!(
                (&*details.message, &*codes),
                (message, expected_codes),
                "{body}"
            );
        }
    }

    #[test]
    fn statuses_determine_whether_a_retry_is_worthwhile() {
        let quota = r#"{"error": {"message": "pay", "code": "insufficient_quota"}}"#;
        let kind = r#"{"error": {"message": "pay", "type": "insufficient_quota", "code": "x"}}"#;
        let cases = [
            (400, "", "", FailureKind::Refused),
            (401, "", "", FailureKind::Refused),
            (404, "", "", FailureKind::Refused),
            (408, "", "", FailureKind::Transient),
            (409, "", "", FailureKind::Transient),
            (429, "", "", FailureKind::Transient),
            (429, quota, "", FailureKind::Refused),
            (429, kind, "", FailureKind::Refused),
            (500, "", "", FailureKind::Transient),
            (503, "", "", FailureKind::Transient),
            (503, "", "false", FailureKind::Refused),
            (400, "", "true", FailureKind::Transient),
        ];
        for (status, body, should_retry, expected) in cases {
            let mut headers = HeaderMap::new();
            if !should_retry.is_empty() {
                headers.insert("x-should-retry", should_retry.parse().unwrap());
            }
            let status = StatusCode::from_u16(status).unwrap();
            let failure = Failure::from_status(status, &headers, body.as_bytes());
            assert_eq!(failure.kind, expected, "{status} {body} {should_retry}");
        }
    }

    #[test]
    fn errors_in_streams_are_classified() {
        let cases = [
            (
                r#"{"message": "a", "type": "server_error"}"#,
                FailureKind::Transient,
                "a",
            ),
            (
                r#"{"message": "a", "code": 503}"#,
                FailureKind::Transient,
                "a",
            ),
            (
                r#"{"message": "a", "code": 400}"#,
                FailureKind::Refused,
                "a",
            ),
            (
                r#"{"message": "a", "type": "invalid_request_error"}"#,
                FailureKind::Refused,
                "a",
            ),
            (
                r#"{"message": "a", "type": "invalid_request_error", "code": "context_length_exceeded"}"#,
                FailureKind::Refused,
                "a",
            ),
            (
                r#"{"message": "a", "type": "invalid_request_error", "code": "too_long"}"#,
                FailureKind::Refused,
                "a",
            ),
            (
                r#"{"message": "a", "type": "error", "code": "context_length_exceeded"}"#,
                FailureKind::Refused,
                "a",
            ),
            (
                r#"{"message": "a", "type": "insufficient_quota", "code": "billing"}"#,
                FailureKind::Refused,
                "a",
            ),
            (
                r#"{"message": "a", "type": "invalid_request_error", "code": 503}"#,
                FailureKind::Refused,
                "a",
            ),
            (r#""overloaded""#, FailureKind::Transient, "overloaded"),
        ];
        for (error, kind, message) in cases {
            let failure = Failure::from_stream_error(error);
            let reason = format!("an error in the stream: {message}");
            assert_eq!((failure.kind, failure.reason), (kind, reason), "{error}");
        }
    }
}

//! Failures of one attempt, and their classification.

mod details;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use http::{HeaderMap, StatusCode};
use treenail_http_client::response::is_transient;
use treenail_runtime::internal::jitter;
use treenail_schema::internal::is_invisible;

use self::details::ErrorDetails;
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
                hidden if is_invisible(hidden) => reason.extend(hidden.escape_default()),
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

//! Tests of the classification of failures.

use http::{HeaderMap, StatusCode};

use super::{Failure, FailureKind};

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

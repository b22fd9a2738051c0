//! Error responses of an authorization server (RFC 6749, section 5.2).

use http::StatusCode;
use serde_json::{Map, Value};
use treenail_schema::internal::is_invisible;

use crate::AuthError;
use crate::fetch::FetchResponse;

/// Maximum length of a text that is shown, in bytes.
const MAX: usize = 1024;

/// Returns the error that a response describes. Bodies of another form are not shown.
pub(crate) fn read(endpoint: &str, reply: &FetchResponse) -> AuthError {
    let body = reply.json().ok();
    if reply.is_temporary() {
        return outage(endpoint, reply.status, body.as_ref());
    }
    from_body(endpoint, reply.status, body.as_ref())
}

/// Returns the error of a temporary status. An error code in the body does not make it a refusal.
fn outage(endpoint: &str, status: StatusCode, body: Option<&Map<String, Value>>) -> AuthError {
    let code = text(body, "error").map(|code| format!(" ({})", shown(code)));
    let (status, code) = (status.as_u16(), code.unwrap_or_default());
    let reason = format!("{endpoint} answered with HTTP status {status}{code}");
    AuthError::Unavailable(reason.into())
}

fn from_body(endpoint: &str, status: StatusCode, body: Option<&Map<String, Value>>) -> AuthError {
    let Some(code) = text(body, "error") else {
        let status = status.as_u16();
        let reason = format!("HTTP status {status}, without an error object of OAuth");
        return AuthError::document(endpoint, reason);
    };
    refusal(code, text(body, "error_description"))
}

fn text<'a>(body: Option<&'a Map<String, Value>>, name: &str) -> Option<&'a str> {
    body?.get(name)?.as_str()
}

/// Returns the error of a refusal, with texts of the peer cut and escaped.
pub(crate) fn refusal(code: &str, description: Option<&str>) -> AuthError {
    let description = description.filter(|text| !text.is_empty());
    AuthError::Refused {
        code: shown(code).into(),
        description: description.map(|text| shown(text).into()),
    }
}

/// Returns a text without invisible characters, at most 1 KiB long.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        if is_invisible(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
        if shown.len() > MAX {
            let end = (0..=MAX).rev().find(|end| shown.is_char_boundary(*end));
            shown.truncate(end.unwrap_or(0));
            break;
        }
    }
    shown
}

#[cfg(feature = "oauth")]
/// Returns true if an error is a refusal with this code.
pub(crate) fn is_refusal(error: &AuthError, expected: &str) -> bool {
    matches!(error, AuthError::Refused { code, .. } if &**code == expected)
}

#[cfg(test)]
mod tests {
    use http::HeaderMap;

    use super::*;

    #[test]
    fn error_objects_are_typed_and_other_bodies_hidden() {
        let shown = |body: &str| {
            let body = serde_json::from_str(body).ok();
            from_body("token endpoint", StatusCode::BAD_REQUEST, body.as_ref()).to_string()
        };
        assert_eq!(
            shown(r#"{"error":"invalid_grant","error_description":null}"#),
            "the authorization server refused: invalid_grant"
        );
        assert_eq!(
            shown(r#"{"error":"invalid_client","error_description":"a\u001b[31m"}"#),
            "the authorization server refused: invalid_client: a\\u{1b}[31m"
        );
        assert_eq!(
            shown(r#"{"error":"a\u2060b","error_description":"\u202ec\udb40\udc41"}"#),
            "the authorization server refused: a\\u{2060}b: \\u{202e}c\\u{e0041}"
        );
        assert!(!shown("canary").contains("canary"));
        assert!(!shown(r#"{"message":"canary"}"#).contains("canary"));
        let long = format!(r#"{{"error":"{}"}}"#, "ä".repeat(5000));
        assert!(shown(&long).len() < 1100);
    }

    #[test]
    fn a_temporary_status_is_no_refusal() {
        let reply = |status: u16, body: &str| {
            let status = StatusCode::from_u16(status).unwrap();
            FetchResponse::new(status, HeaderMap::new(), body.into())
        };
        let body = r#"{"error":"slow_down\u001b"}"#;
        for (status, is_temporary) in [(503, true), (500, true), (429, true), (400, false)] {
            let error = read("token endpoint", &reply(status, body));
            let is_unavailable = matches!(error, AuthError::Unavailable(_));
            assert_eq!(is_unavailable, is_temporary, "AUTH-C-117: {status}");
            assert!(error.to_string().contains("slow_down\\u{1b}"), "{error}");
        }
        let error = read("token endpoint", &reply(503, "canary")).to_string();
        assert!(error.ends_with("HTTP status 503"), "{error}");
    }
}

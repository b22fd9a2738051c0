//! Error responses of an authorization server (RFC 6749, section 5.2).

use serde::Deserialize;

use crate::AuthError;

/// Maximum length of a text that is shown, in bytes.
const MAX: usize = 1024;

#[derive(Deserialize)]
struct ErrorBody {
    error: String,
    #[serde(default)]
    error_description: Option<serde_json::Value>,
}

/// Returns the error that a body describes. Bodies of another form are not shown.
pub(crate) fn read(endpoint: &str, status: u16, body: &[u8]) -> AuthError {
    match serde_json::from_slice::<ErrorBody>(body) {
        Ok(body) => {
            let description = body.error_description.as_ref();
            refusal(&body.error, description.and_then(|text| text.as_str()))
        }
        Err(_) if status >= 500 || matches!(status, 408 | 425 | 429) => {
            AuthError::Unavailable(format!("{endpoint} answered with HTTP status {status}").into())
        }
        Err(_) => {
            let reason = format!("HTTP status {status}, without an error object of OAuth");
            AuthError::document(endpoint, reason)
        }
    }
}

/// Returns the error of a refusal, with texts of the peer cut and escaped.
pub(crate) fn refusal(code: &str, description: Option<&str>) -> AuthError {
    let description = description.filter(|text| !text.is_empty());
    AuthError::Refused {
        code: shown(code).into(),
        description: description.map(|text| shown(text).into()),
    }
}

/// Returns a text without control characters, at most 1 KiB long.
fn shown(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars() {
        let escaped = character.is_control()
            || matches!(character, '\u{200b}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
        if escaped {
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

/// Returns true if an error is a refusal with this code.
pub(crate) fn is_refusal(error: &AuthError, expected: &str) -> bool {
    matches!(error, AuthError::Refused { code, .. } if &**code == expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_objects_are_typed_and_other_bodies_hidden() {
        let shown =
            |status, body: &str| read("token endpoint", status, body.as_bytes()).to_string();
        assert_eq!(
            shown(400, r#"{"error":"invalid_grant","error_description":null}"#),
            "the authorization server refused: invalid_grant"
        );
        assert_eq!(
            shown(
                401,
                r#"{"error":"invalid_client","error_description":"a\u001b[31m"}"#
            ),
            "the authorization server refused: invalid_client: a\\u{1b}[31m"
        );
        assert!(!shown(400, "canary").contains("canary"));
        assert!(matches!(
            read("x", 503, b"canary"),
            AuthError::Unavailable(_)
        ));
        let long = format!(r#"{{"error":"{}"}}"#, "ä".repeat(5000));
        assert!(shown(400, &long).len() < 1100);
    }
}

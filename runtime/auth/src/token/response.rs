//! Token response (RFC 6749, section 5.1).

use std::time::Duration;

use http::StatusCode;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::error;
#[cfg(feature = "oauth")]
use crate::client::store::TokenType;
use crate::fetch::FetchResponse;
use crate::{AuthError, Scopes, Secret};

/// Maximum length of a token, in bytes.
const MAX_TOKEN: usize = 16 * 1024;
/// Longest lifetime that is believed.
const MAX_LIFETIME: Duration = Duration::from_secs(10 * 365 * 24 * 3600);

/// Successful response of a token endpoint, its tokens checked.
#[derive(Debug)]
pub(crate) struct TokenResponse {
    pub(crate) access_token: Secret,
    /// `token_type` as written: `Bearer`, `DPoP`, or `N_A` of a token exchange.
    pub(crate) token_type: String,
    /// `issued_token_type` of a token exchange.
    pub(crate) issued_token_type: Option<String>,
    /// `None` if the response does not tell, or if the value is not positive: the token is then used until it is refused.
    pub(crate) lifetime: Option<Duration>,
    #[cfg_attr(
        not(feature = "oauth"),
        allow(dead_code, reason = "a server has no use for it")
    )]
    pub(crate) refresh_token: Option<Secret>,
    /// The granted scopes; `None` if they are those that were asked for.
    pub(crate) scopes: Option<Scopes>,
}

#[derive(Deserialize)]
struct Body {
    access_token: Option<Token>,
    token_type: Option<String>,
    issued_token_type: Option<String>,
    expires_in: Option<Value>,
    refresh_token: Option<Token>,
    scope: Option<String>,
}

/// Text that is overwritten when the body is dropped.
struct Token(Secret);

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into()))
    }
}

impl TokenResponse {
    /// Reads the response of a token endpoint.
    pub(crate) fn read(endpoint: &str, reply: &FetchResponse) -> Result<Self, AuthError> {
        if reply.status != StatusCode::OK {
            return Err(error::read(endpoint, reply));
        }
        let body = reply.json();
        let body = body.map_err(|reason| AuthError::document(endpoint, reason))?;
        Self::from_body(endpoint, body)
    }

    fn from_body(endpoint: &str, body: Map<String, Value>) -> Result<Self, AuthError> {
        let refuse = |reason: &str| AuthError::document(endpoint, reason);
        // Messages of serde may contain values.
        let body: Option<Body> = serde_json::from_value(Value::Object(body)).ok();
        let body = body.ok_or_else(|| refuse("the response is not a token response"))?;
        let missing = || refuse("`access_token` is missing in the response");
        let access_token = check_token("access_token", body.access_token.ok_or_else(missing)?);
        let refresh_token = body
            .refresh_token
            .filter(|token| !token.0.expose().is_empty());
        let refresh_token = refresh_token.map(|token| check_token("refresh_token", token));
        let scopes = match body.scope.as_deref() {
            None => None,
            // A record may have as many scopes as the client has asked for.
            Some(scope) => {
                Some(Scopes::from_record(scope).ok_or_else(|| refuse("`scope` is invalid"))?)
            }
        };
        Ok(Self {
            access_token: access_token.map_err(|reason| refuse(&reason))?,
            token_type: body
                .token_type
                .ok_or_else(|| refuse("`token_type` is missing in the response"))?,
            issued_token_type: body.issued_token_type,
            lifetime: body.expires_in.as_ref().and_then(lifetime),
            refresh_token: refresh_token
                .transpose()
                .map_err(|reason| refuse(&reason))?,
            scopes,
        })
    }

    #[cfg(feature = "oauth")]
    /// Returns the type of an access token.
    ///
    /// # Errors
    ///
    /// [`AuthError::Document`] for a type that cannot be used at an MCP server.
    pub(crate) fn access_token_type(&self) -> Result<TokenType, AuthError> {
        if self.token_type.eq_ignore_ascii_case("bearer") {
            Ok(TokenType::Bearer)
        } else if self.token_type.eq_ignore_ascii_case("dpop") {
            Ok(TokenType::Dpop)
        } else {
            let reason = "`token_type` must be `Bearer` or `DPoP`";
            Err(AuthError::document("token response", reason))
        }
    }
}

/// Checks that a token can be sent in a header.
fn check_token(name: &str, token: Token) -> Result<Secret, String> {
    let text = token.0.expose();
    if text.is_empty() || text.len() > MAX_TOKEN {
        return Err(format!("`{name}` must have 1 to {MAX_TOKEN} characters"));
    }
    if !text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(format!(
            "`{name}` contains a character that is not allowed in a token"
        ));
    }
    Ok(token.0)
}

/// Reads `expires_in`, which some servers write as digits in a string.
fn lifetime(value: &Value) -> Option<Duration> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse().ok()?
        }
        _ => return None,
    };
    if seconds.is_nan() || seconds <= 0.0 {
        return None;
    }
    Some(Duration::from_secs_f64(
        seconds.min(MAX_LIFETIME.as_secs_f64()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Result<TokenResponse, AuthError> {
        let body = serde_json::from_str(body).unwrap();
        TokenResponse::from_body("token endpoint", body)
    }

    /// AUTH-C-97
    #[test]
    fn responses_are_read_leniently_where_that_is_safe() {
        let response = read(
            r#"{"access_token":"a","token_type":"bEARER","expires_in":"60","refresh_token":null,
            "scope":null,"id_token":"x","extra":[1]}"#,
        )
        .unwrap();
        assert_eq!(response.access_token.expose(), "a");
        assert_eq!(response.access_token_type().unwrap(), TokenType::Bearer);
        assert_eq!(response.lifetime, Some(Duration::from_secs(60)));
        assert!(response.refresh_token.is_none() && response.scopes.is_none());
        for (expires_in, expected) in [
            ("-5", None),
            ("0", None),
            ("1e300", Some(MAX_LIFETIME)),
            ("\"99999999999999999999999\"", Some(MAX_LIFETIME)),
            ("\"1h\"", None),
            ("[]", None),
        ] {
            let body =
                format!(r#"{{"access_token":"a","token_type":"DPoP","expires_in":{expires_in}}}"#);
            assert_eq!(read(&body).unwrap().lifetime, expected, "{expires_in}");
        }
    }

    /// AUTH-C-97, AUTH-C-106
    #[test]
    fn a_response_may_repeat_all_scopes_that_a_client_can_ask_for() {
        let body = |count: usize| {
            let scopes: Vec<_> = (0..count).map(|number| format!("s{number}")).collect();
            let scopes = scopes.join(" ");
            format!(r#"{{"access_token":"a","token_type":"Bearer","scope":"{scopes}"}}"#)
        };
        for count in [Scopes::MAX + 1, Scopes::MAX_RECORDED] {
            let scopes = read(&body(count)).unwrap().scopes;
            assert_eq!(scopes.map(|scopes| scopes.len()), Some(count));
        }
        assert!(read(&body(Scopes::MAX_RECORDED + 1)).is_err());
    }

    /// AUTH-X-14, AUTH-C-08
    #[test]
    fn tokens_that_cannot_be_sent_are_refused() {
        let long = "x".repeat(MAX_TOKEN + 1);
        for token in ["a\\r\\nX-Evil: 1", "a b", "", "a\\u0000", "ä", &long] {
            let body = format!(r#"{{"access_token":"{token}","token_type":"Bearer"}}"#);
            let error = read(&body).unwrap_err().to_string();
            assert!(error.contains("access_token"), "{error}");
            assert!(!error.contains("Evil"), "{error}");
        }
        let bad_refresh = r#"{"access_token":"a","token_type":"Bearer","refresh_token":"a\nb"}"#;
        assert!(read(bad_refresh).is_err());
        let bad_scope = r#"{"access_token":"a","token_type":"Bearer","scope":"a\"b"}"#;
        assert!(read(bad_scope).is_err());
        for body in ["{}", r#"{"access_token":"canary","token_type":7}"#] {
            let error = read(body).unwrap_err().to_string();
            assert!(!error.contains("canary"), "{error}");
        }
    }
}

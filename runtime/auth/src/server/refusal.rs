//! Responses to requests that are refused.

use std::time::Duration;

use bytes::Bytes;
use http::header::{
    CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use serde_json::json;

use super::credentials::Scheme;
use super::dpop::Dpop;
use super::settings::Settings;
use crate::challenge::Challenge;

/// Reason for which a request is refused. No reason contains a part of the request.
#[derive(Clone, Debug)]
pub(super) enum Refusal {
    /// The request has no token.
    NoToken,
    /// The request is malformed.
    Malformed(&'static str),
    /// The token is not accepted.
    Token(Scheme, &'static str),
    /// The DPoP proof is not accepted.
    Proof(&'static str),
    /// The DPoP proof needs this nonce.
    Nonce(String),
    /// The token cannot be verified now.
    Unavailable(Duration),
}

impl Refusal {
    /// Returns status, error code and description.
    fn parts(&self) -> (StatusCode, &'static str, &'static str) {
        match self {
            Self::NoToken => (
                StatusCode::UNAUTHORIZED,
                "unauthorized",
                "an access token is required",
            ),
            Self::Malformed(reason) => (StatusCode::BAD_REQUEST, "invalid_request", reason),
            Self::Token(_, reason) => (StatusCode::UNAUTHORIZED, "invalid_token", reason),
            Self::Proof(reason) => (StatusCode::UNAUTHORIZED, "invalid_dpop_proof", reason),
            Self::Nonce(_) => (
                StatusCode::UNAUTHORIZED,
                "use_dpop_nonce",
                "the proof needs the nonce of this response",
            ),
            Self::Unavailable(_) => (
                StatusCode::SERVICE_UNAVAILABLE,
                "temporarily_unavailable",
                "the token cannot be verified now",
            ),
        }
    }

    /// Returns the scheme that the request used, if that is known.
    fn scheme(&self) -> Option<Scheme> {
        match self {
            Self::Token(scheme, _) => Some(*scheme),
            Self::Proof(_) | Self::Nonce(_) => Some(Scheme::Dpop),
            Self::NoToken | Self::Malformed(_) | Self::Unavailable(_) => None,
        }
    }

    /// Returns the response. `scopes` are those that the client should request.
    pub(super) fn response(&self, settings: &Settings, scopes: &str) -> Response<Bytes> {
        let (status, code, description) = self.parts();
        let mut response = json_response(status, code, description);
        match self {
            Self::Unavailable(after) => {
                let seconds = after.as_secs().max(1);
                response.headers_mut().insert(RETRY_AFTER, seconds.into());
                return response;
            }
            Self::Nonce(nonce) => {
                if let Ok(nonce) = HeaderValue::from_str(nonce) {
                    let name = HeaderName::from_static("dpop-nonce");
                    response.headers_mut().insert(name, nonce);
                }
            }
            _ => {}
        }
        // A request without credentials receives no error code (RFC 6750, section 3.1).
        let has_error = !matches!(self, Self::NoToken);
        // The error belongs to the scheme of the request, if that is accepted.
        let used = self.scheme();
        let used = used.filter(|used| settings.schemes().any(|scheme| scheme == *used));
        for scheme in settings.schemes() {
            let has_error = has_error && used.is_none_or(|used| used == scheme);
            let challenge = settings.challenge(scheme, scopes);
            let error = has_error.then_some(code);
            let challenge = challenge
                .with_some("error", error)
                .with_some("error_description", error.map(|_| description));
            let headers = response.headers_mut();
            headers.append(WWW_AUTHENTICATE, challenge.header());
        }
        response
    }
}

/// Returns the response to a request whose token lacks scopes.
pub(super) fn insufficient_scope(
    settings: &Settings,
    scheme: Scheme,
    scopes: &str,
) -> Response<Bytes> {
    let description = "the token does not grant all scopes that the request needs";
    let code = "insufficient_scope";
    let mut response = json_response(StatusCode::FORBIDDEN, code, description);
    let challenge = settings
        .challenge(scheme, scopes)
        .with("error", code)
        .with("error_description", description);
    response
        .headers_mut()
        .insert(WWW_AUTHENTICATE, challenge.header());
    response
}

impl Settings {
    /// Returns the schemes that the server accepts.
    fn schemes(&self) -> impl Iterator<Item = Scheme> {
        let dpop = self.dpop.as_ref();
        let bearer = dpop.is_none_or(|dpop| !dpop.is_required());
        let schemes = [bearer.then_some(Scheme::Bearer), dpop.map(|_| Scheme::Dpop)];
        schemes.into_iter().flatten()
    }

    fn challenge(&self, scheme: Scheme, scopes: &str) -> Challenge {
        let challenge = Challenge::new(scheme.as_str())
            .with("resource_metadata", &self.resource.metadata_url)
            .with_some("scope", Some(scopes).filter(|scopes| !scopes.is_empty()));
        let dpop = self.dpop.as_ref().filter(|_| scheme == Scheme::Dpop);
        let algorithms = dpop.map(|_| Dpop::algorithms().join(" "));
        challenge.with_some("algs", algorithms.as_deref())
    }
}

fn json_response(status: StatusCode, code: &str, description: &str) -> Response<Bytes> {
    let body = json!({ "error": code, "error_description": description });
    let mut response = Response::new(body.to_string().into());
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

//! Metadata (RFC 8414, OpenID Connect Discovery) and public keys.

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};

use super::reply::json_response;
use super::state::{RefreshTokens, Registration, Settings, Shared};
use super::token::{CLIENT_CREDENTIALS, JWT_BEARER, TOKEN_EXCHANGE};

/// Answers with the metadata.
pub(super) fn metadata(shared: &Shared) -> Response<Bytes> {
    json_response(StatusCode::OK, &document(&shared.settings))
}

/// Answers with the public keys.
pub(super) fn jwks(shared: &Shared) -> Response<Bytes> {
    let mut response = json_response(StatusCode::OK, &shared.state().keys.jwks());
    let lifetime = http::HeaderValue::from_static("public, max-age=300");
    let headers = response.headers_mut();
    headers.insert(http::header::CACHE_CONTROL, lifetime);
    response
}

fn document(settings: &Settings) -> Value {
    let methods = [
        "none",
        "client_secret_basic",
        "client_secret_post",
        "private_key_jwt",
    ];
    let mut grants = vec!["authorization_code"];
    if settings.refresh != RefreshTokens::None {
        grants.push("refresh_token");
    }
    grants.extend([CLIENT_CREDENTIALS, TOKEN_EXCHANGE, JWT_BEARER]);
    let mut document = json!({
        "issuer": settings.issuer(),
        "authorization_endpoint": settings.url("/authorize"),
        "token_endpoint": settings.url("/token"),
        "jwks_uri": settings.url("/jwks"),
        "introspection_endpoint": settings.url("/introspect"),
        "revocation_endpoint": settings.url("/revoke"),
        "pushed_authorization_request_endpoint": settings.url("/par"),
        "require_pushed_authorization_requests": settings.requires_pushed,
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": grants,
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": methods,
        "token_endpoint_auth_signing_alg_values_supported": ["ES256", "EdDSA"],
        "dpop_signing_alg_values_supported": ["ES256", "EdDSA"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "authorization_grant_profiles_supported": ["urn:ietf:params:oauth:grant-profile:id-jag"],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["ES256"],
    });
    if settings.registration == Registration::Open {
        document["registration_endpoint"] = json!(settings.url("/register"));
    }
    if !settings.scopes.is_empty() {
        document["scopes_supported"] = json!(settings.scopes.iter().collect::<Vec<_>>());
    }
    document
}

//! Dynamic client registration (RFC 7591).

use std::time::{Duration, SystemTime};

use http::HeaderMap;
use serde::Deserialize;
use serde_json::{Value, json};

use super::document::application_type;
use crate::client::grant::GrantRequest;
use crate::client::store::RegistrationRecord;
use crate::client::token::error::is_refusal;
use crate::client::token::{Method, error};
use crate::{AuthError, Secret};

#[derive(Deserialize)]
struct Body {
    client_id: String,
    client_secret: Option<String>,
    client_secret_expires_at: Option<Value>,
    token_endpoint_auth_method: Option<String>,
}

/// Registers a client with this redirect URI.
///
/// # Errors
///
/// [`AuthError::Refused`] after one retry, if the authorization server refuses the metadata.
pub(super) async fn register(
    request: &GrantRequest<'_>,
    endpoint: &str,
    redirect_uri: &str,
) -> Result<RegistrationRecord, AuthError> {
    let native = application_type(std::iter::once(redirect_uri));
    let other = if native == "web" { "native" } else { "web" };
    let first = send(request, endpoint, redirect_uri, native).await;
    match first {
        // Some servers accept loopback redirects for the other type only.
        Err(error)
            if is_refusal(&error, "invalid_redirect_uri")
                || is_refusal(&error, "invalid_client_metadata") =>
        {
            send(request, endpoint, redirect_uri, other).await
        }
        outcome => outcome,
    }
}

async fn send(
    request: &GrantRequest<'_>,
    endpoint: &str,
    redirect_uri: &str,
    application_type: &str,
) -> Result<RegistrationRecord, AuthError> {
    let method = requested_method(request);
    let body = json!({
        "redirect_uris": [redirect_uri],
        "client_name": &*request.settings.client_name,
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": method.name(),
        "application_type": application_type,
    });
    let response = request
        .fetcher
        .post_json(endpoint, &body.to_string(), HeaderMap::new())
        .await?;
    let document = format!("registration endpoint {endpoint}");
    if !matches!(response.status.as_u16(), 200 | 201) {
        return Err(error::read(&document, &response));
    }
    let body = response
        .json()
        .map_err(|reason| AuthError::document(&*document, reason))?;
    // Messages of serde may contain values.
    let body: Option<Body> = serde_json::from_value(Value::Object(body)).ok();
    let body = body.filter(|body| !body.client_id.is_empty());
    let body = body.ok_or_else(|| {
        AuthError::document(
            document,
            "the response is not a registration with a `client_id`",
        )
    })?;
    Ok(record(body, method, redirect_uri))
}

/// Returns the method to ask for: a public client if possible.
fn requested_method(request: &GrantRequest<'_>) -> Method {
    let supported = request
        .metadata
        .token_endpoint_auth_methods_supported
        .as_deref();
    let Some(supported) = supported else {
        return Method::None;
    };
    let is_listed = |method: &Method| supported.iter().any(|name| name == method.name());
    let mut methods = [Method::None, Method::Basic, Method::Post].into_iter();
    methods.find(is_listed).unwrap_or(Method::None)
}

fn record(body: Body, requested: Method, redirect_uri: &str) -> RegistrationRecord {
    let secret = body.client_secret.map(Secret::from);
    let client_secret = secret.filter(|secret| !secret.expose().is_empty());
    let expires_at = body
        .client_secret_expires_at
        .as_ref()
        .and_then(Value::as_u64);
    let expires_at = expires_at.filter(|seconds| *seconds != 0);
    let secret_expires_at = expires_at
        .and_then(|seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds)));
    let method = body.token_endpoint_auth_method;
    RegistrationRecord {
        client_id: body.client_id,
        client_secret,
        secret_expires_at,
        auth_method: Some(method.unwrap_or_else(|| requested.name().to_owned())),
        redirect_uris: vec![redirect_uri.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> RegistrationRecord {
        record(
            serde_json::from_str(body).unwrap(),
            Method::None,
            "http://127.0.0.1:1/callback",
        )
    }

    /// AUTH-C-65
    #[test]
    fn the_returned_method_counts() {
        let registered = read(
            r#"{"client_id":"a","client_secret":"s","client_secret_expires_at":0,"token_endpoint_auth_method":"client_secret_post"}"#,
        );
        assert_eq!(
            registered.auth_method.as_deref(),
            Some("client_secret_post")
        );
        assert!(registered.client_secret.is_some() && registered.secret_expires_at.is_none());
        let empty = read(r#"{"client_id":"a","client_secret":"","client_secret_expires_at":1}"#);
        assert!(empty.client_secret.is_none() && empty.secret_expires_at.is_some());
        assert_eq!(empty.auth_method.as_deref(), Some("none"));
    }
}

//! Pushed authorization requests (RFC 9126).

use serde_json::Value;

use crate::AuthError;
use crate::client::token::form::Form;
use crate::client::token::{TokenEndpoint, error};

/// Pushes the parameters of a request, and returns the parameters that refer to them.
pub(super) async fn push(
    endpoint: &TokenEndpoint<'_>,
    url: &str,
    client_id: &str,
    parameters: Form,
) -> Result<Form, AuthError> {
    let response = endpoint.post(url, parameters).await?;
    let document = format!("pushed authorization request endpoint {url}");
    if !matches!(response.status.as_u16(), 200 | 201) {
        return Err(error::read(&document, &response));
    }
    let body = response.json().unwrap_or_default();
    let request_uri = body.get("request_uri").and_then(Value::as_str);
    let request_uri = request_uri.filter(|uri| (1..=2048).contains(&uri.len()));
    let request_uri = request_uri.ok_or_else(|| {
        AuthError::document(document, "the response contains no valid `request_uri`")
    })?;
    Ok(Form::new()
        .with("client_id", client_id)
        .with("request_uri", request_uri))
}

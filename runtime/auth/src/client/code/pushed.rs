//! Pushed authorization requests (RFC 9126).

use serde::Deserialize;

use crate::AuthError;
use crate::client::token::form::Form;
use crate::client::token::{TokenEndpoint, error};

#[derive(Deserialize)]
struct Body {
    request_uri: String,
}

/// Pushes the parameters of a request, and returns the parameters that refer to them.
pub(super) async fn push(
    endpoint: &TokenEndpoint<'_>,
    url: &str,
    client_id: &str,
    parameters: Form,
) -> Result<Form, AuthError> {
    let response = endpoint.post(url, parameters).await?;
    let document = format!("pushed authorization request endpoint {url}");
    let status = response.status.as_u16();
    if !matches!(status, 200 | 201) {
        return Err(error::read(&document, status, &response.body));
    }
    let body: Option<Body> = serde_json::from_slice(&response.body).ok();
    let body = body.filter(|body| (1..=2048).contains(&body.request_uri.len()));
    let body = body.ok_or_else(|| {
        AuthError::document(document, "the response contains no valid `request_uri`")
    })?;
    Ok(Form::new()
        .with("client_id", client_id)
        .with("request_uri", &body.request_uri))
}

//! Token endpoint of an authorization server, and the other endpoints at which a client authenticates.

mod authentication;
pub(crate) mod error;
pub(crate) mod form;
mod response;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

pub(crate) use self::authentication::{Client, ClientProof, Method};
use self::form::Form;
pub(crate) use self::response::TokenResponse;
use crate::AuthError;
use crate::fetch::{FetchResponse, Fetcher};
use crate::metadata::AuthorizationServerMetadata;

/// Token endpoint, used by one client.
#[derive(Debug)]
pub(crate) struct TokenEndpoint<'a> {
    fetcher: &'a Fetcher,
    metadata: &'a AuthorizationServerMetadata,
    client: &'a Client,
    url: &'a str,
}

impl<'a> TokenEndpoint<'a> {
    /// Returns the endpoint that the metadata name.
    pub(crate) fn new(
        fetcher: &'a Fetcher,
        metadata: &'a AuthorizationServerMetadata,
        client: &'a Client,
    ) -> Result<Self, AuthError> {
        let url = metadata.token_endpoint.as_deref();
        let url = url.ok_or_else(|| missing(metadata, "token_endpoint"))?;
        Ok(Self {
            fetcher,
            metadata,
            client,
            url,
        })
    }

    /// Sends a token request, with the authentication of the client.
    ///
    /// # Errors
    ///
    /// [`AuthError::Refused`] with the error code of the authorization server.
    pub(crate) async fn request(&self, form: Form) -> Result<TokenResponse, AuthError> {
        let response = self.post(self.url, form).await?;
        let document = format!("token endpoint {}", self.url);
        TokenResponse::read(&document, &response)
    }

    /// Posts a form to another endpoint of the authorization server, with the authentication of the client.
    pub(crate) async fn post(&self, url: &str, mut form: Form) -> Result<FetchResponse, AuthError> {
        let methods = self
            .metadata
            .token_endpoint_auth_methods_supported
            .as_deref();
        let mut headers = HeaderMap::new();
        if let Some(authorization) = self.client.authenticate(&mut form, methods)? {
            let invalid = |_| AuthError::invalid("the credentials cannot be sent in a header");
            let mut value = HeaderValue::from_str(authorization.expose()).map_err(invalid)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        self.fetcher.post_form(url, &form.encode(), headers).await
    }
}

/// Returns the error of metadata without a member that is needed.
pub(crate) fn missing(metadata: &AuthorizationServerMetadata, member: &str) -> AuthError {
    let document = format!("metadata of the authorization server {}", metadata.issuer);
    AuthError::document(document, format!("`{member}` is missing"))
}

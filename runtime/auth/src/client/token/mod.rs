//! Token endpoint of an authorization server, and the other endpoints at which a client authenticates.

mod authentication;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue, StatusCode, Uri};

pub(crate) use self::authentication::{Client, ClientProof, Method};
use self::form::Form;
use super::dpop::DpopKey;
use crate::fetch::{FetchResponse, Fetcher};
use crate::metadata::AuthorizationServerMetadata;
pub(crate) use crate::token::{TokenResponse, error, form};
use crate::{AuthError, Clock};

/// Token endpoint, used by one client.
#[derive(Debug)]
pub(crate) struct TokenEndpoint<'a> {
    fetcher: &'a Fetcher,
    metadata: &'a AuthorizationServerMetadata,
    client: &'a Client,
    url: &'a str,
    clock: &'a Clock,
    dpop: Option<DpopKey>,
}

impl<'a> TokenEndpoint<'a> {
    /// Returns the endpoint that the metadata name.
    ///
    /// # Errors
    ///
    /// [`AuthError::Document`] if they name none, or no authentication that the client can use.
    pub(crate) fn new(
        fetcher: &'a Fetcher,
        metadata: &'a AuthorizationServerMetadata,
        client: &'a Client,
        clock: &'a Clock,
    ) -> Result<Self, AuthError> {
        let url = metadata.token_endpoint.as_deref();
        let url = url.ok_or_else(|| missing(metadata, "token_endpoint"))?;
        client.check(metadata)?;
        Ok(Self {
            fetcher,
            metadata,
            client,
            url,
            clock,
            dpop: None,
        })
    }

    /// Binds the requested tokens to a key, if there is one.
    ///
    /// # Errors
    ///
    /// [`AuthError::Document`] if the authorization server does not support the algorithm of the key.
    pub(crate) fn with_dpop(mut self, key: Option<DpopKey>) -> Result<Self, AuthError> {
        let key = key.map(|key| key.at(self.metadata));
        self.dpop = key.transpose()?;
        Ok(self)
    }

    /// Sends a token request, with the authentication of the client.
    ///
    /// # Errors
    ///
    /// [`AuthError::Refused`] with the error code of the authorization server.
    pub(crate) async fn request(&self, form: Form) -> Result<TokenResponse, AuthError> {
        let response = match &self.dpop {
            Some(key) => self.post_with_proof(key, &form).await?,
            None => self.post(self.url, form).await?,
        };
        let document = format!("token endpoint {}", self.url);
        TokenResponse::read(&document, &response)
    }

    /// Posts a form with a proof, and repeats it once with a nonce that the authorization server demands.
    async fn post_with_proof(
        &self,
        key: &DpopKey,
        form: &Form,
    ) -> Result<FetchResponse, AuthError> {
        let invalid = |_| missing(self.metadata, "token_endpoint");
        let url: Uri = self.url.parse().map_err(invalid)?;
        let mut is_repeated = false;
        loop {
            let mut headers = HeaderMap::new();
            key.prove(("POST", &url), None, &mut headers)?;
            let response = self.send(self.url, form.clone(), headers).await?;
            let is_noted = key.observe(&url, &response.headers);
            let needs_nonce = response.status != StatusCode::OK
                && error::is_refusal(&error::read("", &response), "use_dpop_nonce");
            if is_repeated || !is_noted || !needs_nonce {
                return Ok(response);
            }
            is_repeated = true;
        }
    }

    /// Posts a form to another endpoint of the authorization server, with the authentication of the client.
    pub(crate) async fn post(&self, url: &str, form: Form) -> Result<FetchResponse, AuthError> {
        self.send(url, form, HeaderMap::new()).await
    }

    async fn send(
        &self,
        url: &str,
        mut form: Form,
        mut headers: HeaderMap,
    ) -> Result<FetchResponse, AuthError> {
        let now = self.clock.now();
        let authorization = self.client.authenticate(&mut form, self.metadata, now)?;
        if let Some(authorization) = authorization {
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

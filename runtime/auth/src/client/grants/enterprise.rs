//! Enterprise-managed authorization: the identity provider of an organization grants access (ID-JAG).

use http::Uri;

use super::identity_provider::IdentityProvider;
use super::{JWT_BEARER, request_tokens};
use crate::client::grant::{Grant, GrantFuture, GrantRequest, Granted};
use crate::client::registration;
use crate::client::settings::Settings;
use crate::client::token::form::Form;
use crate::client::token::{TokenEndpoint, TokenResponse};
use crate::fetch::{FetchPolicy, Fetcher};
use crate::metadata::AuthorizationServerMetadata;
use crate::{AuthError, Secret};

const EXTENSION: &str = "io.modelcontextprotocol/enterprise-managed-authorization";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// Grant by the identity provider of an organization.
#[derive(Debug)]
pub(in crate::client) struct EnterpriseGrant(pub(in crate::client) IdentityProvider);

impl EnterpriseGrant {
    async fn grant(&self, request: &GrantRequest<'_>) -> Result<Granted, AuthError> {
        // The issuer and its token endpoint are checked before the identity provider is asked.
        let client = registration::configured_client(request).await?;
        request.token_endpoint(&client).await?;
        let assertion = self.exchange(request).await?;
        let form = Form::grant(JWT_BEARER).with("assertion", assertion.expose());
        request_tokens(request, client, form).await
    }

    /// Exchanges a token of the user for a grant at the authorization server of the MCP server.
    async fn exchange(&self, request: &GrantRequest<'_>) -> Result<Secret, AuthError> {
        let provider = &self.0;
        let url = provider.token_endpoint.to_string();
        let metadata = AuthorizationServerMetadata {
            issuer: url.clone(),
            token_endpoint: Some(url),
            ..AuthorizationServerMetadata::default()
        };
        let subject = provider.subject_token().await?;
        let scopes = request.scopes.to_string();
        let scopes = Some(scopes).filter(|scopes| !scopes.is_empty());
        let form = Form::grant(TOKEN_EXCHANGE)
            .with("requested_token_type", ID_JAG)
            .with("audience", &request.metadata.issuer)
            .with_some("resource", request.resource)
            .with_some("scope", scopes.as_deref())
            .with("subject_token", subject.token.expose())
            .with("subject_token_type", subject.token_type);
        let fetcher = Fetcher::new(self.policy(request.settings)?);
        let clock = &request.settings.clock;
        let endpoint = TokenEndpoint::new(&fetcher, &metadata, &provider.client, clock)?;
        let response = endpoint.request(form).await;
        let response = response.map_err(|error| at_provider(&provider.token_endpoint, error))?;
        check_exchanged(&provider.token_endpoint, &response)?;
        Ok(response.access_token)
    }

    /// Returns the policy for the identity provider, which the program has named: its network is allowed.
    fn policy(&self, settings: &Settings) -> Result<FetchPolicy, AuthError> {
        let url = self.0.token_endpoint.parse::<Uri>().ok();
        let url = url.filter(|url| url.host().is_some());
        let invalid =
            || AuthError::invalid("the token endpoint of the identity provider is not a URL");
        let url = url.ok_or_else(invalid)?;
        let policy = FetchPolicy::default().connections_of(&settings.fetch_policy);
        let policy = policy.for_server(&url, None);
        Ok(policy.allow_host(url.host().unwrap_or_default()))
    }
}

impl Grant for EnterpriseGrant {
    fn check(&self, settings: &Settings) -> Result<(), AuthError> {
        if settings.client.is_none() && settings.document.is_none() {
            let reason = "the grant of an identity provider needs a registered client: set `OAuth::client` or `OAuth::client_id_url`";
            return Err(AuthError::invalid(reason));
        }
        self.policy(settings)?
            .check_url(&self.0.token_endpoint)
            .map(drop)
    }

    fn needs_user(&self) -> bool {
        false
    }

    fn may_ask_user(&self) -> bool {
        // The function of the program may let the user sign in at the identity provider.
        true
    }

    fn grant_types(&self) -> &'static [&'static str] {
        &[JWT_BEARER]
    }

    fn extension(&self) -> Option<&'static str> {
        Some(EXTENSION)
    }

    fn obtain<'a>(&'a self, request: &'a GrantRequest<'a>) -> GrantFuture<'a, Granted> {
        Box::pin(self.grant(request))
    }
}

/// Checks the response of a token exchange. Its token is a grant, and never sent to the MCP server.
fn check_exchanged(endpoint: &str, response: &TokenResponse) -> Result<(), AuthError> {
    let refuse = |reason| {
        let document = format!("response of the identity provider {endpoint}");
        Err(AuthError::document(document, reason))
    };
    if response.issued_token_type.as_deref() != Some(ID_JAG) {
        return refuse("`issued_token_type` must be that of an identity assertion grant (ID-JAG)");
    }
    if !response.token_type.eq_ignore_ascii_case("N_A") {
        return refuse("`token_type` must be `N_A`");
    }
    Ok(())
}

/// Names the identity provider in its refusal, so that it is not mistaken for the authorization server.
fn at_provider(endpoint: &str, error: AuthError) -> AuthError {
    match error {
        AuthError::Refused { code, description } => {
            let description = description.as_deref().unwrap_or("no description");
            let description = format!("{description} (identity provider {endpoint})");
            AuthError::Refused {
                code,
                description: Some(description.into()),
            }
        }
        other => other,
    }
}

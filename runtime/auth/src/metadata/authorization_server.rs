//! Metadata of an authorization server (RFC 8414, OpenID Connect Discovery).

use http::Uri;
use serde_json::{Map, Value};

use super::covers::origin;
use super::members::Members;
use crate::AuthError;
use crate::fetch::{FetchPolicy, quoted_url};

/// Metadata of an authorization server. Its issuer was compared, and its endpoints were checked against the policy.
#[derive(Clone, Debug, Default)]
pub(crate) struct AuthorizationServerMetadata {
    /// The issuer, byte for byte. It is the key of stored tokens, and the expected `iss` of responses.
    pub(crate) issuer: String,
    pub(crate) authorization_endpoint: Option<String>,
    pub(crate) token_endpoint: Option<String>,
    pub(crate) registration_endpoint: Option<String>,
    pub(crate) revocation_endpoint: Option<String>,
    pub(crate) introspection_endpoint: Option<String>,
    pub(crate) pushed_authorization_request_endpoint: Option<String>,
    pub(crate) jwks_uri: Option<String>,
    pub(crate) require_pushed_authorization_requests: bool,
    pub(crate) authorization_response_iss_parameter_supported: bool,
    pub(crate) client_id_metadata_document_supported: bool,
    pub(crate) scopes_supported: Option<Vec<String>>,
    pub(crate) response_types_supported: Option<Vec<String>>,
    pub(crate) code_challenge_methods_supported: Option<Vec<String>>,
    pub(crate) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub(crate) token_endpoint_auth_signing_alg_values_supported: Option<Vec<String>>,
    pub(crate) dpop_signing_alg_values_supported: Option<Vec<String>>,
}

impl AuthorizationServerMetadata {
    /// Reads a document whose `issuer` was compared.
    pub(super) fn read(
        document: &str,
        issuer: &str,
        members: &Map<String, Value>,
        policy: &FetchPolicy,
    ) -> Result<Self, AuthError> {
        let members = Members::new(document, members);
        let endpoint = |member: &str| {
            let url = members.string(member)?;
            if let Some(url) = url {
                let checked = policy.check_url(url);
                checked
                    .map_err(|error| members.invalid(member, &format!("is not usable: {error}")))?;
            }
            Ok::<_, AuthError>(url.map(str::to_owned))
        };
        Ok(Self {
            issuer: issuer.to_owned(),
            authorization_endpoint: endpoint("authorization_endpoint")?,
            token_endpoint: endpoint("token_endpoint")?,
            registration_endpoint: endpoint("registration_endpoint")?,
            revocation_endpoint: endpoint("revocation_endpoint")?,
            introspection_endpoint: endpoint("introspection_endpoint")?,
            pushed_authorization_request_endpoint: endpoint(
                "pushed_authorization_request_endpoint",
            )?,
            jwks_uri: endpoint("jwks_uri")?,
            require_pushed_authorization_requests: members
                .flag("require_pushed_authorization_requests")?,
            authorization_response_iss_parameter_supported: members
                .flag("authorization_response_iss_parameter_supported")?,
            client_id_metadata_document_supported: members
                .flag("client_id_metadata_document_supported")?,
            scopes_supported: members.strings("scopes_supported")?,
            response_types_supported: members.strings("response_types_supported")?,
            code_challenge_methods_supported: members
                .strings("code_challenge_methods_supported")?,
            token_endpoint_auth_methods_supported: members
                .strings("token_endpoint_auth_methods_supported")?,
            token_endpoint_auth_signing_alg_values_supported: members
                .strings("token_endpoint_auth_signing_alg_values_supported")?,
            dpop_signing_alg_values_supported: members
                .strings("dpop_signing_alg_values_supported")?,
        })
    }

    /// Returns the endpoints that 2025-03-26 assumes for a server without metadata.
    pub(super) fn assumed(server: &Uri) -> Self {
        let origin = origin(server);
        let endpoint = |path: &str| Some(format!("{origin}{path}"));
        Self {
            authorization_endpoint: endpoint("/authorize"),
            token_endpoint: endpoint("/token"),
            registration_endpoint: endpoint("/register"),
            issuer: origin,
            ..Self::default()
        }
    }

    /// Returns the authorization endpoint, for a grant with a code.
    ///
    /// # Errors
    ///
    /// [`AuthError::Document`] if the server has none, or does not support the response type `code`.
    #[cfg(feature = "oauth")]
    pub(crate) fn code_endpoint(&self) -> Result<&str, AuthError> {
        let invalid = |reason: &str| {
            let issuer = quoted_url(&self.issuer);
            let document = format!("metadata of the authorization server {issuer}");
            AuthError::document(document, reason)
        };
        if let Some(types) = &self.response_types_supported {
            if !types.iter().any(|name| name == "code") {
                return Err(invalid(
                    "`response_types_supported` must contain `code`; use another grant",
                ));
            }
        }
        self.authorization_endpoint.as_deref().ok_or_else(|| {
            invalid("`authorization_endpoint` is missing; use a grant without a user")
        })
    }
}

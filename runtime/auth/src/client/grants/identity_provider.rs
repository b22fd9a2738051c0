//! Identity provider of an organization.

use std::fmt;
use std::sync::Arc;

use crate::client::credentials::ClientCredentials;
use crate::client::settings::CallerFuture;
use crate::client::token::Client;
use crate::{AuthError, Secret};

/// Identity provider of an organization, at which the user of this program is signed in already.
///
/// It exchanges a token of the user for an authorization grant (ID-JAG) for one authorization server. Its token endpoint is
/// trusted by configuration: no MCP server can name another one.
///
/// ```
/// use treenail::auth::{AuthError, ClientCredentials, IdentityProvider, OAuth, SubjectToken};
///
/// async fn id_token() -> Result<SubjectToken, AuthError> {
///     Ok(SubjectToken::id_token("token of the signed-in user"))
/// }
///
/// let at_provider = ClientCredentials::public("planner-at-provider");
/// let provider = IdentityProvider::new("https://login.corp.example/token", at_provider, id_token);
/// let client = ClientCredentials::secret("planner", "s3cret").issuer("https://auth.example.com");
/// let oauth = OAuth::enterprise("Travel planner", provider).client(client);
/// # let _ = oauth;
/// ```
#[cfg(feature = "oauth")]
#[derive(Clone)]
pub struct IdentityProvider {
    pub(super) token_endpoint: Arc<str>,
    pub(super) client: Client,
    subject: Arc<dyn Fn() -> CallerFuture<Result<SubjectToken, AuthError>> + Send + Sync>,
}

impl IdentityProvider {
    /// Returns a provider by the URL of its token endpoint. `client` are the credentials of this program at the provider;
    /// they are sent to this URL only, which is also the audience of assertions that a key signs.
    ///
    /// `subject_token` returns a current token of the user. It is called for each exchange, and may ask the user to sign in.
    /// Requests in the background, such as those of a stream that is opened again, do not call it.
    pub fn new<F, R>(
        token_endpoint: impl Into<String>,
        client: ClientCredentials,
        subject_token: F,
    ) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<SubjectToken, AuthError>> + Send + 'static,
    {
        Self {
            token_endpoint: token_endpoint.into().into(),
            client: client.client,
            subject: Arc::new(move || Box::pin(subject_token())),
        }
    }

    pub(super) async fn subject_token(&self) -> Result<SubjectToken, AuthError> {
        (self.subject)().await
    }
}

impl fmt::Debug for IdentityProvider {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("IdentityProvider")
            .field("token_endpoint", &self.token_endpoint)
            .field("client", &self.client)
            .finish_non_exhaustive()
    }
}

/// Token of a user that an [`IdentityProvider`] has issued.
#[cfg(feature = "oauth")]
#[derive(Clone, Debug)]
pub struct SubjectToken {
    pub(super) token: Secret,
    pub(super) token_type: &'static str,
}

impl SubjectToken {
    /// Returns an ID token of OpenID Connect.
    pub fn id_token(token: impl Into<Secret>) -> Self {
        Self::new(token, "urn:ietf:params:oauth:token-type:id_token")
    }

    /// Returns a SAML 2.0 assertion, encoded in base64url.
    pub fn saml2(token: impl Into<Secret>) -> Self {
        Self::new(token, "urn:ietf:params:oauth:token-type:saml2")
    }

    /// Returns a refresh token of the provider.
    pub fn refresh_token(token: impl Into<Secret>) -> Self {
        Self::new(token, "urn:ietf:params:oauth:token-type:refresh_token")
    }

    fn new(token: impl Into<Secret>, token_type: &'static str) -> Self {
        let token = token.into();
        Self { token, token_type }
    }
}

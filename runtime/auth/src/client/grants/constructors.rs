//! Constructors of clients with these grants.

use super::IdentityProvider;
use super::client_credentials::ClientCredentialsGrant;
use super::enterprise::EnterpriseGrant;
use super::workload::WorkloadGrant;
use super::workload_token::WorkloadToken;
use crate::client::credentials::ClientCredentials;
use crate::client::dpop::{Dpop, DpopAlgorithm};
use crate::client::oauth::OAuth;

/// Clients without a user
impl OAuth {
    /// Returns a client that acts for itself, by its secret or key.
    ///
    /// The credentials need an issuer: the MCP server names the authorization server, and a hostile one could name its own. See
    /// [`ClientCredentials::issuer`].
    ///
    /// ```
    /// use treenail::auth::{ClientCredentials, OAuth, SigningKey};
    ///
    /// // From your secret store, in place of a new key.
    /// let key = SigningKey::generate()?.key_id("2026");
    /// let client = ClientCredentials::private_key("planner", key).issuer("https://auth.example.com");
    /// let oauth = OAuth::client_credentials(client);
    /// # let _ = oauth;
    /// # Ok::<(), treenail::auth::AuthError>(())
    /// ```
    pub fn client_credentials(credentials: ClientCredentials) -> Self {
        let name = credentials.client.id.clone();
        Self::with_grant(name, ClientCredentialsGrant).client(credentials)
    }

    /// Returns a client whose access an [`IdentityProvider`] manages for an organization (ID-JAG). The user is not asked.
    ///
    /// Set the client at the authorization server of the MCP server with [`client`](Self::client) or
    /// [`client_id_url`](Self::client_id_url).
    pub fn enterprise(client_name: impl Into<String>, provider: IdentityProvider) -> Self {
        Self::with_grant(client_name, EnterpriseGrant(provider))
    }

    /// Returns a client that its platform identifies, by a [`WorkloadToken`]. It needs no secret.
    ///
    /// The credentials need an issuer, the only recipient of the token. See [`ClientCredentials::issuer`].
    pub fn workload(credentials: ClientCredentials, token: WorkloadToken) -> Self {
        let name = credentials.client.id.clone();
        Self::with_grant(name, WorkloadGrant::new(token)).client(credentials)
    }
}

/// Proof of possession
impl OAuth {
    /// Binds tokens to a key of this client (`DPoP`, RFC 9449), so that they are useless without it. Default: bearer tokens.
    ///
    /// The key is in the store. An authorization server that issues bearer tokens nevertheless is refused.
    #[must_use]
    pub fn dpop(self) -> Self {
        self.dpop_with(DpopAlgorithm::default())
    }

    /// As [`dpop`](Self::dpop), with a choice of the algorithm for new keys. Default: [`DpopAlgorithm::Es256`].
    #[must_use]
    pub fn dpop_with(self, algorithm: DpopAlgorithm) -> Self {
        let dpop = Dpop {
            algorithm,
            ..Dpop::default()
        };
        self.with(|settings| settings.dpop = Some(dpop))
    }
}

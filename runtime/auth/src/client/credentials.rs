//! Credentials of a client that was registered before.

use std::sync::Arc;

use super::token::{Client, ClientProof};
use crate::{AuthError, Secret, SigningKey};

/// Credentials of a client that is registered at an authorization server already.
///
/// They are sent to one issuer only. A client id without a secret may omit the issuer: it is then bound to the first one at which
/// it is used. A secret needs its issuer, since the MCP server names the authorization server, and a hostile one could name its
/// own.
///
/// ```
/// use treenail::auth::ClientCredentials;
///
/// let public = ClientCredentials::public("planner");
/// let confidential = ClientCredentials::secret("planner", "s3cret").issuer("https://auth.example.com");
/// # let _ = (public, confidential);
/// ```
#[derive(Clone, Debug)]
#[cfg(feature = "oauth")]
pub struct ClientCredentials {
    pub(crate) client: Client,
    pub(crate) issuer: IssuerBinding,
}

/// Issuers that may receive credentials.
#[derive(Clone, Debug)]
pub(crate) enum IssuerBinding {
    /// The first one that is used; public clients only.
    First,
    /// One issuer.
    Only(Arc<str>),
    /// Any one that the MCP server names.
    Any,
}

impl ClientCredentials {
    /// Returns a client without a secret.
    pub fn public(client_id: impl Into<String>) -> Self {
        Self::new(client_id, ClientProof::None)
    }

    /// Returns a client with a secret. Set its issuer with [`issuer`](Self::issuer).
    pub fn secret(client_id: impl Into<String>, secret: impl Into<Secret>) -> Self {
        Self::new(client_id, ClientProof::Secret(secret.into()))
    }

    /// Returns a client that signs an assertion for each request (`private_key_jwt`). Set its issuer with
    /// [`issuer`](Self::issuer).
    pub fn private_key(client_id: impl Into<String>, key: SigningKey) -> Self {
        Self::new(client_id, ClientProof::Key(key))
    }

    pub(crate) fn new(client_id: impl Into<String>, proof: ClientProof) -> Self {
        Self {
            client: Client {
                id: client_id.into(),
                proof,
                registered_method: None,
            },
            issuer: IssuerBinding::First,
        }
    }

    /// Sets the issuer of the authorization server at which the client is registered, exactly as its metadata spell it.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = IssuerBinding::Only(issuer.into().into());
        self
    }

    /// Lets the MCP server choose the authorization server that receives the credentials.
    ///
    /// Only for servers that you trust with them: a hostile server receives the secret.
    #[must_use]
    pub fn allow_any_issuer(mut self) -> Self {
        self.issuer = IssuerBinding::Any;
        self
    }

    /// Sets `token_endpoint_auth_method` of the registration, such as `client_secret_post`. Default: the best method that the
    /// authorization server lists.
    #[must_use]
    pub fn auth_method(mut self, method: impl Into<String>) -> Self {
        self.client.registered_method = Some(method.into());
        self
    }

    pub(crate) fn check(&self) -> Result<(), AuthError> {
        let needs_issuer = !matches!(self.client.proof, ClientProof::None);
        if needs_issuer && matches!(self.issuer, IssuerBinding::First) {
            let reason = "credentials with a secret or a key need `issuer`, or `allow_any_issuer` for a server that you trust with them";
            return Err(AuthError::invalid(reason));
        }
        if self.client.id.is_empty() {
            return Err(AuthError::invalid("the client id is empty"));
        }
        Ok(())
    }

    /// Returns true if the credentials belong to this issuer alone. `bound` is the first issuer of an unbound client id.
    pub(crate) fn is_bound_to(&self, issuer: &str, bound: Option<&str>) -> bool {
        match &self.issuer {
            IssuerBinding::Any => false,
            IssuerBinding::Only(expected) => **expected == *issuer,
            IssuerBinding::First => bound == Some(issuer),
        }
    }

    /// Checks that the credentials may be used at this issuer. `bound` is the first issuer of an unbound client id.
    pub(crate) fn check_issuer(&self, issuer: &str, bound: Option<&str>) -> Result<(), AuthError> {
        let (expected, remedy) = match &self.issuer {
            IssuerBinding::Any => return Ok(()),
            IssuerBinding::Only(expected) => {
                (Some(&**expected), "configure credentials for the new one")
            }
            IssuerBinding::First => (bound, "sign out from the servers of the old one first"),
        };
        match expected {
            Some(expected) if expected != issuer => {
                let id = &self.client.id;
                let reason = format!(
                    "the server names the authorization server {issuer:?}, but the client {id:?} belongs to {expected:?}; \
                     nothing was sent. If the change is right, {remedy}"
                );
                Err(AuthError::Forbidden(reason.into()))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// AUTH-X-07, AUTH-C-54, AUTH-C-140
    #[test]
    fn credentials_belong_to_one_issuer() {
        let secret = ClientCredentials::secret("id", "canary");
        assert!(secret.check().is_err());
        assert!(secret.clone().allow_any_issuer().check().is_ok());
        let bound = secret.issuer("https://a.example");
        assert!(bound.check().is_ok());
        assert!(bound.check_issuer("https://a.example", None).is_ok());
        let error = bound.check_issuer("https://b.example", None).unwrap_err();
        let error = error.to_string();
        assert!(error.contains("https://a.example") && error.contains("https://b.example"));
        assert!(!format!("{error} {bound:?}").contains("canary"));
        let public = ClientCredentials::public("id");
        assert!(public.check().is_ok());
        assert!(public.check_issuer("https://a.example", None).is_ok());
        let first = Some("https://a.example");
        assert!(public.check_issuer("https://a.example", first).is_ok());
        assert!(public.check_issuer("https://a.example/", first).is_err());
    }
}

//! Tokens that a test obtains without a client.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};

use super::keys::Members;
#[cfg(feature = "authorization")]
use super::state::AccessToken;
use super::state::{Grant, Shared, TokenFormat, random};
use super::token::issue;
use crate::Scopes;

/// Token to be issued by a [`TestAuthorizationServer`](crate::testing::TestAuthorizationServer).
///
/// By default, it is an access token for all resources of the server, without scopes, of the client `test`.
///
/// ```
/// use serde_json::json;
/// use treenail::auth::testing::TestAuthorizationServer;
///
/// let server = TestAuthorizationServer::builder().build();
/// let token = server.token("alice");
/// let valid = token.clone().resource("https://files.example/mcp").scope("files:read").issue();
/// let expired = token.clone().lifetime(std::time::Duration::ZERO).issue();
/// let malformed = token.claim("exp", json!("tomorrow")).issue();
/// # let _ = (valid, expired, malformed);
/// ```
#[cfg(feature = "test-authorization")]
#[derive(Clone, Debug)]
#[must_use = "a token is issued by `issue`"]
pub struct TestToken {
    shared: Arc<Shared>,
    grant: Grant,
    lifetime: Duration,
    typ: String,
    header: Members,
    claims: Members,
    /// Claims that are left out.
    omitted: Vec<String>,
}

impl TestToken {
    pub(super) fn new(shared: Arc<Shared>, user: String) -> Self {
        let lifetime = shared.settings.token_lifetime;
        Self {
            shared,
            grant: Grant {
                id: random(),
                client: "test".to_owned(),
                subject: user,
                scopes: Scopes::default(),
                resources: Vec::new(),
                key: None,
            },
            lifetime,
            typ: "at+jwt".to_owned(),
            header: Map::new(),
            claims: Map::new(),
            omitted: Vec::new(),
        }
    }

    /// Adds scopes, separated by spaces.
    ///
    /// # Panics
    ///
    /// If a scope is malformed.
    pub fn scope(mut self, scope: impl AsRef<str>) -> Self {
        let scopes: Result<Scopes, _> = scope.as_ref().parse();
        let scopes = scopes.expect("scopes consist of visible ASCII characters");
        self.grant.scopes = self.grant.scopes.union(&scopes);
        self
    }

    /// Adds a resource to the audience.
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.grant.resources.push(resource.into());
        self
    }

    /// Sets the client. Default `test`.
    pub fn client(mut self, id: impl Into<String>) -> Self {
        self.grant.client = id.into();
        self
    }

    /// Sets the lifetime. Default: the lifetime of the server's tokens.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Binds the token to a DPoP key with this SHA-256 thumbprint in base64url (RFC 7638).
    pub fn key_thumbprint(mut self, thumbprint: impl Into<String>) -> Self {
        self.grant.key = Some(thumbprint.into());
        self
    }

    /// Sets the type in the header. Default `at+jwt`. With another one, the token is not an access token: an ID token has
    /// the type `JWT`, and an identity assertion `oauth-id-jag+jwt`.
    pub fn typ(mut self, typ: impl Into<String>) -> Self {
        self.typ = typ.into();
        self
    }

    /// Sets a member of the header, whatever it means. The signature remains one of ES256.
    pub fn header(mut self, name: impl Into<String>, value: Value) -> Self {
        self.header.insert(name.into(), value);
        self
    }

    /// Sets a claim. It replaces the one of the same name.
    pub fn claim(mut self, name: impl Into<String>, value: Value) -> Self {
        self.claims.insert(name.into(), value);
        self
    }

    /// Leaves a claim out.
    pub fn without_claim(mut self, name: impl Into<String>) -> Self {
        self.omitted.push(name.into());
        self
    }

    /// Returns the contents of the token as after its verification, for [connections](crate::ResourceServer::connect) in the
    /// same process. Custom headers are left out, and so are custom claims that [`VerifiedToken`](crate::VerifiedToken) has
    /// fields for.
    #[cfg(feature = "authorization")]
    #[must_use]
    pub fn verified(mut self) -> crate::VerifiedToken {
        self.set_default_resources();
        let state = self.shared.state();
        let issued = self.shared.now(&state);
        let token = AccessToken {
            claims: self.custom_claims(),
            grant: self.grant.clone(),
            issued,
            expires: issued + self.lifetime,
            is_revoked: false,
        };
        super::verifier::describe(&self.shared, &token)
    }

    fn custom_claims(&self) -> Members {
        let mut claims = self.claims.clone();
        claims.retain(|name, _| !self.omitted.contains(name));
        claims
    }

    fn set_default_resources(&mut self) {
        if self.grant.resources.is_empty() {
            self.grant
                .resources
                .clone_from(&self.shared.settings.resources);
        }
    }

    /// Issues the token, and returns its text.
    #[must_use]
    pub fn issue(mut self) -> String {
        self.set_default_resources();
        let mut state = self.shared.state();
        let token = match self.shared.settings.token_format {
            TokenFormat::Opaque if self.typ == "at+jwt" => random(),
            _ => {
                let mut claims =
                    issue::access_claims(&self.shared, &state, &self.grant, self.lifetime);
                claims.extend(self.claims.clone());
                claims.retain(|name, _| !self.omitted.contains(name));
                state.keys.sign(&self.typ, &self.header, &claims)
            }
        };
        if self.typ == "at+jwt" {
            let issued = (token.as_str(), self.lifetime);
            let claims = self.custom_claims();
            issue::record(&self.shared, &mut state, issued, &self.grant, claims);
        }
        token
    }
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use serde_json::json;

    use super::*;
    use crate::Clock;
    use crate::jose::Jws;
    use crate::testing::TestAuthorizationServer;

    #[test]
    fn auth_s_03_access_tokens_are_of_the_resource_and_of_the_clock() {
        let time = UNIX_EPOCH + Duration::from_secs(1_000_000);
        let server = TestAuthorizationServer::builder()
            .resource("https://files.example/mcp")
            .clock(Clock::manual(time))
            .build();
        server.advance(Duration::from_secs(5));
        let token = server.token("alice").scope("b a").issue();
        let jws = Jws::parse(&token).unwrap();
        assert_eq!(jws.header().typ.as_deref(), Some("at+jwt"));
        let claims = jws.claims();
        assert_eq!(claims["iss"], "https://auth.example");
        assert_eq!(claims["aud"], "https://files.example/mcp");
        assert_eq!(claims["sub"], "alice");
        assert_eq!(claims["scope"], "a b");
        assert_eq!(claims["exp"], json!(1_000_005 + 300));
        assert!(super::super::keys::verify(&token, &server.jwks()).is_some());
    }

    #[test]
    fn claims_can_be_replaced_and_left_out() {
        let server = TestAuthorizationServer::builder().build();
        let token = server.token("alice").claim("exp", json!("soon"));
        let token = token.without_claim("sub").typ("JWT").issue();
        let jws = Jws::parse(&token).unwrap();
        assert_eq!(jws.claims()["exp"], "soon");
        assert!(!jws.claims().contains_key("sub"));
    }

    #[cfg(feature = "authorization")]
    #[tokio::test]
    async fn custom_claims_are_those_of_the_verified_token() {
        use crate::Verifier as _;

        let server = TestAuthorizationServer::builder().build();
        let token = server.token("alice").claim("plan", json!("pro"));
        let token = token.claim("sub", json!("mallory"));
        let token = token.claim("tenant", json!(1)).without_claim("tenant");
        let issued = token.clone().issue();
        let tokens = [token.verified(), server.verify(&issued).await.unwrap()];
        for token in tokens {
            assert_eq!(Value::Object(token.claims), json!({"plan": "pro"}));
            assert_eq!(token.subject, "alice");
        }
    }

    #[test]
    fn tokens_of_retired_keys_are_not_verified() {
        let server = TestAuthorizationServer::builder().build();
        let token = server.token("alice").issue();
        server.rotate_keys();
        assert!(super::super::keys::verify(&token, &server.jwks()).is_some());
        server.retire_keys();
        assert!(super::super::keys::verify(&token, &server.jwks()).is_none());
    }
}

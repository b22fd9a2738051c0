//! Verification of tokens without network, for servers under test.

use http::StatusCode;

use super::fault::{Endpoint, Fault};
use super::introspect::active;
use super::server::TestAuthorizationServer;
use super::state::{AccessToken, Shared};
use crate::{VerifiedToken, Verifier, VerifierFuture, VerifyError};

/// Claims that a verified token has fields for.
const FIELDS: [&str; 7] = ["iss", "sub", "aud", "exp", "client_id", "scope", "cnf"];

/// Verifies the tokens of the server itself without network: those that it has issued and that are neither expired nor
/// revoked. [`Fault::Status`] at [`Endpoint::Introspection`] makes it unavailable.
///
/// ```
/// use treenail::auth::ResourceServer;
/// use treenail::auth::testing::TestAuthorizationServer;
///
/// let resource = "https://files.example/mcp";
/// let authorization_server = TestAuthorizationServer::builder().resource(resource).build();
/// let authorization = ResourceServer::new(resource)
///     .issuer(authorization_server.issuer())
///     .verifier(authorization_server.clone());
/// # let _ = authorization;
/// ```
#[cfg(all(feature = "authorization", feature = "test-authorization"))]
impl Verifier for TestAuthorizationServer {
    fn verify<'a>(&'a self, token: &'a str) -> VerifierFuture<'a> {
        let shared = self.shared();
        let mut state = shared.state();
        let faults = state.faults.take(Endpoint::Introspection);
        let is_down =
            |fault: &Fault| matches!(fault, Fault::Status(_, status) if *status != StatusCode::OK);
        let verified = if faults.iter().any(is_down) {
            let retry_after = std::time::Duration::from_secs(1);
            Err(VerifyError::Unavailable { retry_after })
        } else {
            match (
                active(shared, &state, token),
                state.access_tokens.get(token),
            ) {
                (Some(token), _) => Ok(describe(shared, token)),
                (None, Some(token)) if !token.is_revoked => Err(VerifyError::Expired),
                (None, _) => Err(VerifyError::Invalid),
            }
        };
        Box::pin(std::future::ready(verified))
    }
}

/// Returns the contents of a token.
pub(super) fn describe(shared: &Shared, token: &AccessToken) -> VerifiedToken {
    let grant = &token.grant;
    let (issuer, subject) = (shared.settings.issuer(), grant.subject.clone());
    let audience = match grant.resources.as_slice() {
        [] => vec![issuer.clone()],
        resources => resources.to_vec(),
    };
    let mut verified = VerifiedToken::new(issuer, subject, audience, token.expires);
    verified.client_id = Some(grant.client.clone());
    verified.scopes = grant.scopes.clone();
    verified.key_thumbprint.clone_from(&grant.key);
    let is_field = |name: &str| FIELDS.contains(&name);
    let custom = token.claims.iter().filter(|(name, _)| !is_field(name));
    verified.claims = custom
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    verified
}

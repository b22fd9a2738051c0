//! Handle of the authorization server.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::Value;

use super::builder::TestAuthorizationServerBuilder;
use super::fault::{Endpoint, Fault};
use super::listener::Listener;
use super::record::RecordedRequest;
use super::reply::{Delivery, json_response};
use super::state::{Approval, Shared, random};
use super::test_client::TestClient;
use super::test_token::TestToken;

/// Authorization server in the same process, for tests.
///
/// It supports authorization codes with PKCE, refresh tokens with rotation, client credentials, token exchange, assertions,
/// pushed requests, DPoP, dynamic registration, introspection and revocation. Clones share the state.
///
/// The token of a user, for a test of a server:
///
/// ```
/// use treenail::auth::testing::TestAuthorizationServer;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let authorization_server = TestAuthorizationServer::builder()
///     .resource("https://files.example/mcp")
///     .start()
///     .await?;
///
/// // Configure the server under test with `authorization_server.issuer()`, and send:
/// let token = authorization_server.token("alice").scope("files:read").issue();
/// let header = format!("Bearer {token}");
/// # let _ = header;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "test-authorization")]
#[derive(Clone)]
pub struct TestAuthorizationServer {
    shared: Arc<Shared>,
    listener: Option<Arc<Listener>>,
}

impl TestAuthorizationServer {
    /// Returns a builder.
    pub fn builder() -> TestAuthorizationServerBuilder {
        TestAuthorizationServerBuilder::default()
    }

    pub(super) fn new(shared: Arc<Shared>, listener: Option<Listener>) -> Self {
        Self {
            shared,
            listener: listener.map(Arc::new),
        }
    }

    #[cfg(any(feature = "oauth", feature = "authorization"))]
    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Returns the issuer, such as `http://127.0.0.1:49152/tenant`.
    pub fn issuer(&self) -> String {
        self.shared.settings.issuer()
    }

    /// Returns the public keys, as a JWK set.
    pub fn jwks(&self) -> Value {
        self.shared.state().keys.jwks()
    }

    /// Starts an access token for a user, with which a test authenticates without a client.
    pub fn token(&self, user: impl Into<String>) -> TestToken {
        TestToken::new(Arc::clone(&self.shared), user.into())
    }

    /// Answers a request without network. The host of its URI does not matter.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::ConnectionReset`] for the fault [`Fault::LoseAnswer`].
    ///
    /// # Cancellation
    ///
    /// Only the faults [`Fault::Slow`] and [`Fault::Silent`] wait: they never end.
    pub async fn handle(&self, request: Request<Bytes>) -> io::Result<Response<Bytes>> {
        match self.shared.respond(&request) {
            Delivery::Whole(response) => Ok(response),
            Delivery::Huge(bytes) => {
                let mut response = json_response(StatusCode::OK, &Value::Null);
                let length = usize::try_from(bytes).map_err(io::Error::other)?;
                *response.body_mut() = vec![b' '; length].into();
                Ok(response)
            }
            Delivery::Slow | Delivery::Silent => std::future::pending().await,
            Delivery::Lost => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }

    /// Registers a client, or replaces the one with the same id.
    pub fn add_client(&self, client: TestClient) {
        let mut state = self.shared.state();
        state.clients.insert(client.id.clone(), client);
    }

    /// Removes a client. Its requests are refused with `invalid_client`.
    pub fn remove_client(&self, id: &str) {
        self.shared.state().clients.remove(id);
    }

    /// Signs another user in.
    pub fn sign_in(&self, user: impl Into<String>) {
        self.shared.state().user = user.into();
    }

    /// Sets the decision of the user for the next authorization requests.
    pub fn approve(&self, approval: Approval) {
        self.shared.state().approval = approval;
    }

    /// Switches a fault on, until [`clear_faults`](Self::clear_faults).
    pub fn inject(&self, fault: Fault) {
        self.shared.state().faults.push(fault, None);
    }

    /// Switches a fault on for the next request of its endpoint.
    pub fn inject_once(&self, fault: Fault) {
        self.shared.state().faults.push(fault, Some(1));
    }

    /// Switches all faults off.
    pub fn clear_faults(&self) {
        self.shared.state().faults.clear();
    }

    /// Signs with another key from now on. The former key remains published.
    ///
    /// A `JwtVerifier` fetches keys at most once in 30 s. Within this time after a fetch, it refuses tokens of
    /// the new key with status 401. As the verifier of a resource server, this server itself knows the new key at once.
    pub fn rotate_keys(&self) {
        self.shared.state().keys.rotate();
    }

    /// Publishes the current key only. Tokens that former keys have signed become invalid.
    pub fn retire_keys(&self) {
        self.shared.state().keys.retire();
    }

    /// Demands another DPoP nonce from now on.
    pub fn rotate_dpop_nonce(&self) {
        self.shared.state().nonce = random();
    }

    /// Revokes all tokens of a user.
    pub fn revoke_user(&self, user: &str) {
        let mut state = self.shared.state();
        for token in state.access_tokens.values_mut() {
            token.is_revoked |= token.grant.subject == user;
        }
        for token in state.refresh_tokens.values_mut() {
            token.is_revoked |= token.grant.subject == user;
        }
    }

    /// Returns the time of its clock.
    pub fn now(&self) -> SystemTime {
        let state = self.shared.state();
        self.shared.now(&state)
    }

    /// Sets its clock ahead of the configured one, so that its tokens expire for itself before others notice.
    pub fn advance(&self, duration: Duration) {
        self.shared.state().advanced += duration;
    }

    /// Returns the received requests, in their order.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.state().requests.clone()
    }

    /// Returns the requests that one endpoint has received, in their order.
    pub fn requests_at(&self, endpoint: Endpoint) -> Vec<RecordedRequest> {
        let state = self.shared.state();
        let requests = state.requests.iter();
        let requests = requests.filter(|request| request.endpoint == endpoint);
        requests.cloned().collect()
    }

    /// Forgets the received requests.
    pub fn clear_requests(&self) {
        self.shared.state().requests.clear();
    }
}

impl fmt::Debug for TestAuthorizationServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TestAuthorizationServer")
            .field("issuer", &self.issuer())
            .field("listens", &self.listener.is_some())
            .finish_non_exhaustive()
    }
}

//! Configuration of the authorization server.

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpListener;

use super::fault::Faults;
use super::keys::Keys;
use super::listener::Listener;
use super::state::{
    Approval, RefreshTokens, Registration, Settings, Shared, State, TokenFormat, random,
};
use super::test_client::TestClient;
use super::{TestAuthorizationServer, cimd};
use crate::{Clock, Scopes};

/// Builder of a [`TestAuthorizationServer`].
///
/// ```
/// use std::time::Duration;
/// use treenail::auth::testing::{TestAuthorizationServer, TestClient};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = TestAuthorizationServer::builder()
///     .path("/tenant")
///     .user("alice")
///     .client(TestClient::public("desktop"))
///     .resource("https://files.example/mcp")
///     .scopes("files:read files:write".parse()?)
///     .access_token_lifetime(Duration::from_secs(60))
///     .start()
///     .await?;
/// assert!(server.issuer().ends_with("/tenant"));
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "test-authorization")]
#[derive(Debug)]
#[must_use = "a builder does nothing until `start` or `build` is called"]
pub struct TestAuthorizationServerBuilder {
    settings: Settings,
    clients: HashMap<String, TestClient>,
    user: String,
    approval: Approval,
}

impl Default for TestAuthorizationServerBuilder {
    fn default() -> Self {
        Self {
            settings: Settings {
                origin: "https://auth.example".to_owned(),
                path: String::new(),
                resources: Vec::new(),
                scopes: Scopes::default(),
                token_lifetime: Duration::from_secs(300),
                refresh: RefreshTokens::Rotating,
                token_format: TokenFormat::Jwt,
                requires_dpop: false,
                requires_nonce: false,
                requires_pushed: false,
                registration: Registration::Open,
                trusted: HashMap::new(),
                clock: Clock::system(),
            },
            clients: HashMap::new(),
            user: "user".to_owned(),
            approval: Approval::All,
        }
    }
}

impl TestAuthorizationServerBuilder {
    /// Sets the path of the issuer, such as `/tenant`. Default: none.
    pub fn path(mut self, path: impl AsRef<str>) -> Self {
        let path = path.as_ref().trim_matches('/');
        self.settings.path = match path {
            "" => String::new(),
            path => format!("/{path}"),
        };
        self
    }

    /// Sets the origin of the issuer for [`build`](Self::build). Default `https://auth.example`.
    pub fn origin(mut self, origin: impl AsRef<str>) -> Self {
        let origin = origin.as_ref().trim_end_matches('/');
        origin.clone_into(&mut self.settings.origin);
        self
    }

    /// Sets the name of the signed-in user. Default `user`.
    pub fn user(mut self, user: impl Into<String>) -> Self {
        self.user = user.into();
        self
    }

    /// Sets the decision of the user. Default [`Approval::All`].
    pub fn approval(mut self, approval: Approval) -> Self {
        self.approval = approval;
        self
    }

    /// Registers a client.
    pub fn client(mut self, client: TestClient) -> Self {
        self.clients.insert(client.id.clone(), client);
        self
    }

    /// Registers a client by its metadata document, whose `client_id` is the URL of the document.
    ///
    /// The server fetches no documents: a client id that is a URL is known only if its document was given.
    pub fn client_metadata(self, document: &Value) -> Self {
        let client = cimd::client_of(document);
        self.client(client)
    }

    /// Adds a resource that tokens are issued for. Default: tokens are issued for each resource that a client asks for.
    ///
    /// Other resources are refused with `invalid_target`.
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.settings.resources.push(resource.into());
        self
    }

    /// Sets the scopes that exist and that the metadata lists. Default: each scope exists, and none is listed.
    ///
    /// Other scopes are refused with `invalid_scope`.
    pub fn scopes(mut self, scopes: Scopes) -> Self {
        self.settings.scopes = scopes;
        self
    }

    /// Sets the lifetime of access tokens. Default 5 minutes.
    pub fn access_token_lifetime(mut self, lifetime: Duration) -> Self {
        self.settings.token_lifetime = lifetime;
        self
    }

    /// Issues opaque access tokens in place of JWTs, which resource servers verify by introspection.
    pub fn opaque_access_tokens(mut self) -> Self {
        self.settings.token_format = TokenFormat::Opaque;
        self
    }

    /// Issues no refresh tokens.
    pub fn without_refresh_tokens(mut self) -> Self {
        self.settings.refresh = RefreshTokens::None;
        self
    }

    /// Issues refresh tokens that can be used more than once. Default: each use returns another one, and the second use of
    /// the same one revokes all tokens of its grant.
    pub fn reusable_refresh_tokens(mut self) -> Self {
        self.settings.refresh = RefreshTokens::Reusable;
        self
    }

    /// Disables dynamic client registration.
    pub fn without_registration(mut self) -> Self {
        self.settings.registration = Registration::None;
        self
    }

    /// Refuses token requests without a DPoP proof. Default: tokens are bound to a key if the request contains a proof.
    pub fn require_dpop(mut self) -> Self {
        self.settings.requires_dpop = true;
        self
    }

    /// Requires a nonce in DPoP proofs. The first proof is refused with `use_dpop_nonce`.
    pub fn require_dpop_nonce(mut self) -> Self {
        self.settings.requires_nonce = true;
        self
    }

    /// Refuses authorization requests that were not pushed (RFC 9126).
    pub fn require_pushed_requests(mut self) -> Self {
        self.settings.requires_pushed = true;
        self
    }

    /// Accepts assertions of another server for the grant `jwt-bearer`: identity assertions (ID-JAG) of an enterprise's
    /// identity provider, or tokens of a workload platform.
    pub fn trust(self, issuer: &TestAuthorizationServer) -> Self {
        let jwks = issuer.jwks();
        self.trust_issuer(issuer.issuer(), jwks)
    }

    /// Accepts assertions of the issuer with these public keys for the grant `jwt-bearer`.
    pub fn trust_issuer(mut self, issuer: impl Into<String>, jwks: Value) -> Self {
        self.settings.trusted.insert(issuer.into(), jwks);
        self
    }

    /// Sets the source of the time, which the server or client under test may share. Default: the system.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.settings.clock = clock;
        self
    }

    /// Makes a server without a listener. [`TestAuthorizationServer::handle`] answers requests.
    pub fn build(self) -> TestAuthorizationServer {
        TestAuthorizationServer::new(self.into_shared(), None)
    }

    /// Starts a server that listens on a free port of 127.0.0.1. The port is part of the issuer.
    ///
    /// It stops when the last clone of the returned handle is dropped.
    ///
    /// # Errors
    ///
    /// The error of the socket.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    pub async fn start(mut self) -> io::Result<TestAuthorizationServer> {
        let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        self.settings.origin = format!("http://{}", socket.local_addr()?);
        let shared = self.into_shared();
        let listener = Listener::spawn(socket, shared.clone());
        Ok(TestAuthorizationServer::new(shared, Some(listener)))
    }

    fn into_shared(self) -> std::sync::Arc<Shared> {
        let state = State {
            keys: Keys::generate(),
            clients: self.clients,
            user: self.user,
            approval: self.approval,
            codes: HashMap::new(),
            pushed: HashMap::new(),
            access_tokens: HashMap::new(),
            refresh_tokens: HashMap::new(),
            used_ids: std::collections::HashSet::new(),
            nonce: random(),
            faults: Faults::default(),
            requests: Vec::new(),
            advanced: Duration::ZERO,
        };
        std::sync::Arc::new(Shared::new(self.settings, state))
    }
}

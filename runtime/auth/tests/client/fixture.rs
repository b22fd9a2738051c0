//! MCP server with authorization, and an authorization server whose user approves each request at once.

use std::time::SystemTime;

use bytes::Bytes;
use http::{Request, header};
use tokio::task::JoinHandle;
use treenail::auth::testing::{
    Endpoint, RecordedRequest, TestAuthorizationServer, TestAuthorizationServerBuilder,
};
use treenail::auth::{
    AuthError, AuthorizationRequest, Callback, ClientCredentials, Clock, OAuth, ResourceServer,
};
use treenail::prelude::*;

pub(crate) const REDIRECT_URI: &str = "http://127.0.0.1:4000/callback";

struct Notes;

#[mcp_tool]
impl Notes {
    /// Returns the names of the extensions that the client declares.
    #[tool]
    #[allow(clippy::unused_self, reason = "a tool of a type is a method")]
    fn extensions(&self, cx: &Context) -> String {
        let extensions = cx.client_capabilities().extensions.as_ref();
        let names = extensions.map(|extensions| extensions.keys().cloned().collect::<Vec<_>>());
        names.unwrap_or_default().join(" ")
    }
}

/// A server with its authorization server, on a common clock.
pub(crate) struct World {
    pub(crate) authorization: TestAuthorizationServer,
    pub(crate) clock: Clock,
    pub(crate) url: String,
    server: Server,
    serving: JoinHandle<treenail::Result<()>>,
}

impl World {
    pub(crate) async fn start() -> Self {
        Self::with(|builder| builder, |resource| resource).await
    }

    /// Starts both servers with these configurations.
    pub(crate) async fn with(
        authorization: impl FnOnce(TestAuthorizationServerBuilder) -> TestAuthorizationServerBuilder,
        resource: impl FnOnce(ResourceServer) -> ResourceServer,
    ) -> Self {
        let clock = Clock::manual(SystemTime::now());
        let builder = TestAuthorizationServer::builder().clock(clock.clone());
        let authorization = authorization(builder).start().await.expect("a free port");
        let server = Server::builder("notes", "1.0.0").mount(Notes).build();
        let server = server.expect("valid tools");
        let http = server.bind_http("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}/mcp", http.local_addr());
        let configuration = ResourceServer::new(url.as_str())
            .issuer(authorization.issuer())
            .clock(clock.clone());
        let http = http.authorize(resource(configuration)).expect("valid");
        Self {
            authorization,
            clock,
            url,
            server,
            serving: tokio::spawn(http.serve()),
        }
    }

    /// Connects, and calls the tool.
    pub(crate) async fn call(&self, oauth: &OAuth) -> Result<String, ClientError> {
        extensions(&self.connect(oauth).await?).await
    }

    pub(crate) async fn connect(&self, oauth: &OAuth) -> Result<McpClient, ClientError> {
        let builder = McpClient::builder().url(self.url.as_str());
        builder.authorization(oauth.clone()).build().await
    }

    /// Returns credentials that belong to the authorization server.
    pub(crate) fn bound(&self, credentials: ClientCredentials) -> ClientCredentials {
        credentials.issuer(self.authorization.issuer())
    }

    /// Returns a client whose user signs in at the authorization server.
    pub(crate) fn user(&self) -> OAuth {
        let oauth = OAuth::callback("test client", approve(self.authorization.clone()));
        oauth.clock(self.clock.clone())
    }

    pub(crate) fn token_requests(&self) -> Vec<RecordedRequest> {
        self.authorization.requests_at(Endpoint::Token)
    }

    pub(crate) async fn finish(self) {
        self.server.close();
        self.serving.await.expect("no panic").expect("no error");
    }
}

/// Calls the tool.
pub(crate) async fn extensions(client: &McpClient) -> Result<String, ClientError> {
    client.call_tool_as("extensions", ()).await
}

/// Returns a user agent that requests the URL, and returns the redirect.
pub(crate) fn approve(server: TestAuthorizationServer) -> Callback {
    Callback::new(REDIRECT_URI, move |request: AuthorizationRequest| {
        let server = server.clone();
        async move {
            let request = Request::get(request.url()).body(Bytes::new());
            let response = server.handle(request.expect("a request")).await;
            let response = response.expect("a response");
            let location = response.headers().get(header::LOCATION);
            let location = location.and_then(|location| location.to_str().ok());
            let failed = || AuthError::NotAuthorized("no redirect".into());
            location.map(str::to_owned).ok_or_else(failed)
        }
    })
}

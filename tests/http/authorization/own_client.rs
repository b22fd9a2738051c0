//! Sign-in without network: both servers are HTTP clients in the same process.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::Request;
use serde_json::json;
use treenail::auth::testing::{TestAuthorizationServer, TestClient};
use treenail::auth::{
    AuthError, ClientCredentials, FetchPolicy, HttpClient, HttpClientBody, HttpClientFuture,
    JwtVerifier, OAuth, ResourceServer,
};
use treenail::client::HttpSession;
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;
use treenail::schema::Revision;

use super::RESOURCE;

/// Returns the client that has called.
#[mcp_tool]
fn whoami(cx: &Context) -> Option<String> {
    Some(cx.grant()?.subject().to_owned())
}

/// The servers by their hosts, and a record of the URLs.
#[derive(Clone)]
struct Network {
    users: Arc<TestAuthorizationServer>,
    /// Responds to requests for all other hosts.
    mcp: Option<HttpService>,
    urls: Arc<Mutex<Vec<String>>>,
}

impl HttpClient for Network {
    fn send(&self, request: Request<Bytes>) -> HttpClientFuture<'_> {
        self.urls.lock().unwrap().push(request.uri().to_string());
        match &self.mcp {
            Some(mcp) if request.uri().host() == Some("mcp.example.com") => mcp.send(request),
            _ => Box::pin(async move {
                let response = self.users.handle(request).await?;
                Ok(response.map(HttpClientBody::from))
            }),
        }
    }
}

#[tokio::test]
async fn both_halves_use_the_client_of_the_program() {
    let planner = TestClient::secret("planner", "s3cret");
    let users = TestAuthorizationServer::builder().client(planner);
    let users = Arc::new(users.resource(RESOURCE).build());
    let mut network = Network {
        users: Arc::clone(&users),
        mcp: None,
        urls: Arc::default(),
    };
    let policy = |network: &Network| FetchPolicy::default().http_client(network.clone());
    let verifier = JwtVerifier::builder(users.issuer()).fetch_policy(policy(&network));
    let resource = ResourceServer::new(RESOURCE)
        .issuer(users.issuer())
        .verifier(verifier.build().unwrap());
    let server = Server::builder("notes", "1.0.0").tools(tools![whoami]);
    let service = http_service(server.build().unwrap()).allow_host("mcp.example.com");
    network.mcp = Some(service.authorize(resource).unwrap());

    for revision in [Revision::V2025_11_25, Revision::LATEST] {
        let credentials = ClientCredentials::secret("planner", "s3cret").issuer(users.issuer());
        let oauth = OAuth::client_credentials(credentials).fetch_policy(policy(&network));
        let http = HttpSession::builder(RESOURCE).http_client(network.clone());
        let client = McpClient::builder().http(http).authorization(oauth);
        let client = client.protocol_version(revision).build().await.unwrap();
        let subject: String = client.call_tool_as("whoami", json!({})).await.unwrap();
        assert_eq!(subject, "planner", "{revision}");
        client.close().await.unwrap();
    }
    let urls = network.urls.lock().unwrap();
    for part in [
        "oauth-protected-resource",
        "oauth-authorization-server",
        "jwks",
        "token",
    ] {
        assert!(
            urls.iter().any(|url| url.contains(part)),
            "{part}: {urls:?}"
        );
    }
}

#[test]
fn a_client_beside_settings_of_tls_is_an_error() {
    let users = Arc::new(TestAuthorizationServer::builder().build());
    let network = Network {
        users,
        mcp: None,
        urls: Arc::default(),
    };
    let policy = FetchPolicy::default()
        .tls(treenail::auth::TlsConfig::new())
        .http_client(network);
    let verifier = JwtVerifier::builder("https://auth.example").fetch_policy(policy);
    let built = verifier.build();
    assert!(matches!(built, Err(AuthError::Invalid(_))), "{built:?}");
}

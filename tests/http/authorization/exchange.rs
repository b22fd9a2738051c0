//! Exchange of the token of a caller for a token of another service.

use serde_json::json;
use treenail::auth::testing::{Endpoint, Fault, TestAuthorizationServer, TestClient};
use treenail::auth::{ResourceServer, TokenExchange};
use treenail::http::{HttpService, http_service};
use treenail::prelude::*;

use super::{RESOURCE, with_token};
use crate::client::Post;

const CALENDAR: &str = "https://calendar.example.com";

/// Exchanges the token of the caller, and returns the other one.
#[mcp_tool]
async fn exchange(cx: &Context, audience: String, scope: String) -> Result<String, ToolError> {
    let Some(caller) = cx.caller_token() else {
        return Ok("no token".to_owned());
    };
    assert_eq!(format!("{caller:?}"), "CallerToken { .. }", "AUTH-R-48");
    let exchanged = caller.exchange(audience, scope.parse()?).await?;
    assert!(!format!("{exchanged:?}").contains(exchanged.token.expose()));
    assert!(exchanged.expires_at.is_some());
    Ok(exchanged.token.expose().to_owned())
}

/// Returns the caller.
#[mcp_tool]
fn caller(cx: &Context) -> String {
    let grant = cx.grant().unwrap();
    format!("{} {}", grant.subject(), grant.scopes())
}

fn service(resource: ResourceServer) -> HttpService {
    let server = Server::builder("demo", "1.0.0").tools(tools![exchange, caller]);
    http_service(server.build().unwrap())
        .authorize(resource)
        .unwrap()
}

async fn call(service: &HttpService, post: Post, token: &str) -> (u16, String) {
    let response = with_token(post, token).send(service).await;
    (response.status.as_u16(), response.body)
}

#[tokio::test]
async fn a_token_is_exchanged_for_the_allowed_audiences_only() {
    let client = TestClient::secret("mcp-server", "s3cret/+");
    let server = TestAuthorizationServer::builder().client(client);
    let server = server
        .resource(RESOURCE)
        .resource(CALENDAR)
        .start()
        .await
        .unwrap();
    let other = TestAuthorizationServer::builder().start().await.unwrap();
    let exchange = TokenExchange::new(server.issuer(), "mcp-server", "s3cret/+").audience(CALENDAR);
    assert!(!format!("{exchange:?}").contains("s3cret"));
    let resource = ResourceServer::new(RESOURCE)
        .issuer(server.issuer())
        .issuer(other.issuer())
        .token_exchange(exchange.clone());
    let mcp = service(resource);
    let calendar = service(ResourceServer::new(CALENDAR).issuer(server.issuer()));
    let token = server
        .token("alice")
        .resource(RESOURCE)
        .scope("read write")
        .issue();
    let post = |audience: &str, scope: &str| {
        Post::tool("exchange", json!({"audience": audience, "scope": scope}))
    };

    let response = with_token(post(CALENDAR, "read"), &token).send(&mcp).await;
    let exchanged = response.json()["result"]["content"][0]["text"]
        .as_str()
        .unwrap()
        .to_owned();
    let (status, body) = call(&calendar, Post::tool("caller", json!({})), &exchanged).await;
    assert_eq!(status, 200, "AUTH-R-48: {body}");
    assert!(body.contains("alice read\""), "AUTH-R-48: {body}");
    let (status, _) = call(&mcp, Post::tool("caller", json!({})), &exchanged).await;
    assert_eq!(
        status, 401,
        "AUTH-R-45 AUTH-X-35: a token of another service"
    );
    let (status, _) = call(&calendar, Post::tool("caller", json!({})), &token).await;
    assert_eq!(
        status, 401,
        "AUTH-R-45: the token of the caller is for this server only"
    );

    let requests = server.requests_at(Endpoint::Token).len();
    for audience in [
        "https://evil.example",
        RESOURCE,
        "https://calendar.example.com/x",
    ] {
        let (_, body) = call(&mcp, post(audience, ""), &token).await;
        assert!(
            body.contains("is not an audience of the token exchange"),
            "AUTH-X-35: {body}"
        );
    }
    assert_eq!(
        server.requests_at(Endpoint::Token).len(),
        requests,
        "AUTH-X-35"
    );
    let (_, body) = call(&mcp, post(CALENDAR, "admin"), &token).await;
    assert!(body.contains("invalid_scope"), "{body}");

    let foreign = other.token("alice").resource(RESOURCE).issue();
    let (_, body) = call(&mcp, post(CALENDAR, ""), &foreign).await;
    assert!(
        body.contains("no token"),
        "a token goes to its own issuer only: {body}"
    );

    let own = ResourceServer::new(RESOURCE).issuer(server.issuer());
    let own = own.token_exchange(exchange.audience(RESOURCE));
    let error = own.metadata_service().unwrap_err().to_string();
    assert!(error.contains("for this server itself"), "{error}");
}

#[tokio::test]
async fn an_exchanged_token_that_is_no_access_token_is_refused() {
    let client = TestClient::secret("mcp-server", "s3cret");
    let server = TestAuthorizationServer::builder().client(client);
    let server = server.resource(RESOURCE).resource(CALENDAR).start();
    let server = server.await.unwrap();
    let exchange = TokenExchange::new(server.issuer(), "mcp-server", "s3cret").audience(CALENDAR);
    let resource = ResourceServer::new(RESOURCE).issuer(server.issuer());
    let mcp = service(resource.token_exchange(exchange));
    let token = server.token("alice").resource(RESOURCE).issue();
    let post = || Post::tool("exchange", json!({"audience": CALENDAR, "scope": ""}));
    for (member, value) in [
        (
            "issued_token_type",
            "urn:ietf:params:oauth:token-type:refresh_token",
        ),
        (
            "issued_token_type",
            "urn:ietf:params:oauth:token-type:id_token",
        ),
        ("token_type", "DPoP"),
    ] {
        server.inject_once(Fault::Replace(Endpoint::Token, member, json!(value)));
        let (_, body) = call(&mcp, post(), &token).await;
        assert!(body.contains(&format!("`{member}` must be")), "{body}");
    }
    let (_, body) = call(&mcp, post(), &token).await;
    assert!(!body.contains("must be"), "AUTH-R-48: {body}");
}

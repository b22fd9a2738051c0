//! The example `login` at the example `protected`: both sides of the authorization, over sockets.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use serde_json::json;
use treenail::auth::testing::{Approval, Endpoint, TestAuthorizationServer};
use treenail::auth::{AuthError, AuthorizationRequest, Callback, OAuth};
use treenail::prelude::*;

use crate::login::tool_names;
use crate::protected::bind;

/// Starts both servers, and returns the URL of the MCP server.
async fn start() -> (TestAuthorizationServer, String) {
    let authorization_server = TestAuthorizationServer::builder().start().await.unwrap();
    let issuer = authorization_server.issuer();
    let http = bind(&issuer, "127.0.0.1:0");
    let http = http.await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    tokio::spawn(http.serve());
    (authorization_server, url)
}

/// Returns a client whose user approves each request at once.
fn oauth() -> OAuth {
    let redirect_uri = "http://127.0.0.1:4000/callback";
    OAuth::callback("login", Callback::new(redirect_uri, approve))
}

async fn approve(request: AuthorizationRequest) -> Result<String, AuthError> {
    let url = request.url().to_owned();
    let location = tokio::task::spawn_blocking(move || location(&url))
        .await
        .unwrap();
    location.map_err(|error| AuthError::NotAuthorized(error.to_string().into()))
}

/// Requests the URL as a browser would, and returns the `Location` of the response.
fn location(url: &str) -> io::Result<String> {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, target) = rest.split_at(rest.find('/').unwrap());
    let mut stream = TcpStream::connect(host)?;
    let request = format!("GET {target} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    let mut headers = response.lines().filter_map(|line| line.split_once(": "));
    let location = headers.find(|(name, _)| name.eq_ignore_ascii_case("location"));
    Ok(location.unwrap().1.to_owned())
}

#[tokio::test]
async fn the_example_signs_in_and_lists_the_tools() {
    let (authorization_server, url) = start().await;
    let names = tool_names(&url, oauth()).await.unwrap();
    assert_eq!(names, ["notes.list", "notes.add"]);
    let asked = authorization_server.requests_at(Endpoint::Authorization);
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].parameter("resource"), Some(&*url), "AUTH-C-74");
}

#[tokio::test]
async fn a_tool_that_needs_more_scopes_leads_to_a_step_up() {
    let (authorization_server, url) = start().await;
    let client = McpClient::builder().url(&*url).oauth(oauth());
    let client = client.build().await.unwrap();
    client.call_tool("notes.list", json!({})).await.unwrap();
    client
        .call_tool("notes.add", json!({"text": "milk"}))
        .await
        .unwrap();
    let notes = client.call_tool("notes.list", json!({})).await.unwrap();
    assert!(json!(notes).to_string().contains("user: milk"));
    let asked = authorization_server.requests_at(Endpoint::Authorization);
    let scopes: Vec<_> = asked
        .iter()
        .filter_map(|one| one.parameter("scope"))
        .collect();
    assert_eq!(
        scopes,
        ["notes:read", "notes:read notes:write"],
        "AUTH-C-106"
    );
    client.close().await.unwrap();
}

#[tokio::test]
async fn a_user_who_declines_ends_the_flow() {
    let (authorization_server, url) = start().await;
    authorization_server.approve(Approval::Denied);
    let error = tool_names(&url, oauth()).await.unwrap_err();
    assert!(error.to_string().contains("access_denied"), "{error}");
    assert_eq!(
        authorization_server
            .requests_at(Endpoint::Authorization)
            .len(),
        1
    );
}

//! The example `login` at the example `protected`: both sides of the authorization, over sockets.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use treenail::auth::testing::{Approval, Endpoint, TestAuthorizationServer};
use treenail::auth::{
    AuthError, AuthorizationRequest, Callback, ContextExt as _, OAuth, ResourceServer,
};
use treenail::prelude::*;
use treenail::schema::{ReadResourceResult, TextResourceContents};

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
    let client = McpClient::builder().url(&*url).authorization(oauth());
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

/// A resource that depends on the user, with the number of its reads.
#[derive(Clone, Default)]
struct Desk(Arc<AtomicU32>);

#[mcp_tool]
impl Desk {
    /// The user.
    #[resource("desk://me")]
    async fn me(&self, cx: &Context) -> ReadResourceResult {
        self.0.fetch_add(1, Ordering::Relaxed);
        let user = cx.grant().unwrap().subject().to_owned();
        let contents = TextResourceContents::new("desk://me", user);
        let mut read = ReadResourceResult::new([contents.into()]);
        read.ttl_ms = Some(3_600_000);
        read
    }
}

#[tokio::test]
async fn cached_results_of_a_user_are_not_those_of_the_next() {
    let authorization_server = TestAuthorizationServer::builder().user("alice");
    let authorization_server = authorization_server.start().await.unwrap();
    let desk = Desk::default();
    let server = treenail::server!().mount(desk.clone()).build().unwrap();
    let http = server.bind_http("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", http.local_addr());
    let resource = ResourceServer::new(&*url).issuer(authorization_server.issuer());
    tokio::spawn(http.authorize(resource).unwrap().serve());
    let oauth = oauth();
    let client = McpClient::builder().url(&*url).authorization(oauth.clone());
    let client = client.build().await.unwrap();
    let read = async || json!(*client.read_resource("desk://me").await.unwrap()).to_string();
    assert!(read().await.contains("alice"));
    assert!(read().await.contains("alice"));
    assert_eq!(
        desk.0.load(Ordering::Relaxed),
        1,
        "the second read is from the cache"
    );
    oauth.logout(&url).await.unwrap();
    authorization_server.sign_in("bob");
    assert!(read().await.contains("bob"), "AUTH-X-32 AUTH-C-120");
    client.close().await.unwrap();
}

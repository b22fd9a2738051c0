//! A server with authorization: an OAuth resource server whose tokens are given by the tests.

mod binding;
mod configuration;
mod example;
mod exchange;
mod in_memory;
mod login;
mod metadata;
mod refusals;
mod scopes;
mod step_up;
mod streams;
mod visibility;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use treenail::auth::{
    Clock, ContextExt as _, ResourceServer, VerifiedToken, Verifier, VerifierFuture, VerifyError,
};
use treenail::http::{HttpService, SsePaths, http_service};
use treenail::prelude::*;
use treenail::schema::{CacheScope, ReadResourceResult, TextResourceContents};
use treenail::scope::OneOf;
use treenail::{Limits, ServerBuilder};

use crate::client::{CompleteResponse, Post};

pub(crate) const RESOURCE: &str = "https://mcp.example.com/mcp";
const METADATA: &str = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
const ISSUER: &str = "https://id.example.com";
const OTHER_ISSUER: &str = "https://id.example.org";

/// Lifetime of tokens, without the leeway of the server.
const LIFETIME: Duration = Duration::from_secs(300);
const LEEWAY: Duration = Duration::from_secs(60);

/// Tokens by their texts.
#[derive(Clone, Default)]
struct Tokens(Arc<Mutex<HashMap<String, Result<VerifiedToken, VerifyError>>>>);

impl Verifier for Tokens {
    fn verify<'a>(&'a self, token: &'a str) -> VerifierFuture<'a> {
        let known = self.0.lock().unwrap().get(token).cloned();
        Box::pin(async move { known.unwrap_or(Err(VerifyError::Invalid)) })
    }
}

/// Server with its tokens.
struct Guarded {
    service: HttpService,
    tokens: Tokens,
    clock: Clock,
}

impl Guarded {
    fn new() -> Self {
        Self::with(|resource| resource)
    }

    fn with(change: impl FnOnce(ResourceServer) -> ResourceServer) -> Self {
        Self::of(builder(), change)
    }

    fn of(server: ServerBuilder, change: impl FnOnce(ResourceServer) -> ResourceServer) -> Self {
        let clock = Clock::manual(SystemTime::UNIX_EPOCH + Duration::from_secs(1_800_000_000));
        let tokens = Tokens::default();
        let resource = resource_server(&tokens).clock(clock.clone());
        let service = http_service(server.build().unwrap()).legacy_sse(SsePaths::default());
        Self {
            service: service.authorize(change(resource)).unwrap(),
            tokens,
            clock,
        }
    }

    /// Returns a token of alice.
    fn token(&self, scopes: &str) -> String {
        self.token_of(ISSUER, "alice", scopes)
    }

    fn token_of(&self, issuer: &str, subject: &str, scopes: &str) -> String {
        self.issue(issuer, subject, |token| {
            token.scopes = scopes.parse().unwrap();
        })
    }

    fn issue(
        &self,
        issuer: &str,
        subject: &str,
        change: impl FnOnce(&mut VerifiedToken),
    ) -> String {
        let expires_at = self.clock.now() + LIFETIME;
        let mut token = VerifiedToken::new(issuer, subject, [RESOURCE], expires_at);
        change(&mut token);
        self.answer(Ok(token))
    }

    /// Returns a token for which the verifier has this result.
    fn answer(&self, verified: Result<VerifiedToken, VerifyError>) -> String {
        let mut tokens = self.tokens.0.lock().unwrap();
        let text = format!("token-{}", tokens.len());
        tokens.insert(text.clone(), verified);
        text
    }

    async fn send(&self, post: Post, token: &str) -> CompleteResponse {
        with_token(post, token).send(&self.service).await
    }

    /// Sends a request of alice with these scopes.
    async fn send_with(&self, post: Post, scopes: &str) -> CompleteResponse {
        self.send(post, &self.token(scopes)).await
    }
}

fn resource_server(tokens: &Tokens) -> ResourceServer {
    ResourceServer::new(RESOURCE)
        .issuer(ISSUER)
        .issuer(OTHER_ISSUER)
        .verifier(tokens.clone())
        .scopes([
            "files",
            "files:read",
            "files:write",
            "files:audit",
            "files:admin",
        ])
        .basic_scopes(["files:read"])
        .implies("files", ["files:read", "files:write"])
}

fn with_token(post: Post, token: &str) -> Post {
    post.with("authorization", format!("Bearer {token}"))
}

fn tool(name: &str) -> Post {
    Post::tool(&format!("files.{name}"), json!({}))
}

/// Fails unless the response is a refusal with this challenge.
fn expect_challenge(response: &CompleteResponse, status: u16, challenge: &str, claim: &str) {
    assert_eq!(response.status, status, "{claim}: {response:?}");
    assert_eq!(
        response.header("www-authenticate"),
        Some(challenge),
        "{claim}"
    );
    assert_eq!(
        response.header("cache-control"),
        Some("no-store"),
        "{claim}"
    );
}

/// Fails unless the response is a refusal that asks for these scopes.
fn expect_forbidden(response: &CompleteResponse, scopes: &str, claim: &str) {
    let description = "the token does not grant all scopes that the request needs";
    let challenge = format!(
        "Bearer resource_metadata=\"{METADATA}\", scope=\"{scopes}\", error=\"insufficient_scope\", error_description=\"{description}\""
    );
    expect_challenge(response, 403, &challenge, claim);
    let body = json!({"error": "insufficient_scope", "error_description": description});
    assert_eq!(response.json(), body, "AUTH-R-21");
}

pub(crate) struct Files;

#[mcp_tool(namespace = "files", scope = "files:read")]
impl Files {
    /// Describes the caller.
    #[tool]
    fn read(cx: &Context) -> String {
        let (principal, grant) = (cx.principal().unwrap(), cx.grant().unwrap());
        assert!(grant.audience().contains(&RESOURCE.to_owned()));
        let (issuer, subject) = (grant.issuer(), grant.subject());
        format!("{principal}; {issuer}; {subject}; {}", grant.scopes())
    }

    /// Writes. `scope` is one that the call needs in addition.
    #[tool(scope = "files:write")]
    async fn write(
        &self,
        cx: &Context,
        scope: Option<String>,
        #[arg(default)] reports: bool,
        #[arg(default)] recovers: bool,
    ) -> Result<&'static str, ToolError> {
        if reports {
            cx.progress(1).await;
            tokio::task::yield_now().await;
        }
        match scope.map(|scope| cx.require_scope(scope)) {
            Some(Err(missing)) if !recovers => Err(missing.into()),
            _ => Ok("written"),
        }
    }

    /// Moves a file.
    #[tool(scope = ["files:write", "files:read"])]
    fn rename(cx: &Context) -> Result<&'static str, ToolError> {
        cx.require_scope("files:admin")?;
        Ok("renamed")
    }

    /// Needs one of two scopes.
    #[tool(scope = OneOf(["files:audit", "files:admin"]))]
    fn audit() -> &'static str {
        "audited"
    }

    /// Needs no scope.
    #[tool(scope = [])]
    fn about() -> &'static str {
        "files"
    }

    /// Returns everything that a function can see of its request.
    #[tool(scope = [])]
    fn request(cx: &Context) -> String {
        let parts = cx.extension::<http::request::Parts>().unwrap();
        format!(
            "{parts:?} {:?} {:?} {:?}",
            parts.extensions,
            cx.grant(),
            cx.meta()
        )
    }

    /// Asks the client.
    #[tool(scope = [])]
    async fn ask(&self, cx: &Context) -> Result<String, AskError> {
        cx.confirm("Sure?").await?;
        Ok(format!("sure, {}", cx.grant().unwrap().subject()))
    }

    /// Runs until the client has gone.
    #[tool(scope = [])]
    async fn wait(&self, cx: &Context) -> &'static str {
        cx.progress(1).await;
        tokio::time::sleep((LIFETIME + LEEWAY) * 2).await;
        "waited"
    }

    /// Reviews files.
    #[prompt(scope = "files:write files:read")]
    fn review(#[arg(complete = names)] name: String) -> String {
        format!("Review {name}.")
    }

    /// A file.
    #[resource("file:///{name}", subscribable)]
    async fn file(&self, name: String) -> String {
        name
    }

    /// A public file.
    #[resource("file:///public", scope = [], subscribable)]
    fn public() -> ReadResourceResult {
        let contents = TextResourceContents::new("file:///public", "public");
        let mut read = ReadResourceResult::new([contents.into()]);
        read.cache_scope = Some(CacheScope::Public);
        read
    }
}

fn names(_: &str) -> Vec<String> {
    vec!["notes".to_owned()]
}

fn builder() -> ServerBuilder {
    Server::builder("files", "1.0.0")
        .mount(Files)
        .limits(Limits::default())
}

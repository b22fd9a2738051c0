//! A server with authorization, whose tokens are given by the tests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use serde_json::json;
use treenail::auth::{Clock, ResourceServer, VerifiedToken, Verifier, VerifierFuture, VerifyError};
use treenail::http::{HttpService, SsePaths, http_service};
use treenail::{Limits, Server, ServerBuilder};

use super::files::add_files;
use super::{LIFETIME, RESOURCE};
use crate::client::{CompleteResponse, Post};

pub(super) const METADATA: &str =
    "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";
pub(super) const ISSUER: &str = "https://id.example.com";
pub(super) const OTHER_ISSUER: &str = "https://id.example.org";

/// Tokens by their texts.
#[derive(Clone, Default)]
pub(super) struct Tokens(Arc<Mutex<HashMap<String, Result<VerifiedToken, VerifyError>>>>);

impl Verifier for Tokens {
    fn verify<'a>(&'a self, token: &'a str) -> VerifierFuture<'a> {
        let known = self.0.lock().unwrap().get(token).cloned();
        Box::pin(async move { known.unwrap_or(Err(VerifyError::Invalid)) })
    }
}

/// Server with its tokens.
pub(super) struct Guarded {
    pub(super) service: HttpService,
    pub(super) tokens: Tokens,
    pub(super) clock: Clock,
}

impl Guarded {
    pub(super) fn new() -> Self {
        Self::with(|resource| resource)
    }

    pub(super) fn with(change: impl FnOnce(ResourceServer) -> ResourceServer) -> Self {
        Self::of(builder(), change)
    }

    pub(super) fn of(
        server: ServerBuilder,
        change: impl FnOnce(ResourceServer) -> ResourceServer,
    ) -> Self {
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
    pub(super) fn token(&self, scopes: &str) -> String {
        self.token_of(ISSUER, "alice", scopes)
    }

    pub(super) fn token_of(&self, issuer: &str, subject: &str, scopes: &str) -> String {
        self.issue(issuer, subject, |token| {
            token.scopes = scopes.parse().unwrap();
        })
    }

    pub(super) fn issue(
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
    pub(super) fn answer(&self, verified: Result<VerifiedToken, VerifyError>) -> String {
        let mut tokens = self.tokens.0.lock().unwrap();
        let text = format!("token-{}", tokens.len());
        tokens.insert(text.clone(), verified);
        text
    }

    pub(super) async fn send(&self, post: Post, token: &str) -> CompleteResponse {
        with_token(post, token).send(&self.service).await
    }

    /// Sends a request of alice with these scopes.
    pub(super) async fn send_with(&self, post: Post, scopes: &str) -> CompleteResponse {
        self.send(post, &self.token(scopes)).await
    }
}

pub(super) fn resource_server(tokens: &Tokens) -> ResourceServer {
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

pub(super) fn with_token(post: Post, token: &str) -> Post {
    post.with("authorization", format!("Bearer {token}"))
}

pub(super) fn tool(name: &str) -> Post {
    Post::tool(&format!("files.{name}"), json!({}))
}

/// Fails unless the response is a refusal with this challenge.
pub(super) fn expect_challenge(
    response: &CompleteResponse,
    status: u16,
    challenge: &str,
    claim: &str,
) {
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
pub(super) fn expect_forbidden(response: &CompleteResponse, scopes: &str, claim: &str) {
    let description = "the token does not grant all scopes that the request needs";
    let challenge = format!(
        "Bearer resource_metadata=\"{METADATA}\", scope=\"{scopes}\", error=\"insufficient_scope\", error_description=\"{description}\""
    );
    expect_challenge(response, 403, &challenge, claim);
    let body = json!({"error": "insufficient_scope", "error_description": description});
    assert_eq!(response.json(), body, "AUTH-R-21");
}

pub(super) fn builder() -> ServerBuilder {
    add_files(Server::builder("files", "1.0.0")).limits(Limits::default())
}

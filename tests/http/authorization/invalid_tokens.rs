//! Tokens that are expired, malformed or meant for others.

use std::sync::Arc;
use std::time::Duration;

use treenail::auth::{Verifier, VerifyError};

use super::{Guarded, ISSUER, METADATA, OTHER_ISSUER, RESOURCE, expect_challenge, tool};

#[tokio::test]
async fn tokens_of_others_are_refused_without_details() {
    let guarded = Guarded::new();
    let invalid = "the token is invalid";
    let other_audience = |audience: &str| {
        let audience = audience.to_owned();
        guarded.issue(ISSUER, "alice", |token| token.audience = vec![audience])
    };
    let expired = guarded.issue(ISSUER, "alice", |token| {
        token.expires_at = guarded.clock.now() - super::LEEWAY;
    });
    let cases = [
        ("unknown".to_owned(), invalid),
        ("x".repeat(16 * 1024 + 1), invalid),
        (guarded.answer(Err(VerifyError::Invalid)), invalid),
        (
            guarded.answer(Err(VerifyError::Expired)),
            "the token has expired",
        ),
        (expired, "the token has expired"),
        (
            guarded.token_of("https://id.example.com/", "alice", ""),
            invalid,
        ),
        (
            guarded.token_of("https://evil.example", "alice", ""),
            invalid,
        ),
        (guarded.token_of(ISSUER, "", ""), invalid),
        (guarded.token_of(ISSUER, "a\nb", ""), invalid),
        (
            guarded.issue(ISSUER, "alice", |token| token.audience.clear()),
            invalid,
        ),
        (other_audience("https://mcp.example.com"), invalid),
        (other_audience("https://mcp.example.com/mcp/"), invalid),
        (other_audience("https://mcp.example.com/mcpx"), invalid),
        (other_audience("https://mcp.example.com:8443/mcp"), invalid),
    ];
    for (token, description) in cases {
        let case = format!("AUTH-R-11 AUTH-R-13 AUTH-R-28 AUTH-R-29 AUTH-X-22: {token}");
        let response = guarded.send(tool("about"), &token).await;
        let challenge = format!(
            "Bearer resource_metadata=\"{METADATA}\", scope=\"files:read\", error=\"invalid_token\", error_description=\"{description}\""
        );
        expect_challenge(&response, 401, &challenge, &case);
        assert!(!response.body.contains(&token), "AUTH-R-44");
    }
    let accepted = [
        guarded.token_of(OTHER_ISSUER, "alice", ""),
        guarded.issue(ISSUER, "alice", |token| {
            token.audience = vec!["https://other.example".to_owned(), RESOURCE.to_owned()];
        }),
        guarded.issue(ISSUER, "alice", |token| {
            token.expires_at = guarded.clock.now() - Duration::from_secs(59);
        }),
    ];
    for token in accepted {
        assert_eq!(
            guarded.send(tool("about"), &token).await.status,
            200,
            "{token}"
        );
    }
}

#[tokio::test]
async fn an_alias_of_the_audience_is_accepted_exactly() {
    let guarded = Guarded::with(|resource| resource.audience_alias("https://old.example.com"));
    let token = |audience: &str| {
        let audience = audience.to_owned();
        guarded.issue(ISSUER, "alice", |token| token.audience = vec![audience])
    };
    for (audience, status) in [
        ("https://old.example.com", 200),
        ("https://old.example.com/", 200),
        ("https://old.example.com/mcp", 401),
        ("https://mcp.example.com/mcp", 200),
    ] {
        let response = guarded.send(tool("about"), &token(audience)).await;
        assert_eq!(response.status, status, "AUTH-R-28: {audience}");
    }
}

#[tokio::test]
async fn malformed_credentials_are_bad_requests() {
    let guarded = Guarded::new();
    let token = guarded.token("files:read");
    let bearer = format!("Bearer {token}");
    let cases = [
        tool("about")
            .with("authorization", &bearer)
            .and("authorization", &bearer),
        tool("about").with("authorization", "Bearer"),
        tool("about").with("authorization", "Bearer "),
        tool("about").with("authorization", "Bearer a b"),
        tool("about").with("authorization", "Bearer a\"b"),
        tool("about").with("authorization", b"Bearer \xe4"),
        tool("about")
            .with("authorization", &bearer)
            .at("/mcp?access_token=x"),
    ];
    for post in cases {
        let response = post.send(&guarded.service).await;
        assert_eq!(response.status, 400, "AUTH-R-19 AUTH-X-26: {response:?}");
        assert_eq!(response.json()["error"], "invalid_request");
        let challenge = response.header("www-authenticate").unwrap();
        assert!(
            challenge.contains("error=\"invalid_request\""),
            "{challenge}"
        );
    }
    for scheme in ["BEARER", "bearer", "Bearer "] {
        let post = tool("about").with("authorization", format!("{scheme} {token}"));
        let response = post.send(&guarded.service).await;
        assert_eq!(response.status, 200, "AUTH-X-26: {scheme}");
    }
}

#[tokio::test]
async fn a_verifier_can_be_shared() {
    let other = Guarded::new();
    let token = other.token("files:read");
    let shared: Arc<dyn Verifier> = Arc::new(other.tokens);
    let guarded = Guarded::with(|resource| resource.verifier(shared));
    assert_eq!(guarded.send(tool("about"), &token).await.status, 200);
    assert_eq!(guarded.send(tool("about"), "other").await.status, 401);
}

#[tokio::test]
async fn a_verifier_out_of_reach_keeps_tokens_valid() {
    let guarded = Guarded::new();
    let retry_after = Duration::from_secs(7);
    let token = guarded.answer(Err(VerifyError::unavailable(retry_after)));
    let response = guarded.send(tool("about"), &token).await;
    assert_eq!(response.status, 503, "AUTH-R-20");
    assert_eq!(response.header("retry-after"), Some("7"));
    assert_eq!(response.header("www-authenticate"), None);
}

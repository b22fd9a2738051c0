//! Fixed tokens of a configuration.

use super::{ISSUER, RESOURCE, clock, outcome, verify};
use crate::Secret;
use crate::server::{FixedTokenVerifier, VerifyError};

const TOKEN: &str = "0123456789abcdef-token";

fn verifier() -> FixedTokenVerifier {
    let token = |text: &str| Secret::from(text);
    FixedTokenVerifier::new(ISSUER, RESOURCE)
        .unwrap()
        .clock(clock())
        .token(&token(TOKEN), "ci", "files:read".parse().unwrap())
        .unwrap()
        .token(&token("another-token-of-20"), "cron", "".parse().unwrap())
        .unwrap()
}

#[tokio::test]
async fn each_fixed_token_has_a_subject_and_scopes_of_its_own() {
    // AUTH-R-43
    let verifier = verifier();
    let token = verify(&verifier, TOKEN).await.unwrap();
    assert_eq!((&*token.issuer, &*token.subject), (ISSUER, "ci"));
    assert_eq!(token.audience, [RESOURCE]);
    assert_eq!(token.scopes.to_string(), "files:read");
    assert!(token.expires_at > clock().now());
    let token = verify(&verifier, "another-token-of-20").await.unwrap();
    assert_eq!(token.subject, "cron");
    assert!(token.scopes.is_empty());
}

#[tokio::test]
async fn other_tokens_are_refused() {
    let verifier = verifier();
    for token in [
        "",
        "0",
        &TOKEN[1..],
        &format!("{TOKEN}x"),
        &TOKEN.to_uppercase(),
    ] {
        assert_eq!(outcome(&verifier, token).await, Err(VerifyError::Invalid));
    }
}

#[test]
fn weak_tokens_are_refused_and_none_is_shown() {
    for token in [
        "",
        "short",
        "0123456789abcde",
        "0123456789abcdef token",
        "0123456789abcdef\"",
        // The reader of requests would refuse each of them.
        "0123456789=abcdef",
        "================",
    ] {
        let verifier = FixedTokenVerifier::new(ISSUER, RESOURCE).unwrap();
        let error = verifier.token(&Secret::from(token), "ci", "".parse().unwrap());
        let error = error.unwrap_err().to_string();
        assert!(token.is_empty() || !error.contains(token), "{error}");
    }
    assert!(!format!("{:?}", verifier()).contains(TOKEN));
}

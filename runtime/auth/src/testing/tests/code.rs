//! Authorization codes.

use std::time::Duration;

use http::StatusCode;

use super::{REDIRECT, RESOURCE, authorize, builder, introspect, login, post, redeem};
use crate::jose::sha256_base64url;
use crate::testing::{Approval, Endpoint};

#[tokio::test]
async fn auth_s_02_a_code_gives_tokens_of_the_resource() {
    let server = builder().build();
    let redirected = authorize(&server, &[]).await.redirected();
    assert_eq!(redirected.get("state"), Some("s1"));
    assert_eq!(redirected.get("iss"), Some("https://auth.example"));
    let answer = redeem(&server, redirected.get("code").unwrap(), &[]).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json);
    assert_eq!(answer.headers["cache-control"], "no-store");
    assert_eq!(answer.text("token_type"), "Bearer");
    assert_eq!(answer.text("scope"), "files:read files:write");
    let token = introspect(&server, &answer.text("access_token")).await;
    assert_eq!(token["aud"], RESOURCE);
    assert_eq!(token["sub"], "alice");
    assert_eq!(token["client_id"], "app");
}

#[tokio::test]
async fn auth_s_05_the_second_use_of_a_code_revokes_its_tokens() {
    let server = builder().build();
    let redirected = authorize(&server, &[]).await.redirected();
    let code = redirected.get("code").unwrap();
    let tokens = redeem(&server, code, &[]).await;
    let again = redeem(&server, code, &[]).await;
    assert_eq!(again.error(), "invalid_grant");
    let token = introspect(&server, &tokens.text("access_token")).await;
    assert_eq!(token["active"], false);
}

#[tokio::test]
async fn auth_s_05_a_code_is_bound_to_its_request() {
    let server = builder()
        .client(crate::testing::TestClient::public("other"))
        .build();
    let cases: [(&[(&str, &str)], &str); 6] = [
        (
            &[(
                "code_verifier",
                "another-verifier-of-43-characters-0123456789",
            )],
            "invalid_grant",
        ),
        (&[("code_verifier", "")], "invalid_grant"),
        (
            &[("redirect_uri", "http://127.0.0.1:1/callback")],
            "invalid_grant",
        ),
        (&[("client_id", "other")], "invalid_grant"),
        (&[("client_id", "unknown")], "invalid_client"),
        (&[("resource", "https://other.example/")], "invalid_target"),
    ];
    for (changes, expected) in cases {
        let redirected = authorize(&server, &[]).await.redirected();
        let answer = redeem(&server, redirected.get("code").unwrap(), changes).await;
        assert_eq!(answer.error(), expected, "{changes:?}");
    }
}

#[tokio::test]
async fn auth_s_03_a_code_expires_by_the_clock_of_the_server() {
    let server = builder().build();
    let redirected = authorize(&server, &[]).await.redirected();
    server.advance(Duration::from_secs(61));
    let answer = redeem(&server, redirected.get("code").unwrap(), &[]).await;
    assert_eq!(answer.error(), "invalid_grant");
    let tokens = login(&server).await;
    let token = tokens.text("access_token");
    assert_eq!(introspect(&server, &token).await["active"], true);
    server.advance(Duration::from_secs(301));
    assert_eq!(introspect(&server, &token).await["active"], false);
}

#[tokio::test]
async fn auth_s_05_an_unknown_redirect_uri_receives_nothing() {
    let server = builder().build();
    for changes in [
        [("redirect_uri", "https://evil.example/callback")],
        [("redirect_uri", "")],
        [("client_id", "unknown")],
    ] {
        let answer = authorize(&server, &changes).await;
        assert_eq!(answer.status, StatusCode::BAD_REQUEST, "{changes:?}");
        assert!(!answer.headers.contains_key("location"));
    }
}

#[tokio::test]
async fn errors_of_requests_are_redirected() {
    let server = builder()
        .resource(RESOURCE)
        .scopes("files:read files:write".parse().unwrap());
    let server = server.build();
    let cases = [
        ("code_challenge_method", "plain", "invalid_request"),
        ("code_challenge_method", "", "invalid_request"),
        ("code_challenge", "short", "invalid_request"),
        ("response_type", "token", "unsupported_response_type"),
        ("resource", "https://other.example/mcp", "invalid_target"),
        ("scope", "admin", "invalid_scope"),
    ];
    for (name, value, expected) in cases {
        let redirected = authorize(&server, &[(name, value)]).await.redirected();
        assert_eq!(redirected.get("error"), Some(expected), "{name}={value}");
        assert_eq!(redirected.get("iss"), Some("https://auth.example"));
        assert_eq!(redirected.get("state"), Some("s1"));
    }
}

#[tokio::test]
async fn the_user_decides() {
    let server = builder().build();
    server.approve(Approval::Denied);
    let redirected = authorize(&server, &[]).await.redirected();
    assert_eq!(redirected.get("error"), Some("access_denied"));
    server.approve(Approval::Only("files:read admin".parse().unwrap()));
    server.sign_in("bob");
    let tokens = login(&server).await;
    assert_eq!(tokens.text("scope"), "files:read");
    let token = introspect(&server, &tokens.text("access_token")).await;
    assert_eq!(token["sub"], "bob");
}

#[tokio::test]
async fn pushed_requests_are_used_once() {
    let server = builder().require_pushed_requests().build();
    let direct = authorize(&server, &[]).await;
    assert!(!direct.headers.contains_key("location"));
    assert_eq!(direct.error(), "invalid_request");
    let challenge = sha256_base64url(super::VERIFIER);
    let form = [
        ("response_type", "code"),
        ("client_id", "app"),
        ("redirect_uri", REDIRECT),
        ("code_challenge", challenge.as_str()),
        ("code_challenge_method", "S256"),
        ("resource", RESOURCE),
    ];
    let pushed = post(&server, "/par", &form, &[]).await;
    assert_eq!(pushed.status, StatusCode::CREATED);
    let uri = pushed.text("request_uri");
    let redirected = authorize(&server, &[("request_uri", uri.as_str())])
        .await
        .redirected();
    let tokens = redeem(&server, redirected.get("code").unwrap(), &[]).await;
    assert_eq!(tokens.status, StatusCode::OK);
    let again = authorize(&server, &[("request_uri", uri.as_str())]).await;
    assert_eq!(again.error(), "invalid_request_uri");
    let recorded = server.requests_at(Endpoint::PushedAuthorization);
    assert_eq!(recorded[0].parameter("resource"), Some(RESOURCE));
}

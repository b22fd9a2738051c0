//! Token exchange and the grant `jwt-bearer`.

use http::StatusCode;
use serde_json::{Value, json};

use super::{Answer, RESOURCE, basic, builder, introspect, post};
use crate::testing::{TestAuthorizationServer, TestToken};

const EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const KIND: &str = "urn:ietf:params:oauth:token-type:";

async fn post_as_service(server: &TestAuthorizationServer, form: &[(&str, &str)]) -> Answer {
    let header = basic("service", "s3cret");
    post(server, "/token", form, &[("authorization", &header)]).await
}

/// Asks the identity provider for an identity assertion for `audience`.
async fn exchange(provider: &TestAuthorizationServer, id_token: &str, audience: &str) -> Answer {
    let (requested, kind) = (format!("{KIND}id-jag"), format!("{KIND}id_token"));
    let form = [
        ("grant_type", EXCHANGE),
        ("requested_token_type", &requested),
        ("audience", audience),
        ("resource", RESOURCE),
        ("scope", "files:read"),
        ("subject_token", id_token),
        ("subject_token_type", &kind),
    ];
    post_as_service(provider, &form).await
}

async fn redeem(server: &TestAuthorizationServer, assertion: &str) -> Answer {
    let form = [
        ("grant_type", JWT_BEARER),
        ("assertion", assertion),
        ("resource", RESOURCE),
    ];
    post_as_service(server, &form).await
}

fn id_token(provider: &TestAuthorizationServer) -> TestToken {
    provider.token("alice").typ("JWT").resource("service")
}

#[tokio::test]
async fn auth_s_02_an_identity_assertion_gives_a_token_once() {
    let provider = builder().origin("https://idp.example").build();
    let server = builder().trust(&provider).build();
    let answer = exchange(&provider, &id_token(&provider).issue(), &server.issuer()).await;
    assert_eq!(answer.text("issued_token_type"), format!("{KIND}id-jag"));
    assert_eq!(answer.text("token_type"), "N_A");
    let assertion = answer.text("access_token");
    let tokens = redeem(&server, &assertion).await;
    assert_eq!(tokens.status, StatusCode::OK, "{}", tokens.json);
    let token = introspect(&server, &tokens.text("access_token")).await;
    assert_eq!(token["sub"], "alice");
    assert_eq!(token["aud"], RESOURCE);
    assert_eq!(token["scope"], "files:read");
    assert_eq!(redeem(&server, &assertion).await.error(), "invalid_grant");
}

#[tokio::test]
async fn assertions_for_others_are_refused() {
    let provider = builder().origin("https://idp.example").build();
    let stranger = builder().origin("https://stranger.example").build();
    let server = builder().trust(&provider).build();
    let of_alice = id_token(&provider).issue();
    let of_service = exchange(&provider, &of_alice, "https://other.example");
    let assertion = of_service.await.text("access_token");
    assert_eq!(redeem(&server, &assertion).await.error(), "invalid_grant");
    let foreign = exchange(&stranger, &id_token(&stranger).issue(), &server.issuer()).await;
    assert_eq!(
        redeem(&server, &foreign.text("access_token")).await.error(),
        "invalid_grant"
    );
    // A forged issuer, signed by the stranger.
    let forged = stranger.token("alice").typ("oauth-id-jag+jwt");
    let forged = forged
        .claim("iss", json!(provider.issuer()))
        .claim("aud", json!(server.issuer()));
    assert_eq!(
        redeem(&server, &forged.issue()).await.error(),
        "invalid_grant"
    );
    let other_user = id_token(&stranger).issue();
    let refused = exchange(&provider, &other_user, &server.issuer()).await;
    assert_eq!(refused.error(), "invalid_grant");
    let expired = id_token(&provider)
        .lifetime(std::time::Duration::ZERO)
        .issue();
    let refused = exchange(&provider, &expired, &server.issuer()).await;
    assert_eq!(refused.error(), "invalid_grant");
}

#[tokio::test]
async fn auth_s_02_a_workload_needs_no_client() {
    let platform = builder().origin("https://platform.example").build();
    let server = builder().trust(&platform).build();
    let token = |audience: Value| {
        platform
            .token("job-7")
            .typ("JWT")
            .claim("aud", audience)
            .issue()
    };
    let form = |assertion| {
        [
            ("grant_type", JWT_BEARER),
            ("assertion", assertion),
            ("resource", RESOURCE),
        ]
    };
    let good = token(json!([server.issuer()]));
    for _ in 0..2 {
        let answer = post(&server, "/token", &form(good.as_str()), &[]).await;
        let issued = introspect(&server, &answer.text("access_token")).await;
        assert_eq!(issued["sub"], "job-7", "{}", answer.json);
    }
    let bad = token(json!("https://other.example"));
    let answer = post(&server, "/token", &form(bad.as_str()), &[]).await;
    assert_eq!(answer.error(), "invalid_grant");
}

#[tokio::test]
async fn auth_s_02_a_server_exchanges_the_token_of_its_caller() {
    let other = "https://mail.example/mcp";
    let server = builder().resource(RESOURCE).resource(other).build();
    let subject = server
        .token("alice")
        .resource(RESOURCE)
        .scope("files:read mail")
        .issue();
    let kind = format!("{KIND}access_token");
    let form = |target, scope| {
        [
            ("grant_type", EXCHANGE),
            ("subject_token", subject.as_str()),
            ("subject_token_type", kind.as_str()),
            ("resource", target),
            ("scope", scope),
        ]
    };
    let answer = post_as_service(&server, &form(other, "mail")).await;
    assert_eq!(answer.text("issued_token_type"), kind);
    let token = introspect(&server, &answer.text("access_token")).await;
    assert_eq!(token["aud"], other);
    assert_eq!(token["sub"], "alice");
    let wider = post_as_service(&server, &form(other, "admin")).await;
    assert_eq!(wider.error(), "invalid_scope");
    let unknown = post_as_service(&server, &form("https://evil.example", "mail")).await;
    assert_eq!(unknown.error(), "invalid_target");
}

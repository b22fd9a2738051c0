//! DPoP at the token endpoint.

use http::StatusCode;

use super::{Answer, REDIRECT, RESOURCE, VERIFIER, authorize, builder, introspect, post};
use crate::SigningKey;
use crate::jose::{Algorithm, ProofRequest};
use crate::testing::TestAuthorizationServer;

fn proof(server: &TestAuthorizationServer, key: &SigningKey, nonce: Option<&str>) -> String {
    let url = format!("{}/token", server.issuer());
    let request = ProofRequest {
        method: "POST",
        url: &url,
        token: None,
        nonce,
        now: server.now(),
    };
    key.dpop_proof(Algorithm::Es256, &request).unwrap()
}

async fn login(server: &TestAuthorizationServer, proof: &str) -> Answer {
    let redirected = authorize(server, &[]).await.redirected();
    let form = [
        ("grant_type", "authorization_code"),
        ("client_id", "app"),
        ("code", redirected.get("code").unwrap()),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
        ("resource", RESOURCE),
    ];
    post(server, "/token", &form, &[("dpop", proof)]).await
}

#[tokio::test]
async fn auth_s_02_tokens_are_bound_to_the_key_of_the_proof() {
    let server = builder().build();
    let key = SigningKey::generate().unwrap();
    let first = proof(&server, &key, None);
    let tokens = login(&server, &first).await;
    assert_eq!(tokens.text("token_type"), "DPoP");
    let token = introspect(&server, &tokens.text("access_token")).await;
    assert_eq!(token["cnf"]["jkt"], key.public_key().thumbprint());
    assert_eq!(login(&server, &first).await.error(), "invalid_dpop_proof");

    let refresh_token = tokens.text("refresh_token");
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", "app"),
        ("refresh_token", refresh_token.as_str()),
    ];
    let other = SigningKey::generate().unwrap();
    let stolen = proof(&server, &other, None);
    let answer = post(&server, "/token", &form, &[("dpop", &stolen)]).await;
    assert_eq!(answer.error(), "invalid_grant");
    let answer = post(&server, "/token", &form, &[]).await;
    assert_eq!(answer.error(), "invalid_grant");
    let again = proof(&server, &key, None);
    let answer = post(&server, "/token", &form, &[("dpop", &again)]).await;
    assert_eq!(answer.status, StatusCode::OK);
}

#[tokio::test]
async fn auth_s_02_a_proof_needs_the_nonce_of_the_server() {
    let server = builder().require_dpop().require_dpop_nonce().build();
    let key = SigningKey::generate().unwrap();
    let answer = login(&server, &proof(&server, &key, None)).await;
    assert_eq!(
        (answer.status, answer.error()),
        (StatusCode::BAD_REQUEST, "use_dpop_nonce")
    );
    let nonce = answer.headers["dpop-nonce"].to_str().unwrap().to_owned();
    let answer = login(&server, &proof(&server, &key, Some(&nonce))).await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.json);
    server.rotate_dpop_nonce();
    let answer = login(&server, &proof(&server, &key, Some(&nonce))).await;
    assert_eq!(answer.error(), "use_dpop_nonce");
    let answer = super::login(&server).await;
    assert_eq!(answer.error(), "invalid_dpop_proof");
}

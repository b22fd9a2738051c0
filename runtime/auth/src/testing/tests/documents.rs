//! Metadata documents.

use http::StatusCode;
use serde_json::json;

use super::{builder, get};
use crate::Scopes;

#[tokio::test]
async fn auth_s_01_documents_state_the_exact_issuer() {
    let cases = [
        (
            "",
            [
                "/.well-known/oauth-authorization-server",
                "/.well-known/openid-configuration",
            ],
        ),
        (
            "/tenant",
            [
                "/.well-known/oauth-authorization-server/tenant",
                "/tenant/.well-known/openid-configuration",
            ],
        ),
    ];
    for (path, targets) in cases {
        let server = builder().path(path).build();
        for target in targets {
            let answer = get(&server, target).await;
            assert_eq!(answer.status, StatusCode::OK, "{target}");
            assert_eq!(answer.headers["content-type"], "application/json");
            assert_eq!(answer.text("issuer"), format!("https://auth.example{path}"));
            assert_eq!(answer.json["issuer"], server.issuer());
            assert_eq!(
                answer.json["code_challenge_methods_supported"],
                json!(["S256"])
            );
            assert_eq!(answer.json["client_id_metadata_document_supported"], true);
            assert_eq!(
                answer.json["authorization_response_iss_parameter_supported"],
                true
            );
        }
    }
}

#[tokio::test]
async fn an_issuer_with_a_path_has_no_document_at_the_root() {
    let server = builder().path("tenant/").build();
    for target in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/tenant/",
        "/.well-known/oauth-authorization-server/other",
        "/tenant/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ] {
        assert_eq!(
            get(&server, target).await.status,
            StatusCode::NOT_FOUND,
            "{target}"
        );
    }
}

#[tokio::test]
async fn documents_follow_the_configuration() {
    let scopes: Scopes = "files:read".parse().unwrap();
    let server = builder()
        .scopes(scopes)
        .without_registration()
        .require_pushed_requests();
    let server = server.without_refresh_tokens().build();
    let document = get(&server, "/.well-known/oauth-authorization-server")
        .await
        .json;
    assert_eq!(document["scopes_supported"], json!(["files:read"]));
    assert_eq!(document["require_pushed_authorization_requests"], true);
    assert!(document.get("registration_endpoint").is_none());
    let grants = document["grant_types_supported"].as_array().unwrap();
    assert!(!grants.contains(&json!("refresh_token")));
    let jwks = get(&server, "/jwks").await.json;
    assert_eq!(jwks, server.jwks());
    assert_eq!(jwks["keys"][0]["crv"], "P-256");
    assert!(jwks["keys"][0].get("d").is_none());
}

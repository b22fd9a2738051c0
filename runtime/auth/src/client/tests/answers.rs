//! Unusual answers of an authorization server.

use bytes::Bytes;
use serde_json::json;

use super::fixture::{Resource, call, oauth, session};
use crate::testing::{Approval, Endpoint, Fault, TestAuthorizationServer};

async fn start() -> (TestAuthorizationServer, Resource) {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    (server, resource)
}

#[tokio::test]
async fn a_request_with_a_code_has_its_parameters_only() {
    let (server, resource) = start().await;
    let session = session(&resource, &oauth());
    call(&session, "tools/list").await.unwrap();
    let requests = server.requests_at(Endpoint::Token);
    let mut names: Vec<_> = requests[0]
        .parameters()
        .iter()
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    let expected = [
        "client_id",
        "code",
        "code_verifier",
        "grant_type",
        "redirect_uri",
        "resource",
    ];
    assert_eq!(names, expected, "AUTH-C-94");
    assert_eq!(
        requests[0].headers["accept"], "application/json",
        "AUTH-C-93"
    );
    let seen: Vec<_> = resource
        .seen()
        .into_iter()
        .map(|seen| seen.method)
        .collect();
    assert_eq!(
        seen,
        ["tools/list", "tools/list"],
        "AUTH-C-10: no request by itself"
    );
}

#[tokio::test]
async fn an_answer_that_is_no_token_is_an_error_without_its_text() {
    let (server, resource) = start().await;
    let token = Endpoint::Token;
    let body = |text: &'static str| Fault::Body(token, Bytes::from_static(text.as_bytes()));
    let cases = [
        body("canary <html>"),
        body(r#"["canary"]"#),
        body(r#"{"access_token":"canary"}"#),
        Fault::Replace(token, "token_type", json!("mac")),
        Fault::Omit(token, "access_token"),
        Fault::Replace(token, "access_token", json!(["canary"])),
        Fault::Huge(token, 300 * 1024),
        Fault::Redirect(token, format!("{}/jwks?canary", server.issuer())),
        Fault::LoseAnswer(token),
    ];
    for fault in cases {
        let shown = format!("{fault:?}");
        server.inject(fault);
        let session = session(&resource, &oauth());
        let error = call(&session, "tools/list").await.unwrap_err().to_string();
        assert!(!error.contains("canary"), "AUTH-C-98 {shown}: {error}");
        assert!(
            server.requests_at(Endpoint::Jwks).is_empty(),
            "AUTH-C-93 {shown}"
        );
        let sent: Vec<_> = resource.tokens().into_iter().flatten().collect();
        assert!(sent.is_empty(), "AUTH-C-97 {shown}");
        server.clear_faults();
    }
}

#[tokio::test]
async fn an_error_without_a_description_keeps_its_code() {
    let (server, resource) = start().await;
    server.inject(Fault::Error(Endpoint::Token, "invalid_scope"));
    server.inject(Fault::Replace(
        Endpoint::Token,
        "error_description",
        json!(null),
    ));
    let session = session(&resource, &oauth());
    let error = call(&session, "tools/list").await.unwrap_err().to_string();
    assert!(error.contains("invalid_scope"), "AUTH-C-98: {error}");
}

#[tokio::test]
async fn a_refused_registration_is_repeated_once_and_shown() {
    let (server, resource) = start().await;
    server.inject(Fault::Error(Endpoint::Registration, "invalid_redirect_uri"));
    let failing = session(&resource, &oauth());
    let error = call(&failing, "tools/list").await.unwrap_err().to_string();
    assert!(error.contains("invalid_redirect_uri"), "AUTH-C-66: {error}");
    let requests = server.requests_at(Endpoint::Registration);
    assert!(requests.len() <= 2, "AUTH-C-66: {}", requests.len());
    assert!(
        server.requests_at(Endpoint::Authorization).is_empty(),
        "AUTH-C-50"
    );
}

#[tokio::test]
async fn fewer_scopes_than_requested_are_no_error() {
    let (server, resource) = start().await;
    resource.set_extra(r#","scopes_supported":["files:read","files:write"]"#);
    server.approve(Approval::Only("files:read".parse().unwrap()));
    let session = session(&resource, &oauth());
    call(&session, "tools/list").await.unwrap();
    let requests = server.requests_at(Endpoint::Authorization);
    assert_eq!(requests.len(), 1, "AUTH-C-111");
    assert_eq!(
        requests[0].parameter("scope"),
        Some("files:read files:write")
    );
}

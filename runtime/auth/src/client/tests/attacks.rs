//! Attacks by servers and by pages in the browser of the user.

use std::sync::Arc;

use serde_json::json;

use super::fixture::{REDIRECT_URI, Resource, Verdict, call, oauth, session};
use crate::client::store::StoreKey;
use crate::testing::{Endpoint, Fault, TestAuthorizationServer};
use crate::{Callback, ClientCredentials, MemoryStore, OAuth, TokenStore};

async fn start() -> (TestAuthorizationServer, Resource) {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    (server, resource)
}

/// Runs a flow with a fault, which fails, and returns its error. Nothing is stored.
async fn failure(server: &TestAuthorizationServer, resource: &Resource) -> String {
    let store: Arc<MemoryStore> = Arc::default();
    let session = session(resource, &oauth().store(store.clone()));
    let error = call(&session, "tools/list").await.unwrap_err();
    let key = StoreKey::server(&resource.url());
    assert!(
        store.load(&key).await.unwrap().is_none(),
        "nothing half-authorized is stored"
    );
    let sent: Vec<_> = resource.tokens().into_iter().flatten().collect();
    assert!(sent.is_empty(), "no token is sent");
    server.clear_faults();
    error.to_string()
}

#[tokio::test]
async fn the_code_of_a_response_of_another_server_is_not_redeemed() {
    let (server, resource) = start().await;
    let evil = "https://evil.example".to_owned();
    let slash = format!("{}/", server.issuer());
    for fault in [
        Fault::RedirectParameter("iss", evil),
        Fault::RedirectParameter("iss", slash),
        Fault::OmitRedirectParameter("iss"),
        Fault::DuplicateRedirectParameter("iss", server.issuer()),
        Fault::DuplicateRedirectParameter("code", "other".into()),
        Fault::DuplicateRedirectParameter("state", "other".into()),
        Fault::RedirectParameter("error", "access_denied".into()),
        Fault::RedirectParameter("state", "state-of-another-flow".into()),
        Fault::OmitRedirectParameter("state"),
    ] {
        let shown = format!("{fault:?}");
        server.inject(fault);
        let error = failure(&server, &resource).await;
        assert!(
            error.contains("authorization response"),
            "AUTH-X-05 AUTH-X-09 AUTH-X-11 {shown}: {error}"
        );
        assert!(!error.contains("evil"), "AUTH-C-87: {error}");
        assert!(
            server.requests_at(Endpoint::Token).is_empty(),
            "AUTH-C-88 {shown}"
        );
    }
}

#[tokio::test]
async fn a_server_without_proof_keys_is_refused() {
    let (server, resource) = start().await;
    let name = "code_challenge_methods_supported";
    for fault in [
        Fault::Replace(Endpoint::OAuthMetadata, name, json!(["plain"])),
        Fault::Replace(Endpoint::OAuthMetadata, name, json!([])),
        Fault::Omit(Endpoint::OAuthMetadata, name),
    ] {
        server.inject(fault.clone());
        let error = failure(&server, &resource).await;
        assert!(
            error.contains(name) && error.contains(&server.issuer()),
            "AUTH-X-12: {error}"
        );
        assert!(
            server.requests_at(Endpoint::Authorization).is_empty(),
            "AUTH-X-12"
        );
        assert!(
            server.requests_at(Endpoint::Registration).is_empty(),
            "AUTH-X-12"
        );
    }
    server.inject(Fault::Omit(Endpoint::OAuthMetadata, name));
    let accepting = oauth().accept_unlisted_s256(server.issuer());
    call(&session(&resource, &accepting), "tools/list")
        .await
        .unwrap();
}

#[tokio::test]
async fn a_secret_goes_to_its_issuer_only() {
    let (server, resource) = start().await;
    let evil = TestAuthorizationServer::builder().start().await.unwrap();
    resource.set_issuers([evil.issuer()]);
    let credentials = ClientCredentials::secret("planner", "canary").issuer(server.issuer());
    let session = session(&resource, &oauth().client(credentials));
    let error = call(&session, "tools/list").await.unwrap_err().to_string();
    assert!(
        error.contains(&server.issuer()) && error.contains(&evil.issuer()),
        "AUTH-X-07: {error}"
    );
    for endpoint in [
        Endpoint::Authorization,
        Endpoint::Token,
        Endpoint::Registration,
    ] {
        assert!(evil.requests_at(endpoint).is_empty(), "AUTH-X-07");
    }
    let recorded = format!("{:?}", evil.requests());
    assert!(!recorded.contains("canary"), "AUTH-X-07");
}

#[tokio::test]
async fn nothing_of_the_old_server_reaches_the_new_one() {
    let (server, resource) = start().await;
    let next = TestAuthorizationServer::builder().start().await.unwrap();
    let session = session(&resource, &oauth());
    call(&session, "tools/list").await.unwrap();
    resource.set_issuers([next.issuer()]);
    let old = resource.tokens()[1].clone();
    let mut old_tokens = vec![old];
    resource.rule(move |seen| {
        // The refresh at the old server yields a token that is refused as well.
        if old_tokens.len() < 2 && !old_tokens.contains(&seen.token) {
            old_tokens.push(seen.token.clone());
        }
        if old_tokens.contains(&seen.token) {
            Verdict::Unauthorized(String::new())
        } else {
            Verdict::Accept
        }
    });
    call(&session, "tools/list").await.unwrap();
    let recorded = format!("{:?}", next.requests());
    let registration = &server.requests_at(Endpoint::Authorization)[0];
    let client_id = registration.parameter("client_id").unwrap();
    assert!(!recorded.contains(client_id), "AUTH-C-55");
    for token in server.requests_at(Endpoint::Token) {
        if let Some(refresh) = token.parameter("refresh_token") {
            assert!(!recorded.contains(refresh), "AUTH-X-07");
        }
    }
    for token in resource.tokens().iter().take(3).flatten() {
        assert!(!recorded.contains(token), "AUTH-X-07");
    }
    assert_eq!(
        next.requests_at(Endpoint::Registration).len(),
        1,
        "AUTH-C-55"
    );
}

#[tokio::test]
async fn tokens_and_scopes_with_control_characters_are_refused() {
    let (server, resource) = start().await;
    for (name, value) in [
        ("access_token", json!("a\r\nx-evil: 1")),
        ("access_token", json!("a\u{0}b")),
        ("access_token", json!("a".repeat(1 << 17))),
        ("access_token", json!(7)),
        ("refresh_token", json!("a\nb")),
        ("scope", json!("a\"b")),
        ("token_type", json!("mac")),
    ] {
        server.inject(Fault::Replace(Endpoint::Token, name, value));
        let error = failure(&server, &resource).await;
        assert!(!error.contains("evil"), "AUTH-X-14: {error}");
    }
    let long = "s".repeat(5000);
    for scope in [r#"a\"b"#, "é", &long] {
        server.clear_requests();
        let challenge = format!(r#", scope="{scope}""#);
        resource.rule(move |seen| match seen.token {
            None => Verdict::Unauthorized(challenge.clone()),
            Some(_) => Verdict::Accept,
        });
        call(&session(&resource, &oauth()), "tools/list")
            .await
            .unwrap();
        let asked = server.requests_at(Endpoint::Authorization);
        let asked = asked[0].parameter("scope").unwrap_or_default();
        assert!(
            asked.bytes().all(|byte| byte.is_ascii_graphic()),
            "AUTH-C-17"
        );
        assert!(!asked.contains('"'), "AUTH-C-17");
    }
}

#[tokio::test]
async fn an_authorization_url_that_no_browser_should_open_is_refused() {
    let (server, resource) = start().await;
    for url in [
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://u@x.example/a",
        "--flag",
    ] {
        let name = "authorization_endpoint";
        server.inject(Fault::Replace(Endpoint::OAuthMetadata, name, json!(url)));
        let error = failure(&server, &resource).await;
        assert!(error.contains(name), "AUTH-X-08 {url}: {error}");
    }
}

#[tokio::test]
async fn secrets_are_in_no_debug_output() {
    let (server, resource) = start().await;
    let credentials = ClientCredentials::secret("planner", "canary").issuer(server.issuer());
    let callback = Callback::new(REDIRECT_URI, |request| async move {
        let shown = format!("{request:?}");
        assert!(
            !shown.contains("state") && !shown.contains("challenge"),
            "{shown}"
        );
        super::fixture::approve(request).await
    });
    let client = OAuth::callback("test", callback);
    let shown = format!("{:?}", client.clone().client(credentials));
    assert!(!shown.contains("canary"), "AUTH-X-18: {shown}");
    call(&session(&resource, &client), "tools/list")
        .await
        .unwrap();
    let shown = format!("{client:?}");
    for token in resource.tokens().into_iter().flatten() {
        assert!(!shown.contains(&token), "AUTH-X-18: {shown}");
    }
}

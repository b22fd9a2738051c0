//! Faults (AUTH-S-04).

use bytes::Bytes;
use http::header::{HeaderName, HeaderValue};
use http::{Request, StatusCode};
use serde_json::json;

use super::{authorize, builder, get, introspect, login, post};
use crate::testing::{Endpoint, Fault};

const METADATA: &str = "/.well-known/oauth-authorization-server";

#[tokio::test]
async fn auth_s_04_members_of_documents_are_replaced_and_left_out() {
    let server = builder().build();
    let endpoint = Endpoint::OAuthMetadata;
    server.inject(Fault::Replace(
        endpoint,
        "issuer",
        json!("https://evil.example"),
    ));
    server.inject(Fault::Replace(
        endpoint,
        "code_challenge_methods_supported",
        json!(["plain"]),
    ));
    server.inject(Fault::Omit(endpoint, "token_endpoint"));
    let document = get(&server, METADATA).await.json;
    assert_eq!(document["issuer"], "https://evil.example");
    assert_eq!(
        document["code_challenge_methods_supported"],
        json!(["plain"])
    );
    assert!(document.get("token_endpoint").is_none());
    let other = get(&server, "/.well-known/openid-configuration").await.json;
    assert_eq!(other["issuer"], server.issuer());
    server.clear_faults();
    assert_eq!(get(&server, METADATA).await.json, other);
}

#[tokio::test]
async fn auth_s_04_redirects_lose_and_gain_parameters() {
    let server = builder().build();
    server.inject_once(Fault::RedirectParameter(
        "iss",
        "https://evil.example".to_owned(),
    ));
    let redirected = authorize(&server, &[]).await.redirected();
    assert_eq!(redirected.get("iss"), Some("https://evil.example"));
    server.inject_once(Fault::OmitRedirectParameter("iss"));
    assert_eq!(authorize(&server, &[]).await.redirected().get("iss"), None);
    server.inject_once(Fault::DuplicateRedirectParameter(
        "code",
        "other".to_owned(),
    ));
    let redirected = authorize(&server, &[]).await.redirected();
    assert_eq!(redirected.all("code").count(), 2);
    let redirected = authorize(&server, &[]).await.redirected();
    assert_eq!(redirected.get("iss"), Some("https://auth.example"));
}

#[tokio::test]
async fn auth_s_04_refused_requests_have_no_effect() {
    let server = builder().build();
    let token = login(&server).await.text("refresh_token");
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", "app"),
        ("refresh_token", token.as_str()),
    ];
    server.inject_once(Fault::Status(Endpoint::Token, StatusCode::BAD_GATEWAY));
    server.inject(Fault::Header(
        Endpoint::Token,
        HeaderName::from_static("retry-after"),
        HeaderValue::from_static("1"),
    ));
    let answer = post(&server, "/token", &form, &[]).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    server.inject_once(Fault::Error(Endpoint::Token, "temporarily_unavailable"));
    assert_eq!(
        post(&server, "/token", &form, &[]).await.error(),
        "temporarily_unavailable"
    );
    server.inject_once(Fault::Redirect(
        Endpoint::Token,
        "https://evil.example".to_owned(),
    ));
    let answer = post(&server, "/token", &form, &[]).await;
    assert_eq!(answer.headers["location"], "https://evil.example");
    server.inject_once(Fault::Body(
        Endpoint::Token,
        Bytes::from_static(b"{\"error\":null}"),
    ));
    let answer = post(&server, "/token", &form, &[]).await;
    assert_eq!(answer.json, json!({ "error": null }));
    let answer = post(&server, "/token", &form, &[]).await;
    assert_eq!(answer.headers["retry-after"], "1");
    assert!(
        !answer.text("access_token").is_empty(),
        "the refresh token is unused until here"
    );
}

#[tokio::test]
async fn auth_s_04_a_lost_answer_has_its_effect() {
    let server = builder().build();
    let token = login(&server).await.text("refresh_token");
    server.inject_once(Fault::LoseAnswer(Endpoint::Token));
    let body = format!("grant_type=refresh_token&client_id=app&refresh_token={token}");
    let request =
        Request::post("/token").header("content-type", "application/x-www-form-urlencoded");
    let lost = server.handle(request.body(body.into()).unwrap()).await;
    assert_eq!(
        lost.unwrap_err().kind(),
        std::io::ErrorKind::ConnectionReset
    );
    let form = [
        ("grant_type", "refresh_token"),
        ("client_id", "app"),
        ("refresh_token", token.as_str()),
    ];
    assert_eq!(
        post(&server, "/token", &form, &[]).await.error(),
        "invalid_grant"
    );
}

#[tokio::test]
async fn requests_are_recorded() {
    let server = builder().build();
    login(&server).await;
    introspect(&server, "x").await;
    let endpoints: Vec<_> = server
        .requests()
        .iter()
        .map(|request| request.endpoint)
        .collect();
    assert_eq!(
        endpoints,
        [
            Endpoint::Authorization,
            Endpoint::Token,
            Endpoint::Introspection
        ]
    );
    let requests = server.requests_at(Endpoint::Introspection);
    assert!(requests[0].headers.contains_key("authorization"));
    assert_eq!(requests[0].body, "token=x");
    server.clear_requests();
    assert!(server.requests().is_empty());
}

//! Attempts of requests that overlap.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use rcgen::generate_simple_self_signed;
use tempfile::NamedTempFile;
use treenail_runtime::client::{HttpAttempt, HttpAuthorization, Refusal};

use super::fixture::{Resource, oauth};
use crate::testing::{Endpoint, TestAuthorizationServer, TestClient};
use crate::{ClientCredentials, FetchPolicy, IdentityProvider, OAuth, StepUp, TlsConfig};

const INVALID_TOKEN: &str = r#"Bearer error="invalid_token""#;

fn challenge(value: &'static str) -> HeaderMap {
    let value = HeaderValue::from_static(value);
    HeaderMap::from_iter([(http::header::WWW_AUTHENTICATE, value)])
}

/// Starts a server with a client that needs no user.
async fn machine_server() -> (TestAuthorizationServer, Resource, ClientCredentials) {
    let planner = TestClient::secret("planner", "s3cret");
    let builder = TestAuthorizationServer::builder().client(planner);
    let server = builder.start().await.unwrap();
    let resource = Resource::start(&server).await;
    let credentials = ClientCredentials::secret("planner", "s3cret").issuer(server.issuer());
    (server, resource, credentials)
}

async fn begin<'a>(client: &OAuth, url: &'a Uri) -> HttpAttempt<'a> {
    let mut attempt = HttpAttempt::new(&Method::POST, url, url);
    let headers = &mut HeaderMap::new();
    client.authorize(&mut attempt, headers).await.unwrap();
    attempt
}

/// Reports that a request was refused, and then that its second attempt was accepted.
async fn refuse(client: &OAuth, mut attempt: HttpAttempt<'_>) {
    let response = challenge(INVALID_TOKEN);
    let status = StatusCode::UNAUTHORIZED;
    let refused = client.refused(&mut attempt, status, &response).await;
    assert!(matches!(refused.unwrap(), Refusal::Retry));
    let headers = &mut HeaderMap::new();
    client.authorize(&mut attempt, headers).await.unwrap();
    accept(client, &attempt);
}

fn accept(client: &OAuth, attempt: &HttpAttempt<'_>) {
    client.observe(attempt, StatusCode::OK, &HeaderMap::new());
}

#[tokio::test]
async fn a_late_response_to_a_former_token_does_not_prevent_a_refresh() {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    let (client, url) = (oauth(), resource.url().parse().unwrap());
    refuse(&client, begin(&client, &url).await).await;
    let slow = begin(&client, &url).await;
    refuse(&client, begin(&client, &url).await).await;
    accept(&client, &slow);
    refuse(&client, begin(&client, &url).await).await;
    let authorizations = server.requests_at(Endpoint::Authorization).len();
    let requests = server.requests_at(Endpoint::Token).len();
    assert_eq!((authorizations, requests), (1, 3), "AUTH-C-113");
}

#[tokio::test]
async fn no_user_is_asked_for_a_request_that_is_not_worth_it() {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    let url = resource.url().parse().unwrap();
    let tokens = AtomicU32::new(0);
    let source = move || {
        let count = tokens.fetch_add(1, Ordering::Relaxed);
        async move { Ok(format!("token-{count}").into()) }
    };
    for client in [oauth(), OAuth::token_source(source)] {
        let mut attempt = begin(&client, &url).await;
        attempt.may_ask_user = false;
        for (status, value) in [
            (StatusCode::UNAUTHORIZED, INVALID_TOKEN),
            (
                StatusCode::FORBIDDEN,
                r#"Bearer error="insufficient_scope", scope="a""#,
            ),
        ] {
            let response = challenge(value);
            let refused = client.refused(&mut attempt, status, &response).await;
            assert!(matches!(refused.unwrap(), Refusal::Final), "{value}");
        }
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_server_without_encryption_is_used_without_tokens() {
    let url: Uri = "http://tools.example:8000/mcp".parse().unwrap();
    let client = oauth();
    let mut attempt = HttpAttempt::new(&Method::POST, &url, &url);
    let mut headers = HeaderMap::new();
    client.authorize(&mut attempt, &mut headers).await.unwrap();
    assert!(headers.is_empty());
    accept(&client, &attempt);
    let response = HeaderMap::new();
    let forbidden = client.refused(&mut attempt, StatusCode::FORBIDDEN, &response);
    assert_eq!(forbidden.await.unwrap(), Refusal::Final);
    let unauthorized = client.refused(&mut attempt, StatusCode::UNAUTHORIZED, &response);
    let error = unauthorized.await.unwrap_err().to_string();
    assert!(
        error.contains("tokens are sent over `https` only"),
        "{error}"
    );

    let source = OAuth::token_source(async || panic!("a token that cannot be sent is not needed"));
    let mut attempt = HttpAttempt::new(&Method::POST, &url, &url);
    assert!(source.authorize(&mut attempt, &mut headers).await.is_err());
}

#[tokio::test]
async fn files_of_certificates_are_read_once_for_a_server_that_receives_no_token() {
    let url = "http://tools.example:8000/mcp".parse().unwrap();
    let signed = generate_simple_self_signed(["id.example".to_owned()]).unwrap();
    let file = NamedTempFile::new().unwrap();
    std::fs::write(&file, signed.cert.pem()).unwrap();
    let tls = TlsConfig::new().ca_file(file.path());
    let client = oauth().fetch_policy(FetchPolicy::default().tls(tls));
    begin(&client, &url).await;
    file.close().unwrap();
    begin(&client, &url).await;
}

#[tokio::test]
async fn a_request_for_which_no_user_is_asked_is_sent_again_after_a_refresh() {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    let (client, url) = (oauth(), resource.url().parse().unwrap());
    refuse(&client, begin(&client, &url).await).await;
    let mut attempt = begin(&client, &url).await;
    attempt.may_ask_user = false;
    let response = challenge(INVALID_TOKEN);
    for expected in [Refusal::Retry, Refusal::Final, Refusal::Final] {
        let status = StatusCode::UNAUTHORIZED;
        let refused = client.refused(&mut attempt, status, &response).await;
        assert_eq!(refused.unwrap(), expected);
        let headers = &mut HeaderMap::new();
        client.authorize(&mut attempt, headers).await.unwrap();
    }
    let authorizations = server.requests_at(Endpoint::Authorization).len();
    let requests = server.requests_at(Endpoint::Token).len();
    assert_eq!((authorizations, requests), (1, 2));
}

#[tokio::test]
async fn a_client_without_a_user_is_authorized_for_each_request() {
    let (_server, resource, credentials) = machine_server().await;
    let url = resource.url().parse().unwrap();
    let machine = || OAuth::client_credentials(credentials.clone());
    let ask = StepUp::ask(async |_| panic!("the function of the program may ask its user"));
    for (client, after_step_up) in [
        (machine(), Refusal::Retry),
        (machine().step_up(ask), Refusal::Final),
    ] {
        let mut attempt = begin(&client, &url).await;
        attempt.may_ask_user = false;
        for (status, value, expected) in [
            (StatusCode::UNAUTHORIZED, INVALID_TOKEN, Refusal::Retry),
            (
                StatusCode::FORBIDDEN,
                r#"Bearer error="insufficient_scope", scope="a""#,
                after_step_up,
            ),
        ] {
            let response = challenge(value);
            let refused = client.refused(&mut attempt, status, &response).await;
            assert_eq!(refused.unwrap(), expected, "{value}");
        }
    }
}

#[tokio::test]
async fn requests_in_the_background_do_not_ask_at_an_identity_provider() {
    let (server, resource, credentials) = machine_server().await;
    let url = resource.url().parse().unwrap();
    let provider = IdentityProvider::new(
        format!("{}/token", server.issuer()),
        ClientCredentials::public("planner"),
        async || panic!("the function of the program may ask its user"),
    );
    let client = OAuth::enterprise("planner", provider).client(credentials);
    for (status, value) in [
        (StatusCode::UNAUTHORIZED, INVALID_TOKEN),
        (
            StatusCode::FORBIDDEN,
            r#"Bearer error="insufficient_scope", scope="a""#,
        ),
    ] {
        let mut attempt = begin(&client, &url).await;
        attempt.may_ask_user = false;
        let response = challenge(value);
        let refused = client.refused(&mut attempt, status, &response).await;
        assert_eq!(refused.unwrap(), Refusal::Final, "{value}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn requests_in_the_background_leave_an_authorization_to_the_program() {
    let (server, resource, credentials) = machine_server().await;
    let url = resource.url().parse().unwrap();
    let client = OAuth::client_credentials(credentials);
    let response = challenge(INVALID_TOKEN);
    for (may_ask_user, is_authorized) in [
        (false, true),
        (false, true),
        (false, false),
        (true, true),
        (true, false),
    ] {
        let mut attempt = begin(&client, &url).await;
        attempt.may_ask_user = may_ask_user;
        let status = StatusCode::UNAUTHORIZED;
        let refused = client.refused(&mut attempt, status, &response).await;
        assert_eq!(refused.is_ok(), is_authorized, "{refused:?}");
    }
    assert_eq!(server.requests_at(Endpoint::Token).len(), 3);
}

#[tokio::test]
async fn parallel_requests_fail_together_once_the_authorizations_are_used_up() {
    let (_server, resource, credentials) = machine_server().await;
    let url: Uri = resource.url().parse().unwrap();
    let client = Arc::new(OAuth::client_credentials(credentials));
    let refused = || {
        let (client, url) = (Arc::clone(&client), url.clone());
        tokio::spawn(async move {
            let mut attempt = begin(&client, &url).await;
            let status = StatusCode::UNAUTHORIZED;
            let response = challenge(INVALID_TOKEN);
            client.refused(&mut attempt, status, &response).await
        })
    };
    while refused().await.unwrap().is_ok() {}
    let before = resource.documents();
    let requests: Vec<_> = (0..50).map(|_| refused()).collect();
    for request in requests {
        assert!(request.await.unwrap().is_err());
    }
    let documents = resource.documents() - before;
    assert!(documents < 5, "{documents} metadata documents");
}

#[tokio::test]
async fn a_refused_proof_is_repeated_once_and_costs_no_authorization() {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    let (client, url) = (oauth().dpop(), resource.url().parse().unwrap());
    refuse(&client, begin(&client, &url).await).await;
    server.clear_requests();
    let mut attempt = begin(&client, &url).await;
    let value = r#"DPoP error="invalid_dpop_proof", error_description="the proof is too old""#;
    let (status, response) = (StatusCode::UNAUTHORIZED, challenge(value));
    let refused = client.refused(&mut attempt, status, &response).await;
    assert_eq!(refused.unwrap(), Refusal::Retry);
    let refused = client.refused(&mut attempt, status, &response).await;
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("the proof is too old"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_client_without_a_key_learns_that_it_needs_one() {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    let (client, url) = (oauth(), resource.url().parse().unwrap());
    refuse(&client, begin(&client, &url).await).await;
    server.clear_requests();
    let mut attempt = begin(&client, &url).await;
    let response = challenge(r#"DPoP error="invalid_dpop_proof""#);
    let status = StatusCode::UNAUTHORIZED;
    let refused = client.refused(&mut attempt, status, &response).await;
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("`OAuth::dpop`"), "{error}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn tokens_that_were_obtained_since_are_used_although_no_user_may_be_asked() {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    let (client, url) = (oauth(), resource.url().parse().unwrap());
    let mut attempt = begin(&client, &url).await;
    attempt.may_ask_user = false;
    refuse(&client, begin(&client, &url).await).await;
    let response = challenge(INVALID_TOKEN);
    let status = StatusCode::UNAUTHORIZED;
    let refused = client.refused(&mut attempt, status, &response).await;
    assert_eq!(refused.unwrap(), Refusal::Retry);
}

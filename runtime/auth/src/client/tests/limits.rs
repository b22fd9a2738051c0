//! Bounds of retries, refreshes and authorizations.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;
use treenail::client::HttpSession;

use super::fixture::{REDIRECT_URI, Resource, Verdict, approve, call, oauth, session};
use crate::testing::{Approval, Endpoint, Fault, TestAuthorizationServer, TestClient};
use crate::{
    AuthError, AuthorizationRequest, Callback, ClientCredentials, MemoryStore, OAuth, Scopes,
};

async fn start() -> (TestAuthorizationServer, Resource) {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    (server, resource)
}

#[tokio::test]
async fn a_server_that_refuses_every_token_is_given_up() {
    let (server, resource) = start().await;
    resource.rule(|_| Verdict::Unauthorized(String::new()));
    let session = session(&resource, &oauth());
    for _ in 0..10 {
        assert!(call(&session, "tools/list").await.is_err(), "AUTH-X-13");
    }
    let authorizations = server.requests_at(Endpoint::Authorization).len();
    assert!((1..=3).contains(&authorizations), "AUTH-X-13 AUTH-C-12");
    let requests = server.requests_at(Endpoint::Token).len();
    assert!((1..=6).contains(&requests), "AUTH-X-13 AUTH-C-12");
    assert!((10..=25).contains(&resource.seen().len()), "AUTH-X-13");
}

#[tokio::test]
async fn growing_scopes_end() {
    let (server, resource) = start().await;
    let mut count = 0;
    resource.rule(move |_| {
        count += 1;
        match count % 3 {
            0 => Verdict::Unauthorized(format!(r#", scope="s{count}""#)),
            _ => Verdict::Forbidden(format!(
                r#"Bearer error="insufficient_scope", scope="s{count}""#
            )),
        }
    });
    let session = session(&resource, &oauth());
    for _ in 0..10 {
        for method in ["tools/list", "tools/call", "prompts/list"] {
            assert!(call(&session, method).await.is_err(), "AUTH-X-13");
        }
    }
    let authorizations = server.requests_at(Endpoint::Authorization).len();
    assert!((1..=3).contains(&authorizations), "AUTH-X-13 AUTH-C-109");
    assert!((30..=80).contains(&resource.seen().len()), "AUTH-X-13");
}

#[tokio::test]
async fn scopes_that_were_not_granted_are_not_asked_for_again() {
    let (server, resource) = start().await;
    resource.rule(|seen| match seen.token {
        None => Verdict::Unauthorized(r#", scope="a""#.into()),
        Some(_) => Verdict::Forbidden(r#"Bearer error="insufficient_scope", scope="a""#.into()),
    });
    let error = call(&session(&resource, &oauth()), "tools/call")
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("asked for already"),
        "AUTH-C-108: {error}"
    );
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        1,
        "AUTH-C-108"
    );
}

#[tokio::test]
async fn another_refusal_is_the_result_of_the_request() {
    let (server, resource) = start().await;
    let session = session(&resource, &oauth());
    call(&session, "tools/list").await.unwrap();
    for challenge in [
        "Bearer",
        r#"Bearer error="access_denied""#,
        r#"Basic realm="x""#,
    ] {
        server.clear_requests();
        let challenge = challenge.to_owned();
        resource.rule(move |_| Verdict::Forbidden(challenge.clone()));
        let before = resource.seen().len();
        assert!(call(&session, "tools/call").await.is_err(), "AUTH-C-09");
        assert_eq!(resource.seen().len(), before + 1, "AUTH-C-09");
        assert!(server.requests().is_empty(), "AUTH-C-09");
    }
    resource.rule(|_| Verdict::Accept);
    call(&session, "tools/list").await.unwrap();
    let tokens = resource.tokens();
    assert_eq!(tokens[1], tokens[tokens.len() - 1], "AUTH-C-09");
}

/// Sends parallel requests, which are all refused with this challenge before the user approves. Returns the number of
/// authorizations.
async fn authorize_in_parallel(
    challenge: &'static str,
    configure: impl Fn(OAuth) -> OAuth,
) -> usize {
    const REQUESTS: usize = 6;
    let (server, resource) = start().await;
    let all_refused = Arc::new(Notify::new());
    let (notify, mut refused) = (Arc::clone(&all_refused), 0);
    resource.rule(move |seen| {
        if seen.token.is_some() {
            return Verdict::Accept;
        }
        refused += 1;
        if refused == REQUESTS {
            notify.notify_one();
        }
        Verdict::Unauthorized(challenge.into())
    });
    let approve_later = move |request: AuthorizationRequest| {
        let all_refused = Arc::clone(&all_refused);
        async move {
            all_refused.notified().await;
            all_refused.notify_one();
            approve(request).await
        }
    };
    let client = OAuth::callback("test client", Callback::new(REDIRECT_URI, approve_later));
    let session = Arc::new(session(&resource, &configure(client)));
    let send = |session: Arc<HttpSession>| async move { call(&session, "tools/list").await };
    let calls: Vec<_> = (0..REQUESTS)
        .map(|_| tokio::spawn(send(Arc::clone(&session))))
        .collect();
    for call in calls {
        call.await.unwrap().unwrap();
    }
    server.requests_at(Endpoint::Authorization).len()
}

#[tokio::test]
async fn requests_share_one_flow_although_it_asks_for_other_scopes() {
    for challenge in [
        r#", scope="basic""#,
        r#", scope="basic files:read offline_access""#,
    ] {
        for configure in [
            |client: OAuth| client.scopes("files:read".parse().unwrap()),
            |client: OAuth| client.scope_filter(|asked: &Scopes| asked.clone().without("basic")),
            |client: OAuth| client,
        ] {
            let authorizations = authorize_in_parallel(challenge, configure).await;
            assert_eq!(authorizations, 1, "AUTH-X-15: {challenge}");
        }
    }
}

#[tokio::test]
async fn a_missing_scope_without_a_name_leads_to_the_supported_ones() {
    for parameters in ["", r#", scope="""#, r#", scope="a\"b""#] {
        let (server, resource) = start().await;
        let mut forbidden = 0;
        let challenge = format!(r#"Bearer error="insufficient_scope"{parameters}"#);
        resource.rule(move |seen| match &seen.token {
            None => Verdict::Unauthorized(r#", scope="read""#.into()),
            Some(_) if forbidden == 1 => Verdict::Accept,
            Some(_) => {
                forbidden += 1;
                Verdict::Forbidden(challenge.clone())
            }
        });
        resource.set_extra(r#","scopes_supported":["read","write"]"#);
        call(&session(&resource, &oauth()), "tools/call")
            .await
            .unwrap();
        let requests = server.requests_at(Endpoint::Authorization);
        let scopes: Vec<_> = requests.iter().map(|one| one.parameter("scope")).collect();
        assert_eq!(scopes, [Some("read"), Some("read write")], "AUTH-C-18");
    }
}

#[tokio::test]
async fn a_missing_scope_without_a_name_is_an_error_if_there_is_nothing_to_add() {
    let supported = r#","scopes_supported":["read","write"]"#;
    let read = || -> Scopes { "read".parse().unwrap() };
    for (extra, client) in [
        ("", oauth()),
        (r#","scopes_supported":["read","offline_access"]"#, oauth()),
        (supported, oauth().scopes(read())),
        (supported, oauth().scope_filter(|_| "read".parse().unwrap())),
    ] {
        let (server, resource) = start().await;
        resource.rule(|seen| match &seen.token {
            None => Verdict::Unauthorized(r#", scope="read""#.into()),
            Some(_) => Verdict::Forbidden(r#"Bearer error="insufficient_scope""#.into()),
        });
        resource.set_extra(extra);
        let error = call(&session(&resource, &client), "tools/call").await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("names none"), "AUTH-C-18: {error}");
        assert_eq!(server.requests_at(Endpoint::Authorization).len(), 1);
    }
}

#[tokio::test]
async fn a_user_who_declines_is_asked_three_times_and_the_error_is_true() {
    let (server, resource) = start().await;
    server.approve(Approval::Denied);
    let session = session(&resource, &oauth());
    let mut errors = Vec::new();
    for _ in 0..4 {
        errors.push(call(&session, "tools/list").await.unwrap_err().to_string());
    }
    let expected = "3 authorizations in a row have led to no token that the server accepted";
    assert!(errors[3].contains(expected), "AUTH-X-13: {errors:?}");
    assert_eq!(server.requests_at(Endpoint::Authorization).len(), 3);
}

#[tokio::test]
async fn an_unusable_token_endpoint_is_found_before_the_user_is_asked() {
    let metadata = Endpoint::OAuthMetadata;
    let replace = |member, value| Fault::Replace(metadata, member, serde_json::json!([value]));
    for (fault, expected) in [
        (
            Fault::Omit(metadata, "token_endpoint"),
            "`token_endpoint` is missing",
        ),
        (
            replace("token_endpoint_auth_methods_supported", "private_key_jwt"),
            "lists no method that this client can use",
        ),
        (
            replace("dpop_signing_alg_values_supported", "EdDSA"),
            "does not list ES256",
        ),
    ] {
        let app = TestClient::secret("app", "s3cret").redirect_uri(REDIRECT_URI);
        let server = TestAuthorizationServer::builder().client(app);
        let server = server.start().await.unwrap();
        server.inject(fault);
        let resource = Resource::start(&server).await;
        let credentials = ClientCredentials::secret("app", "s3cret").issuer(server.issuer());
        let session = session(&resource, &oauth().client(credentials).dpop());
        for _ in 0..4 {
            let error = call(&session, "tools/list").await.unwrap_err().to_string();
            assert!(error.contains(expected), "AUTH-C-42: {error}");
        }
        assert!(server.requests_at(Endpoint::Authorization).is_empty());
    }
}

#[tokio::test]
async fn the_function_that_returns_a_client_is_called_three_times() {
    let server = TestAuthorizationServer::builder().without_registration();
    let server = server.start().await.unwrap();
    let resource = Resource::start(&server).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let client = oauth().ask_client(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Err(AuthError::NotAuthorized("the user has cancelled".into())) }
    });
    let session = session(&resource, &client);
    for _ in 0..5 {
        call(&session, "tools/list").await.unwrap_err();
    }
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

#[tokio::test]
async fn a_registration_that_cannot_be_used_is_not_stored_and_sent_three_times() {
    let (server, resource) = start().await;
    let (endpoint, method) = (Endpoint::Registration, "token_endpoint_auth_method");
    let value = serde_json::json!("client_secret_basic");
    server.inject(Fault::Replace(endpoint, method, value));
    let client = oauth().store(Arc::<MemoryStore>::default());
    let refused = session(&resource, &client);
    for _ in 0..5 {
        call(&refused, "tools/list").await.unwrap_err();
    }
    assert_eq!(server.requests_at(endpoint).len(), 3);
    server.clear_faults();
    client.logout(&resource.url()).await.unwrap();
    call(&session(&resource, &client), "tools/list")
        .await
        .unwrap();
}

//! Complete flows.

use std::sync::Arc;

use super::fixture::{REDIRECT_URI, Resource, Verdict, call, oauth, session};
use crate::client::store::{StoreKey, TokenRecord, load};
use crate::testing::{Endpoint, Fault, TestAuthorizationServer};
use crate::{Callback, MemoryStore, OAuth, StepUp, TokenStore};

async fn start() -> (TestAuthorizationServer, Resource) {
    let server = TestAuthorizationServer::builder().start().await.unwrap();
    let resource = Resource::start(&server).await;
    (server, resource)
}

#[tokio::test]
async fn the_first_request_starts_one_flow_for_all() {
    let (server, resource) = start().await;
    let session = session(&resource, &oauth());
    call(&session, "tools/list").await.unwrap();
    call(&session, "tools/call").await.unwrap();
    let tokens = resource.tokens();
    assert_eq!(tokens.len(), 3, "AUTH-C-11");
    assert!(tokens[0].is_none() && tokens[1].is_some());
    assert_eq!(tokens[1], tokens[2], "AUTH-C-04");
    assert_eq!(resource.documents(), 1);
    assert_eq!(server.requests_at(Endpoint::Registration).len(), 1);
    let authorization = &server.requests_at(Endpoint::Authorization)[0];
    let token = &server.requests_at(Endpoint::Token)[0];
    let url = resource.url();
    for request in [authorization, token] {
        assert_eq!(request.parameter("resource"), Some(&*url), "AUTH-C-73");
        assert_eq!(request.parameter("redirect_uri"), Some(REDIRECT_URI));
    }
    assert_eq!(
        authorization.parameter("code_challenge_method"),
        Some("S256")
    );
    assert_eq!(authorization.parameter("scope"), None, "AUTH-C-100");
    assert_eq!(
        token.parameter("code_verifier").unwrap().len(),
        43,
        "AUTH-C-69"
    );
    let registration = &server.requests_at(Endpoint::Registration)[0].body;
    let registration: serde_json::Value = serde_json::from_str(registration).unwrap();
    assert_eq!(registration["application_type"], "native", "AUTH-C-63");
    assert_eq!(registration["grant_types"][1], "refresh_token", "AUTH-C-64");
}

#[tokio::test]
async fn a_client_that_starts_again_needs_no_user() {
    let (server, resource) = start().await;
    let store: Arc<MemoryStore> = Arc::default();
    call(
        &session(&resource, &oauth().store(store.clone())),
        "tools/list",
    )
    .await
    .unwrap();
    server.clear_requests();
    let no_user = OAuth::callback(
        "test client",
        Callback::new(REDIRECT_URI, |_| async { panic!("no user is needed") }),
    );
    let again = session(&resource, &no_user.store(store));
    call(&again, "tools/list").await.unwrap();
    assert!(server.requests().is_empty());
    assert_eq!(resource.tokens()[1], resource.tokens()[2], "AUTH-C-123");
}

#[tokio::test]
async fn a_pushed_request_is_used_where_it_is_required() {
    let server = TestAuthorizationServer::builder().require_pushed_requests();
    let server = server.start().await.unwrap();
    let resource = Resource::start(&server).await;
    call(&session(&resource, &oauth()), "tools/list")
        .await
        .unwrap();
    assert_eq!(
        server.requests_at(Endpoint::PushedAuthorization).len(),
        1,
        "AUTH-C-80"
    );
    let authorization = &server.requests_at(Endpoint::Authorization)[0];
    let names: Vec<_> = authorization
        .parameters()
        .iter()
        .map(|(name, _)| &**name)
        .collect();
    assert_eq!(names, ["client_id", "request_uri"], "AUTH-C-80");
}

#[tokio::test]
async fn a_step_up_asks_for_all_scopes_and_remembers_them() {
    let (server, resource) = start().await;
    let mut elevated = false;
    resource.rule(move |seen| match (&seen.token, &*seen.method) {
        (None, _) => Verdict::Unauthorized(r#", scope="files:read""#.into()),
        (Some(_), "tools/call") if !elevated => {
            elevated = true;
            Verdict::Forbidden(r#"Bearer error="insufficient_scope", scope="files:write""#.into())
        }
        _ => Verdict::Accept,
    });
    let store: Arc<MemoryStore> = Arc::default();
    let session = session(&resource, &oauth().store(store.clone()));
    call(&session, "tools/list").await.unwrap();
    call(&session, "tools/call").await.unwrap();
    let scopes: Vec<_> = server
        .requests_at(Endpoint::Authorization)
        .iter()
        .map(|request| request.parameter("scope").unwrap().to_owned())
        .collect();
    assert_eq!(
        scopes,
        ["files:read", "files:read files:write"],
        "AUTH-C-106"
    );
    let refreshes = server.requests_at(Endpoint::Token);
    let refreshes = refreshes
        .iter()
        .filter(|one| one.parameter("grant_type") == Some("refresh_token"));
    assert_eq!(refreshes.count(), 0, "AUTH-C-107");
    let client_id = server.requests_at(Endpoint::Authorization)[0]
        .parameter("client_id")
        .unwrap()
        .to_owned();
    let key = StoreKey::tokens(&resource.url(), &server.issuer(), &client_id);
    let record = load::<TokenRecord>(&*store, &key)
        .await
        .unwrap()
        .unwrap()
        .record;
    assert_eq!(
        record.asked.to_string(),
        "files:read files:write",
        "AUTH-C-106"
    );
}

#[tokio::test]
async fn a_step_up_adds_its_scopes_to_those_of_the_settings() {
    let required = r#"Bearer error="insufficient_scope", scope="files:write""#;
    let (server, resource) = start().await;
    let mut elevated = false;
    resource.rule(move |seen| match (&seen.token, &*seen.method) {
        (None, _) => Verdict::Unauthorized(String::new()),
        (Some(_), "tools/call") if !std::mem::replace(&mut elevated, true) => {
            Verdict::Forbidden(required.into())
        }
        _ => Verdict::Accept,
    });
    let limited = || oauth().scopes("files:read".parse().unwrap());
    call(&session(&resource, &limited()), "tools/call")
        .await
        .unwrap();
    let scopes = |index: usize| {
        let requests = server.requests_at(Endpoint::Authorization);
        requests[index].parameter("scope").map(str::to_owned)
    };
    assert_eq!(scopes(0).as_deref(), Some("files:read"));
    let both = "files:read files:write";
    assert_eq!(scopes(1).as_deref(), Some(both), "AUTH-C-103 AUTH-C-106");

    // The user is not asked in vain.
    resource.rule(move |seen| match &seen.token {
        None => Verdict::Unauthorized(String::new()),
        Some(_) => Verdict::Forbidden(required.into()),
    });
    server.clear_requests();
    let filtered = limited().scope_filter(|_| "files:read".parse().unwrap());
    let error = call(&session(&resource, &filtered), "tools/call").await;
    let error = error.unwrap_err().to_string();
    let parts = ["`files:write`", "scope filter"];
    assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    assert_eq!(server.requests_at(Endpoint::Authorization).len(), 1);
}

#[tokio::test]
async fn a_policy_can_refuse_a_step_up() {
    let (server, resource) = start().await;
    for step_up in [StepUp::Never, StepUp::ask(|_| async { false })] {
        resource.rule(|seen| match seen.token {
            None => Verdict::Unauthorized(String::new()),
            Some(_) => Verdict::Forbidden(r#"Bearer error="insufficient_scope", scope="a""#.into()),
        });
        server.clear_requests();
        let session = session(&resource, &oauth().step_up(step_up));
        let error = call(&session, "tools/call").await.unwrap_err().to_string();
        assert!(error.contains("`a`"), "AUTH-C-105: {error}");
        assert_eq!(server.requests_at(Endpoint::Authorization).len(), 1);
    }
}

#[tokio::test]
async fn offline_access_is_asked_for_only_where_it_is_listed() {
    for (listed, wanted, expected) in [
        (true, true, "a offline_access"),
        (true, false, "a"),
        (false, true, "a"),
    ] {
        let (server, resource) = start().await;
        if listed {
            let scopes = serde_json::json!(["admin", "offline_access"]);
            server.inject(Fault::Replace(
                Endpoint::OAuthMetadata,
                "scopes_supported",
                scopes,
            ));
        }
        resource.set_extra(r#","scopes_supported":["a","offline_access"]"#);
        let session = session(&resource, &oauth().offline_access(wanted));
        call(&session, "tools/list").await.unwrap();
        let authorization = &server.requests_at(Endpoint::Authorization)[0];
        assert_eq!(
            authorization.parameter("scope"),
            Some(expected),
            "AUTH-C-101 AUTH-C-104"
        );
        let prompt = authorization.parameter("prompt");
        assert_eq!(prompt.is_some(), expected != "a", "AUTH-C-76");
    }
}

#[tokio::test]
async fn logout_revokes_and_deletes_the_tokens() {
    let (server, resource) = start().await;
    let store: Arc<MemoryStore> = Arc::default();
    let client = oauth().store(store.clone());
    let session = session(&resource, &client);
    call(&session, "tools/list").await.unwrap();
    server.inject(Fault::Status(
        Endpoint::Revocation,
        http::StatusCode::INTERNAL_SERVER_ERROR,
    ));
    assert!(client.logout(&resource.url()).await.is_err(), "AUTH-C-121");
    assert_eq!(
        server.requests_at(Endpoint::Revocation).len(),
        1,
        "AUTH-C-121"
    );
    let key = StoreKey::server(&resource.url());
    assert!(store.load(&key).await.unwrap().is_none(), "AUTH-C-121");
    resource.rule(|seen| match &seen.token {
        None => Verdict::Unauthorized(String::new()),
        Some(_) => Verdict::Accept,
    });
    call(&session, "tools/list").await.unwrap();
    assert_eq!(resource.tokens()[2], None, "AUTH-C-121");
}

/// The address of the MCP server decides which networks may be contacted.
#[tokio::test]
async fn a_logout_without_a_session_finds_the_address_of_the_server() {
    let (server, resource) = start().await;
    let store: Arc<MemoryStore> = Arc::default();
    for (has_session, requests) in [(true, 0), (false, 1)] {
        let mut client = oauth().store(store.clone());
        call(&session(&resource, &client), "tools/list")
            .await
            .unwrap();
        if !has_session {
            client = oauth().store(store.clone());
        }
        let before = resource.documents();
        server.clear_requests();
        client.logout(&resource.url()).await.unwrap();
        assert_eq!(resource.documents(), before + requests, "AUTH-C-130");
        let revoked = server.requests_at(Endpoint::Revocation);
        assert_eq!(revoked.len(), 1, "AUTH-C-121");
    }
}

#[tokio::test]
async fn a_token_source_replaces_the_authorization_server() {
    let (server, resource) = start().await;
    let tokens = std::sync::atomic::AtomicU32::new(0);
    let source = move || {
        let count = tokens.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        async move { Ok(format!("token-{count}").into()) }
    };
    resource.rule(|seen| match seen.token.as_deref() {
        Some("token-0") => Verdict::Unauthorized(String::new()),
        _ => Verdict::Accept,
    });
    let session = session(&resource, &OAuth::token_source(source));
    call(&session, "tools/list").await.unwrap();
    let tokens: Vec<_> = resource.tokens().into_iter().flatten().collect();
    assert_eq!(tokens, ["token-0", "token-1"]);
    assert!(server.requests().is_empty());
}

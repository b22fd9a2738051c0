//! Refresh: before the expiry, after a refusal, and by several at once.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::fixture::{Resource, Verdict, approve, call, clock, oauth, session};
use crate::testing::{Endpoint, Fault, RecordedRequest, TestAuthorizationServer};
use crate::{Callback, Clock, OAuth};

/// Starts servers whose tokens are valid for an hour, and a clock of the client.
pub(super) async fn start() -> (TestAuthorizationServer, Resource, Clock) {
    let server = TestAuthorizationServer::builder()
        .access_token_lifetime(Duration::from_secs(3600))
        .start()
        .await
        .unwrap();
    let resource = Resource::start(&server).await;
    (server, resource, clock())
}

pub(super) fn refreshes(server: &TestAuthorizationServer) -> Vec<RecordedRequest> {
    let requests = server.requests_at(Endpoint::Token).into_iter();
    requests
        .filter(|request| request.parameter("grant_type") == Some("refresh_token"))
        .collect()
}

#[tokio::test]
async fn a_token_is_refreshed_before_it_expires() {
    let (server, resource, clock) = start().await;
    let session = session(&resource, &oauth().clock(clock.clone()));
    call(&session, "tools/list").await.unwrap();
    clock.advance(Duration::from_secs(3500));
    call(&session, "tools/list").await.unwrap();
    assert!(refreshes(&server).is_empty(), "AUTH-C-113");
    clock.advance(Duration::from_secs(80));
    call(&session, "tools/list").await.unwrap();
    call(&session, "tools/list").await.unwrap();
    let refreshes = refreshes(&server);
    assert_eq!(refreshes.len(), 1, "AUTH-C-113");
    assert_eq!(
        refreshes[0].parameter("resource"),
        Some(&*resource.url()),
        "AUTH-C-114"
    );
    assert_eq!(refreshes[0].parameter("scope"), None, "AUTH-C-114");
    let tokens = resource.tokens();
    assert_ne!(tokens[2], tokens[3]);
    assert_eq!(tokens[3], tokens[4]);
    assert_eq!(server.requests_at(Endpoint::Authorization).len(), 1);
}

#[tokio::test]
async fn the_scopes_are_repeated_in_a_refresh_on_request() {
    for (repeats, expected) in [(false, None), (true, Some("files:read"))] {
        let (server, resource, clock) = start().await;
        let mut oauth = oauth().clock(clock.clone()).offline_access(false);
        oauth = oauth.scopes("files:read".parse().unwrap());
        if repeats {
            oauth = oauth.scopes_in_refresh();
        }
        let session = session(&resource, &oauth);
        call(&session, "tools/list").await.unwrap();
        clock.advance(Duration::from_secs(3580));
        call(&session, "tools/list").await.unwrap();
        let refreshes = refreshes(&server);
        assert_eq!(refreshes.len(), 1);
        assert_eq!(refreshes[0].parameter("scope"), expected);
    }
}

#[tokio::test]
async fn a_refused_token_is_refreshed_once() {
    let (server, resource, clock) = start().await;
    let session = session(&resource, &oauth().clock(clock));
    call(&session, "tools/list").await.unwrap();
    let old = resource.tokens()[1].clone();
    resource.rule(move |seen| {
        if seen.token == old {
            Verdict::Unauthorized(r#", error="invalid_token""#.into())
        } else {
            Verdict::Accept
        }
    });
    call(&session, "tools/list").await.unwrap();
    assert_eq!(refreshes(&server).len(), 1, "AUTH-C-113");
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        1,
        "AUTH-C-113"
    );
}

#[tokio::test]
async fn a_hundred_requests_need_one_authorization_and_one_refresh() {
    let (server, resource, clock) = start().await;
    let session = Arc::new(session(&resource, &oauth().clock(clock.clone())));
    let burst = || {
        let calls: Vec<_> = (0..100)
            .map(|_| {
                let session = Arc::clone(&session);
                tokio::spawn(async move { call(&session, "tools/list").await })
            })
            .collect();
        async {
            for call in calls {
                call.await.unwrap().unwrap();
            }
        }
    };
    burst().await;
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        1,
        "AUTH-X-15"
    );
    clock.advance(Duration::from_secs(3590));
    burst().await;
    assert_eq!(refreshes(&server).len(), 1, "AUTH-X-15 AUTH-C-116");
}

#[tokio::test]
async fn a_lost_answer_costs_at_most_a_new_authorization() {
    let (server, resource, clock) = start().await;
    let session = session(&resource, &oauth().clock(clock.clone()));
    call(&session, "tools/list").await.unwrap();
    clock.advance(Duration::from_secs(3700));
    server.inject_once(Fault::LoseAnswer(Endpoint::Token));
    let error = call(&session, "tools/list").await.unwrap_err();
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        1,
        "AUTH-C-117: {error}"
    );
    resource.rule(|seen| match seen.token {
        None => Verdict::Unauthorized(String::new()),
        Some(_) => Verdict::Accept,
    });
    call(&session, "tools/list").await.unwrap();
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        2,
        "AUTH-X-15"
    );
}

#[tokio::test]
async fn an_outage_deletes_nothing() {
    let (server, resource, clock) = start().await;
    let session = session(&resource, &oauth().clock(clock.clone()));
    call(&session, "tools/list").await.unwrap();
    let status = Fault::Status(Endpoint::Token, StatusCode::SERVICE_UNAVAILABLE);
    server.inject(status);
    clock.advance(Duration::from_secs(3580));
    call(&session, "tools/list").await.unwrap();
    clock.advance(Duration::from_secs(100));
    assert!(call(&session, "tools/list").await.is_err(), "AUTH-C-117");
    server.clear_faults();
    call(&session, "tools/list").await.unwrap();
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        1,
        "AUTH-C-117"
    );
}

#[tokio::test]
async fn a_revoked_grant_leads_to_a_new_authorization() {
    let (server, resource, clock) = start().await;
    let session = session(&resource, &oauth().clock(clock.clone()));
    call(&session, "tools/list").await.unwrap();
    server.revoke_user("user");
    clock.advance(Duration::from_secs(3700));
    call(&session, "tools/list").await.unwrap();
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        2,
        "AUTH-C-112"
    );
    let tokens = resource.tokens();
    assert_eq!(tokens[2], None, "AUTH-C-117");
}

#[tokio::test]
async fn without_a_refresh_token_the_user_is_asked_again() {
    let server = TestAuthorizationServer::builder().without_refresh_tokens();
    let server = server.start().await.unwrap();
    let resource = Resource::start(&server).await;
    let session = session(&resource, &oauth());
    call(&session, "tools/list").await.unwrap();
    let old = resource.tokens()[1].clone();
    resource.rule(move |seen| {
        if seen.token == old {
            Verdict::Unauthorized(String::new())
        } else {
            Verdict::Accept
        }
    });
    call(&session, "tools/list").await.unwrap();
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        2,
        "AUTH-C-112"
    );
}

#[tokio::test]
async fn a_cancelled_request_cancels_neither_refresh_nor_others() {
    let (server, resource, clock) = start().await;
    let session = Arc::new(session(&resource, &oauth().clock(clock.clone())));
    call(&session, "tools/list").await.unwrap();
    clock.advance(Duration::from_secs(3590));
    // Polled once, the leader has started the refresh.
    let mut leader = Box::pin(call(&session, "tools/list"));
    let polled = std::future::poll_fn(|context| {
        std::task::Poll::Ready(leader.as_mut().poll(context).is_pending())
    });
    assert!(polled.await);
    drop(leader);
    call(&session, "tools/list").await.unwrap();
    assert_eq!(refreshes(&server).len(), 1, "AUTH-X-15 AUTH-C-119");
    assert_eq!(
        server.requests_at(Endpoint::Authorization).len(),
        1,
        "AUTH-C-119"
    );
}

#[tokio::test]
async fn a_flow_that_no_request_waits_for_ends() {
    let (server, resource, _) = start().await;
    let (opened, is_open) = tokio::sync::oneshot::channel();
    let opened = Arc::new(std::sync::Mutex::new(Some(opened)));
    let (dropped, was_dropped) = tokio::sync::oneshot::channel::<()>();
    let dropped = Arc::new(std::sync::Mutex::new(Some(dropped)));
    let agent = Callback::new(super::fixture::REDIRECT_URI, move |request| {
        let (opened, guard) = (
            opened.lock().unwrap().take(),
            dropped.lock().unwrap().take(),
        );
        async move {
            if let Some(opened) = opened {
                opened.send(()).unwrap();
                std::future::pending::<()>().await;
            }
            drop(guard);
            approve(request).await
        }
    });
    let session = session(&resource, &OAuth::callback("test client", agent));
    {
        let mut waiting = Box::pin(call(&session, "tools/list"));
        tokio::select! {
            _ = &mut waiting => panic!("the user has not answered"),
            opened = is_open => opened.unwrap(),
        }
    }
    assert!(was_dropped.await.is_err());
    assert!(server.requests_at(Endpoint::Token).is_empty());
    call(&session, "tools/list").await.unwrap();
}

//! Bounds of retries, refreshes and authorizations.

use super::fixture::{Resource, Verdict, call, oauth, session};
use crate::testing::{Endpoint, TestAuthorizationServer};

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
    assert!(
        server.requests_at(Endpoint::Authorization).len() <= 3,
        "AUTH-X-13 AUTH-C-12"
    );
    assert!(
        server.requests_at(Endpoint::Token).len() <= 6,
        "AUTH-X-13 AUTH-C-12"
    );
    assert!(resource.seen().len() <= 25, "AUTH-X-13");
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
    assert!(
        server.requests_at(Endpoint::Authorization).len() <= 3,
        "AUTH-X-13 AUTH-C-109"
    );
    assert!(resource.seen().len() <= 80, "AUTH-X-13");
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

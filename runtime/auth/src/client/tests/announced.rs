//! Metadata of a resource that are at no well-known place: only challenges announce them.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::fixture::{Resource, Verdict, call, clock, oauth, session};
use crate::testing::{Endpoint, Fault, TestAuthorizationServer, TestClient};
use crate::{ClientCredentials, Clock, MemoryStore, OAuth};

const PATH: &str = "/announced";

async fn start() -> (TestAuthorizationServer, Resource) {
    let planner = TestClient::secret("planner", "s3cret");
    let builder = TestAuthorizationServer::builder().client(planner);
    let builder = builder.access_token_lifetime(Duration::from_secs(3600));
    let server = builder.start().await.unwrap();
    let resource = Resource::start(&server).await;
    resource.publish_at(PATH);
    (server, resource)
}

/// Returns a program without a user. Each program has the tokens of those before it.
fn machine(credentials: &ClientCredentials, clock: &Clock, store: &Arc<MemoryStore>) -> OAuth {
    let client = OAuth::client_credentials(credentials.clone());
    client.clock(clock.clone()).store(store.clone())
}

#[tokio::test]
async fn a_grant_is_repeated_at_the_authorization_server_of_its_tokens() {
    let (server, resource) = start().await;
    let credentials = || ClientCredentials::secret("planner", "s3cret");
    for credentials in [
        credentials().allow_any_issuer(),
        credentials().issuer(server.issuer()),
    ] {
        for is_restarted in [false, true] {
            server.clear_requests();
            let (clock, store) = (clock(), Arc::default());
            let start = || session(&resource, &machine(&credentials, &clock, &store));
            let mut session = start();
            call(&session, "tools/list").await.unwrap();
            if is_restarted {
                session = start();
            }
            clock.advance(Duration::from_secs(3590));
            call(&session, "tools/list").await.unwrap();
            assert_eq!(server.requests_at(Endpoint::Token).len(), 2, "AUTH-C-141");
            let sent = resource.strays();
            assert!(sent.is_empty(), "AUTH-C-20 AUTH-C-46: {sent:?}");
        }
    }
}

#[tokio::test]
async fn a_step_up_needs_no_second_announcement() {
    for is_restarted in [false, true] {
        let (server, resource) = start().await;
        let mut forbidden = false;
        resource.rule(move |seen| match &seen.token {
            None => Verdict::Unauthorized(String::new()),
            Some(_) if seen.method == "tools/list" => Verdict::Accept,
            Some(_) if std::mem::replace(&mut forbidden, true) => Verdict::Accept,
            Some(_) => Verdict::Forbidden(r#"Bearer error="insufficient_scope", scope="b""#.into()),
        });
        let store: Arc<MemoryStore> = Arc::default();
        let start = || session(&resource, &oauth().store(store.clone()));
        let mut session = start();
        call(&session, "tools/list").await.unwrap();
        if is_restarted {
            session = start();
        }
        call(&session, "tools/call").await.unwrap();
        assert_eq!(server.requests_at(Endpoint::Authorization).len(), 2);
        let sent = resource.strays();
        assert!(sent.is_empty(), "AUTH-C-20 AUTH-C-46: {sent:?}");
    }
}

#[tokio::test]
async fn a_program_without_a_user_leaves_a_server_that_was_replaced() {
    for is_restarted in [false, true] {
        let ((server, resource), (other, _)) = (start().await, start().await);
        let credentials = ClientCredentials::secret("planner", "s3cret").allow_any_issuer();
        let (clock, store) = (clock(), Arc::default());
        let start = || session(&resource, &machine(&credentials, &clock, &store));
        let mut session = start();
        call(&session, "tools/list").await.unwrap();
        let old = resource.tokens()[1].clone();
        resource.rule(move |seen| {
            if seen.token.is_none() || seen.token == old {
                Verdict::Unauthorized(String::new())
            } else {
                Verdict::Accept
            }
        });
        resource.set_issuers([other.issuer()]);
        for endpoint in [
            Endpoint::OAuthMetadata,
            Endpoint::OpenIdMetadata,
            Endpoint::Token,
        ] {
            server.inject(Fault::Status(endpoint, StatusCode::SERVICE_UNAVAILABLE));
        }
        if is_restarted {
            session = start();
        }
        clock.advance(Duration::from_secs(3700));
        call(&session, "tools/list").await.unwrap();
        assert_eq!(other.requests_at(Endpoint::Token).len(), 1, "AUTH-C-31");
    }
}

//! Authorization servers that fail, and those that are gone for good.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;

use super::fixture::{Resource, Verdict, WELL_KNOWN, call, clock, oauth, session};
use crate::testing::{Endpoint, Fault, TestAuthorizationServer};
use crate::{Clock, MemoryStore, OAuth};

const GONE: StatusCode = StatusCode::NOT_FOUND;
const DOWN: StatusCode = StatusCode::SERVICE_UNAVAILABLE;

/// Two authorization servers, an MCP server with tokens of the first one, and the client that has obtained them.
struct Setup {
    first: TestAuthorizationServer,
    other: TestAuthorizationServer,
    resource: Resource,
    clock: Clock,
    store: Arc<MemoryStore>,
    client: OAuth,
}

impl Setup {
    /// The first token expires after an hour, and the MCP server does not accept it any more.
    async fn new() -> Self {
        Self::with_metadata_at(WELL_KNOWN).await
    }

    /// As `new`, with the metadata of the MCP server at this path.
    async fn with_metadata_at(path: &str) -> Self {
        let start = || {
            let builder = TestAuthorizationServer::builder();
            builder
                .access_token_lifetime(Duration::from_secs(3600))
                .start()
        };
        let (first, other) = (start().await.unwrap(), start().await.unwrap());
        let (resource, clock) = (Resource::start(&first).await, clock());
        resource.publish_at(path);
        let store: Arc<MemoryStore> = Arc::default();
        let client = oauth().clock(clock.clone()).store(store.clone());
        call(&session(&resource, &client), "tools/list")
            .await
            .unwrap();
        let old = resource.tokens()[1].clone();
        resource.rule(move |seen| {
            if seen.token.is_none() || seen.token == old {
                Verdict::Unauthorized(String::new())
            } else {
                Verdict::Accept
            }
        });
        Self {
            first,
            other,
            resource,
            clock,
            store,
            client,
        }
    }

    fn new_client(&self) -> OAuth {
        oauth().clock(self.clock.clone()).store(self.store.clone())
    }

    fn fail(&self, endpoints: &[Endpoint], status: StatusCode) {
        for endpoint in endpoints {
            self.first.inject(Fault::Status(*endpoint, status));
        }
    }

    /// Sends a request. Returns its error, and the number of authorizations at each server.
    async fn call(&self) -> (Option<String>, [usize; 2]) {
        let called = call(&session(&self.resource, &self.client), "tools/list").await;
        let servers = [&self.first, &self.other];
        let count =
            |server: &TestAuthorizationServer| server.requests_at(Endpoint::Authorization).len();
        let error = called.err().map(|error| error.to_string());
        (error, servers.map(count))
    }
}

const METADATA: [Endpoint; 2] = [Endpoint::OAuthMetadata, Endpoint::OpenIdMetadata];

#[tokio::test]
async fn a_client_leaves_a_server_that_is_gone() {
    let all = [METADATA[0], METADATA[1], Endpoint::Token];
    // A client that starts again has no cached metadata.
    for (endpoints, status, is_restarted) in [
        (&all[..], GONE, false),
        (&all, GONE, true),
        (&[Endpoint::Token], GONE, false),
        (&METADATA, GONE, true),
        (&all, DOWN, false),
        (&all, DOWN, true),
    ] {
        for (is_expired, path) in [
            (true, WELL_KNOWN),
            (false, WELL_KNOWN),
            (true, "/announced"),
        ] {
            let mut setup = Setup::with_metadata_at(path).await;
            setup.resource.set_issuers([setup.other.issuer()]);
            setup.fail(endpoints, status);
            if is_expired {
                setup.clock.advance(Duration::from_secs(3700));
            }
            if is_restarted {
                setup.client = setup.new_client();
            }
            assert_eq!(
                setup.call().await,
                (None, [1, 1]),
                "AUTH-C-31 AUTH-C-55: {endpoints:?} {status} {is_restarted} {is_expired} {path}"
            );
        }
    }
}

#[tokio::test]
async fn an_outage_leads_to_no_other_server() {
    for (expired, accepts_other_spelling) in
        [(true, false), (false, false), (true, true), (false, true)]
    {
        let mut setup = Setup::new().await;
        if accepts_other_spelling {
            // The MCP server does not use it any more.
            let issuer = setup.first.issuer();
            setup.client = setup
                .new_client()
                .accept_issuer(format!("{issuer}/"), issuer);
        }
        let issuers = [setup.other.issuer(), setup.first.issuer()];
        setup.resource.set_issuers(issuers);
        setup.fail(&[Endpoint::Token], DOWN);
        if expired {
            setup.clock.advance(Duration::from_secs(3700));
        }
        let case = format!("expired: {expired}, other spelling: {accepts_other_spelling}");
        let (error, authorizations) = setup.call().await;
        assert!(error.is_some(), "AUTH-C-117: {case}");
        assert_eq!(authorizations, [1, 0], "AUTH-C-117: {case}");
        setup.first.clear_faults();
        assert_eq!(setup.call().await, (None, [1, 0]), "AUTH-C-117: {case}");
    }
}

#[tokio::test]
async fn an_outage_with_an_error_object_asks_no_user_and_deletes_nothing() {
    for (status, code) in [
        (503, "temporarily_unavailable"),
        (500, "server_error"),
        (429, "slow_down"),
        (503, "invalid_grant"),
        (503, "invalid_client"),
    ] {
        for is_expired in [true, false] {
            let setup = Setup::new().await;
            let status = StatusCode::from_u16(status).unwrap();
            setup
                .first
                .inject(Fault::ErrorStatus(Endpoint::Token, status, code));
            if is_expired {
                setup.clock.advance(Duration::from_secs(3700));
            }
            let (error, authorizations) = setup.call().await;
            assert!(error.is_some(), "AUTH-C-117: {status} {code}");
            assert_eq!(authorizations, [1, 0], "AUTH-C-117: {status} {code}");
            setup.first.clear_faults();
            assert_eq!(setup.call().await, (None, [1, 0]), "AUTH-C-117: {code}");
        }
    }
}

#[tokio::test]
async fn a_failed_token_endpoint_is_looked_up_again() {
    for fault in [
        Fault::Status(Endpoint::Token, GONE),
        Fault::Status(Endpoint::Token, DOWN),
        Fault::LoseAnswer(Endpoint::Token),
        Fault::Error(Endpoint::Token, "invalid_client"),
    ] {
        let setup = Setup::new().await;
        setup.clock.advance(Duration::from_secs(3700));
        setup.first.clear_requests();
        setup.first.inject_once(fault.clone());
        // The first one may fail.
        let errors = [setup.call().await.0, setup.call().await.0];
        let documents = setup.first.requests_at(Endpoint::OAuthMetadata);
        assert_eq!(documents.len(), 1, "AUTH-C-45 {fault:?}: {errors:?}");
    }
}

//! No part of a token and no secret is in a log, an error or a `Debug` output. AUTH-R-44, AUTH-X-18.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::StatusCode;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::{RESOURCE, clock};
use crate::Secret;
use crate::server::{FixedTokenVerifier, IntrospectionVerifier, JwtVerifier, Verifier};
use crate::testing::{Endpoint, Fault, TestAuthorizationServer, TestClient};

const SECRET: &str = "can4ry-client-secret";
const FIXED: &str = "can4ry-fixed-token";

/// Records the events of all levels.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<String>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.add(&fields.0);
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

impl Recorder {
    fn add(&self, text: &str) {
        let _ = writeln!(self.0.lock().unwrap(), "{text}");
    }

    fn log(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

/// Returns a valid token, and tokens with each kind of defect.
fn tokens(server: &TestAuthorizationServer) -> Vec<String> {
    let token = || {
        let token = server.token("can4ry-subject").resource(RESOURCE);
        token.claim("note", json!("can4ry-claim"))
    };
    let good = token().issue();
    let (signed, _) = good.rsplit_once('.').unwrap();
    vec![
        format!("{signed}.{}", "A".repeat(86)),
        format!("{good}A"),
        token().lifetime(Duration::ZERO).issue(),
        token().typ("logout+jwt").issue(),
        token().header("kid", json!("can4ry-kid")).issue(),
        token().header("alg", json!("can4ry-alg")).issue(),
        token().claim("exp", json!("can4ry-exp")).issue(),
        token().claim("scope", json!(["can4ry scope"])).issue(),
        token().claim("iss", json!("can4ry-iss")).issue(),
        "can4ry-opaque-token".to_owned(),
        FIXED.to_owned(),
        good,
    ]
}

#[tokio::test]
async fn nothing_of_a_token_is_logged() {
    let recorder = Recorder::default();
    let _guard = tracing::subscriber::set_default(recorder.clone());
    let clock = clock();
    let client = TestClient::secret("mcp", SECRET);
    let builder = TestAuthorizationServer::builder().client(client);
    let server = builder.clock(clock.clone()).start().await.unwrap();
    let tokens = tokens(&server);
    for fault in [
        None,
        Some(Fault::Status(
            Endpoint::Introspection,
            StatusCode::FORBIDDEN,
        )),
        Some(Fault::Body(Endpoint::Introspection, "can4ry-body".into())),
        Some(Fault::Body(
            Endpoint::Jwks,
            r#"{"keys":"can4ry-keys"}"#.into(),
        )),
        Some(Fault::Replace(
            Endpoint::OAuthMetadata,
            "jwks_uri",
            json!(["can4ry"]),
        )),
    ] {
        // Another test may have reached an event for the first time while this subscriber was set; the event is then disabled.
        tracing::callsite::rebuild_interest_cache();
        server.clear_faults();
        if let Some(fault) = fault {
            server.inject(fault);
        }
        let jwt = JwtVerifier::builder(server.issuer()).clock(clock.clone());
        let jwt = jwt.build().unwrap();
        let secret = Secret::from(SECRET);
        let opaque = IntrospectionVerifier::builder(server.issuer(), "mcp", secret);
        recorder.add(&format!("{opaque:?} {jwt:?}"));
        let opaque = opaque.clock(clock.clone()).build().unwrap();
        let fixed = FixedTokenVerifier::new(server.issuer(), RESOURCE).unwrap();
        let scopes = "files:read".parse().unwrap();
        let fixed = fixed.token(&Secret::from(FIXED), "ci", scopes).unwrap();
        recorder.add(&format!("{opaque:?} {fixed:?}"));
        let verifiers: [&dyn Verifier; 3] = [&jwt, &opaque, &fixed];
        for (verifier, token) in verifiers
            .into_iter()
            .flat_map(|verifier| tokens.iter().map(move |token| (verifier, token)))
        {
            if let Err(error) = verifier.verify(token).await {
                recorder.add(&format!("{error} {error:?}"));
            }
        }
    }
    let log = recorder.log();
    assert!(log.contains("an access token is invalid"), "{log}");
    assert!(log.contains("a fetch failed"), "{log}");
    assert!(!log.contains("can4ry"), "{log}");
    for token in &tokens {
        for part in token.split('.').filter(|part| part.len() > 20) {
            assert!(!log.contains(part), "{log}");
        }
    }
}

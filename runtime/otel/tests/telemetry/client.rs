//! Spans of a client: errors and timeouts.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use treenail::client::{ClientError, Session, SessionFuture, SessionRequest, SessionWrapper};
use treenail::prelude::*;

use crate::collector::attribute;
use crate::spans::Fixture;

#[tokio::test]
async fn spans_of_a_client_cover_errors() {
    let desk = Fixture::new();
    let client = desk.collector.program("client").telemetry;
    assert!(
        !treenail::otel::Telemetry::new().is_enabled(),
        "there is no global provider"
    );
    let session = McpClientSession::builder()
        .connection(desk.connection)
        .wrap_session(move |session| client.session(session));
    let session = session.build().await.unwrap();
    session.tools_call("fail", json!({})).await.unwrap();
    session.tools_call("nothing", json!({})).await.unwrap_err();
    let late = session
        .tools_call("wait", json!({}))
        .timeout(Duration::ZERO);
    late.await.unwrap_err();
    let spans = desk.collector.spans();
    let errors: Vec<_> = spans
        .iter()
        .filter(|(service, _)| service == "client")
        .map(|(_, span)| {
            (
                span["name"].as_str().unwrap(),
                attribute(span, "error.type"),
            )
        })
        .filter(|(name, _)| name.starts_with("tools/call"))
        .collect();
    let expected = [
        ("tools/call fail", Some("tool_error".to_owned())),
        ("tools/call nothing", Some("-32602".to_owned())),
        ("tools/call wait", Some("timeout".to_owned())),
    ];
    assert_eq!(errors, expected);
}

/// Session of which the calls of tools time out.
#[derive(Debug)]
struct Late(Arc<dyn Session>);

impl SessionWrapper for Late {
    fn inner(&self) -> &dyn Session {
        &*self.0
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        if request.method == "tools/call" {
            return Box::pin(async { Err(ClientError::Timeout(Duration::ZERO)) });
        }
        self.0.request(request)
    }
}

#[tokio::test]
async fn a_timeout_that_an_inner_session_reports_is_one() {
    let desk = Fixture::new();
    let client = desk.collector.program("client").telemetry;
    let session = McpClientSession::builder()
        .connection(desk.connection)
        .wrap_session(move |session| client.session(Arc::new(Late(session))));
    let session = session.build().await.unwrap();
    session.tools_call("fail", json!({})).await.unwrap_err();
    let spans = desk.collector.spans();
    let span = spans
        .iter()
        .find(|(_, span)| span["name"] == "tools/call fail");
    let span = &span.unwrap_or_else(|| panic!("{spans:?}")).1;
    assert_eq!(attribute(span, "error.type").as_deref(), Some("timeout"));
}

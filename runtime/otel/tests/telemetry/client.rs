//! Spans of a client: errors, timeouts, transports and methods of extensions.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use treenail::client::{
    ClientError, IncomingHandler, Session, SessionFuture, SessionNotification, SessionRequest,
    SessionWrapper, TransportKind,
};
use treenail::prelude::*;
use treenail::schema::JsonObject;

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

/// Session with the standard streams of a child process.
#[derive(Debug)]
struct Child(Arc<dyn Session>);

impl Session for Child {
    fn listen(&self, incoming: Arc<dyn IncomingHandler>) {
        self.0.listen(incoming);
    }

    fn request(&self, request: SessionRequest) -> SessionFuture<'_, String> {
        self.0.request(request)
    }

    fn notify(&self, notification: SessionNotification) -> SessionFuture<'_, ()> {
        self.0.notify(notification)
    }

    fn transport(&self) -> TransportKind {
        TransportKind::Stdio
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        self.0.close()
    }
}

#[tokio::test]
async fn only_the_streams_of_a_child_are_a_pipe() {
    for (is_child, network) in [(true, Some("pipe")), (false, None)] {
        let desk = Fixture::new();
        let client = desk.collector.program("client").telemetry;
        let session = McpClientSession::builder()
            .connection(desk.connection)
            .wrap_session(move |session| {
                client.session(if is_child {
                    Arc::new(Child(session))
                } else {
                    session
                })
            });
        session.build().await.unwrap();
        let spans = desk.collector.spans();
        let (_, span) = spans
            .iter()
            .find(|(service, _)| service == "client")
            .unwrap_or_else(|| panic!("{spans:?}"));
        let transport = attribute(span, "network.transport");
        assert_eq!(transport.as_deref(), network, "{span}");
    }
}

#[tokio::test]
async fn a_method_of_an_extension_has_its_name() {
    let desk = Fixture::new();
    let client = desk.collector.program("client").telemetry;
    let session = McpClientSession::builder()
        .connection(desk.connection)
        .extension("com.example/lamp", JsonObject::new())
        .wrap_session(move |session| client.session(session));
    let session = session.build().await.unwrap();
    let dimmed = session.extension_request("com.example/lamp", "lamp/dim", json!({}));
    let _: Value = dimmed.await.unwrap();
    let spans = desk.collector.spans();
    let named: Vec<_> = spans
        .iter()
        .filter(|(_, span)| span["name"] == "lamp/dim")
        .map(|(service, span)| (&**service, attribute(span, "mcp.method.name")))
        .collect();
    let name = Some("lamp/dim".to_owned());
    assert_eq!(named, [("desk", name.clone()), ("client", name)]);
}

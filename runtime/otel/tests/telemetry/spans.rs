//! Spans of a server: names, parents, links, errors and cancellations.

use std::sync::Arc;

use opentelemetry::Context as OtelContext;
use opentelemetry::trace::{FutureExt, TraceContextExt, Tracer, TracerProvider};
use serde_json::{Value, json};
use tokio::sync::Notify;
use treenail::extension::Extension;
use treenail::otel::opentelemetry;
use treenail::prelude::*;
use treenail::schema::Revision;
use treenail::transport::{Connection, Handled};

use crate::collector::{Collector, Program, attribute, list};

struct Desk {
    started: Arc<Notify>,
}

#[mcp_tool]
impl Desk {
    #[tool]
    fn echo(text: String) -> String {
        text
    }

    #[tool]
    fn fail() -> Result<(), ToolError> {
        Err(ToolError::new("a secret reason"))
    }

    #[tool]
    async fn wait(&self) {
        self.started.notify_one();
        std::future::pending::<()>().await;
    }

    /// Returns the trace of the call, in the future and in a blocking thread.
    #[tool]
    async fn trace(cx: &Context) -> Vec<String> {
        tokio::task::yield_now().await;
        let current = OtelContext::current();
        let attached = cx.extension::<OtelContext>().cloned().unwrap_or_default();
        let trace = |context: OtelContext| context.span().span_context().trace_id().to_string();
        vec![trace(current), trace(attached)]
    }

    #[prompt]
    fn greet() -> &'static str {
        "Hello"
    }

    #[resource("desk://drawer/{number}")]
    fn drawer(number: u8) -> String {
        format!("drawer {number}")
    }
}

pub(crate) struct Fixture {
    pub(crate) collector: Collector,
    program: Program,
    pub(crate) connection: Connection,
    started: Arc<Notify>,
}

/// Method of an extension.
async fn dim(_: Context, _: Value) -> Result<Value, ToolError> {
    Ok(json!({}))
}

impl Fixture {
    pub(crate) fn new() -> Self {
        let collector = Collector::start();
        let program = collector.program("desk");
        let started = Arc::new(Notify::new());
        let desk = Desk {
            started: Arc::clone(&started),
        };
        let telemetry = program.telemetry.clone();
        let extension = Extension::new("com.example/lamp").method("lamp/dim", dim);
        let server = treenail::server!()
            .mount(desk)
            .extension(extension)
            .observe(telemetry);
        Self {
            connection: server.build().unwrap().connect(),
            collector,
            program,
            started,
        }
    }

    fn handle(&mut self, method: &str, mut params: Value) -> (Handled, Vec<u8>) {
        let version = "io.modelcontextprotocol/protocolVersion";
        params["_meta"][version] = json!(Revision::LATEST.as_str());
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        params["_meta"]["io.modelcontextprotocol/clientInfo"] =
            json!({"name": "test", "version": "1"});
        let message = json!({"jsonrpc": "2.0", "id": "r-1", "method": method, "params": params});
        let mut out = Vec::new();
        let handled = self
            .connection
            .handle_message(message.to_string().as_bytes(), &mut out);
        (handled, out)
    }

    /// Sends a request, and returns its response and its span.
    async fn request(&mut self, method: &str, params: Value) -> (Value, Value) {
        let before = self.collector.spans().len();
        let (handled, mut out) = self.handle(method, params);
        if let Handled::Pending(response) = handled {
            out = response.await;
        }
        let response = serde_json::from_slice(&out).unwrap();
        let mut spans = self.collector.spans();
        assert_eq!(spans.len(), before + 1, "{spans:?}");
        (response, spans.remove(before).1)
    }
}

const ERROR: u8 = 2;

#[tokio::test]
async fn spans_have_the_names_and_errors_of_the_conventions() {
    let mut desk = Fixture::new();
    for (method, params, name, error) in [
        (
            "tools/call",
            json!({"name": "echo", "arguments": {"text": "x"}}),
            "tools/call echo",
            None,
        ),
        (
            "tools/call",
            json!({"name": "fail"}),
            "tools/call fail",
            Some("tool_error"),
        ),
        // Clients choose unknown names freely.
        (
            "tools/call",
            json!({"name": "nothing"}),
            "tools/call",
            Some("-32602"),
        ),
        (
            "prompts/get",
            json!({"name": "greet"}),
            "prompts/get greet",
            None,
        ),
        (
            "resources/read",
            json!({"uri": "desk://drawer/7"}),
            "resources/read",
            None,
        ),
        ("tools/list", json!({}), "tools/list", None),
        ("server/discover", json!({}), "server/discover", None),
        // Of an extension that the client has not declared.
        ("lamp/dim", json!({}), "lamp/dim", Some("-32021")),
        ("no/such", json!({}), "_OTHER", Some("-32601")),
    ] {
        let (response, span) = desk.request(method, params).await;
        assert_eq!(span["name"], name);
        let method = name.split(' ').next();
        assert_eq!(attribute(&span, "mcp.method.name").as_deref(), method);
        assert_eq!(attribute(&span, "error.type").as_deref(), error, "{span}");
        assert_eq!(
            attribute(&span, "jsonrpc.request.id").as_deref(),
            Some("r-1")
        );
        let code = response["error"]["code"]
            .as_i64()
            .map(|code| code.to_string());
        assert_eq!(attribute(&span, "rpc.response.status_code"), code);
        let message = response["error"]["message"].as_str().unwrap_or_default();
        assert_eq!(
            span["status"]["message"].as_str().unwrap_or_default(),
            message
        );
        assert_eq!(span["status"]["code"] == ERROR, error.is_some(), "{span}");
        assert!(!span.to_string().contains("secret"), "{span}");
        let uri = attribute(&span, "mcp.resource.uri");
        assert_eq!(
            uri.as_deref(),
            response["result"]["contents"][0]["uri"].as_str()
        );
    }
}

#[tokio::test]
async fn the_context_of_the_client_is_the_parent_and_that_of_the_transport_is_linked() {
    let mut desk = Fixture::new();
    let tracer = desk.program.traces.tracer("treenail");
    let transport = tracer.start("GET /mcp");
    let transport = OtelContext::new().with_span(transport);
    let id = transport.span().span_context().span_id().to_string();
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent = "00f067aa0ba902b7";
    let meta = json!({
        "traceparent": format!("00-{trace}-{parent}-01"),
        "tracestate": "rojo=00f067aa0ba902b7",
        "baggage": "user=alice",
    });
    let params = json!({"name": "trace", "_meta": meta});
    let call = desk.request("tools/call", params);
    let (response, span) = call.with_context(transport.clone()).await;
    assert_eq!(span["traceId"], trace);
    assert_eq!(span["parentSpanId"], parent);
    assert_eq!(span["traceState"], "rojo=00f067aa0ba902b7");
    let links = list(&span, "links");
    assert_eq!(links.len(), 1, "{span}");
    assert_eq!(links[0]["spanId"], id);
    // The function runs in the context of its request.
    assert_eq!(
        response["result"]["structuredContent"],
        json!([trace, trace])
    );

    // Without a context of the client, that of the transport is the parent.
    let call = desk.request("tools/call", json!({"name": "trace"}));
    let (_, span) = call.with_context(transport).await;
    assert_eq!(span["parentSpanId"], id);
    assert_eq!(list(&span, "links").len(), 0);
    // An invalid one is ignored.
    let params = json!({"name": "trace", "_meta": {"traceparent": "00-0-0-01"}});
    let (_, span) = desk.request("tools/call", params).await;
    assert_eq!(span["parentSpanId"].as_str().unwrap_or_default(), "");
}

#[tokio::test]
async fn cancelled_requests_are_marked() {
    let mut desk = Fixture::new();
    let (handled, _) = desk.handle("tools/call", json!({"name": "wait"}));
    let Handled::Pending(response) = handled else {
        panic!("{handled:?}");
    };
    desk.started.notified().await;
    assert_eq!(desk.collector.spans().len(), 0);
    drop(response);
    let spans = desk.collector.spans();
    assert_eq!(spans.len(), 1);
    let span = &spans[0].1;
    assert_eq!(attribute(span, "error.type").as_deref(), Some("cancelled"));
    assert_eq!(span["status"]["code"], ERROR);
}

#[tokio::test]
async fn the_cancellation_of_a_subscription_is_its_regular_end() {
    let mut desk = Fixture::new();
    let notifications = json!({"toolsListChanged": true});
    desk.handle(
        "subscriptions/listen",
        json!({"notifications": notifications}),
    );
    assert_eq!(desk.collector.spans().len(), 0);
    drop(desk.connection);
    let spans = desk.collector.spans();
    assert_eq!(spans.len(), 1);
    let span = &spans[0].1;
    assert_eq!(span["name"], "subscriptions/listen");
    assert_eq!(attribute(span, "error.type"), None);
    assert_ne!(span["status"]["code"], ERROR);
}

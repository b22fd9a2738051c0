//! Spans and measurements of servers.

use std::any::Any;
use std::borrow::Cow;

use opentelemetry::trace::{Link, SpanBuilder, SpanContext, SpanKind, TraceContextExt};
use opentelemetry::{Context, KeyValue};
use treenail_runtime::Extensions;
use treenail_runtime::observe::{
    Observation, ObservedRequest, ObservedSession, Outcome, ServerObserver,
};
use treenail_schema::Method;

use crate::attributes::{self, REQUEST_ID, RESOURCE_URI, SESSION_ID, bounded, method_name};
use crate::operation::{Operation, SessionTimer};
use crate::telemetry::Telemetry;

impl ServerObserver for Telemetry {
    fn is_enabled(&self) -> bool {
        Telemetry::is_enabled(self)
    }

    fn request(
        &self,
        request: &ObservedRequest<'_>,
        extensions: &mut Extensions,
    ) -> Option<Box<dyn Observation>> {
        // Clients choose other names freely: they would be span names and time series without bound.
        let name = request.target.as_deref().filter(|_| request.is_known);
        let method = (request.method, request.extension_method);
        let attributes = attributes::of_request(method, name, request.revision, request.transport);
        let context = self
            .records_spans()
            .then(|| self.start(request, name, &attributes));
        if let Some(context) = &context {
            extensions.insert(context.clone());
        }
        let duration = self.instruments().server_operation.clone();
        let operation = Operation::new(request.method, context, attributes, duration);
        Some(Box::new(ServerOperation(operation)))
    }

    fn session(&self, session: &ObservedSession) -> Option<Box<dyn Any + Send + Sync>> {
        self.records_metrics().then(|| {
            let attributes = attributes::of_session(Some(session.revision), session.transport);
            let duration = self.instruments().server_session.clone();
            Box::new(SessionTimer::new(attributes.collect(), duration)) as Box<_>
        })
    }
}

impl Telemetry {
    /// Starts the span of a request, in the context of its client.
    fn start(
        &self,
        request: &ObservedRequest<'_>,
        name: Option<&str>,
        common: &[KeyValue],
    ) -> Context {
        let ambient = Context::current();
        let parent = self
            .propagation()
            .extract(&ambient, |key| request.meta(key));
        let mut attributes = common.to_vec();
        let id = request.id.trim_matches('"');
        attributes.push(KeyValue::new(REQUEST_ID, bounded(id)));
        if let Some(uri) = request.target.as_deref() {
            let names = matches!(request.method, Some(Method::CallTool | Method::GetPrompt));
            if !names {
                attributes.push(KeyValue::new(RESOURCE_URI, bounded(uri)));
            }
        }
        if let Some(session) = request.session_id {
            attributes.push(KeyValue::new(SESSION_ID, bounded(session)));
        }
        let method = method_name(request.method, request.extension_method);
        let mut builder = SpanBuilder::from_name(span_name(method, name))
            .with_kind(SpanKind::Server)
            .with_attributes(attributes);
        if let Some(link) = link(&ambient, &parent) {
            builder = builder.with_links(vec![Link::with_context(link)]);
        }
        self.start_span(builder, &parent)
    }
}

/// Returns the name of a span.
pub(crate) fn span_name(method: Cow<'static, str>, name: Option<&str>) -> Cow<'static, str> {
    match name {
        Some(name) => format!("{method} {}", bounded(name)).into(),
        None => method,
    }
}

/// Returns the span of the transport, if the parent of the request is another one.
fn link(ambient: &Context, parent: &Context) -> Option<SpanContext> {
    let (ambient, parent) = (ambient.span(), parent.span());
    let (ambient, parent) = (ambient.span_context(), parent.span_context());
    (ambient.is_valid() && ambient.span_id() != parent.span_id()).then(|| ambient.clone())
}

struct ServerOperation(Operation);

impl Observation for ServerOperation {
    fn in_scope(&self, run: &mut dyn FnMut()) {
        let _scope = self.0.context.clone().map(Context::attach);
        run();
    }

    fn end(mut self: Box<Self>, outcome: &Outcome) {
        self.0.end(outcome);
    }
}

//! Spans and measurements of clients: a session around another one.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry::trace::{FutureExt as _, SpanBuilder, SpanKind};
use opentelemetry::{Context, KeyValue};
use treenail_runtime::client::{
    ClientError, Session, SessionFuture, SessionRequest, SessionWrapper, TransportKind,
};
use treenail_runtime::internal::{string_member, with_meta};
use treenail_runtime::observe::{ObservedTransport, Outcome};
use treenail_schema::{Method, Revision};

use crate::attributes::{self, OTHER, REQUEST_ID, RESOURCE_URI, bounded, method_name};
use crate::operation::{Operation, SessionTimer};
use crate::server::span_name;
use crate::telemetry::Telemetry;

impl Telemetry {
    /// Wraps the session of a client.
    ///
    /// ```
    /// use treenail::McpClient;
    /// use treenail::otel::Telemetry;
    ///
    /// let telemetry = Telemetry::new();
    /// let client = McpClient::builder()
    ///     .command("my-server")
    ///     .wrap_session(move |session| telemetry.session(session));
    /// ```
    #[cfg(feature = "client")]
    pub fn session(&self, session: Arc<dyn Session>) -> Arc<dyn Session> {
        if !self.is_enabled() {
            return session;
        }
        Arc::new(ObservedClient {
            session,
            telemetry: self.clone(),
            timer: Mutex::new(None),
        })
    }
}

struct ObservedClient {
    session: Arc<dyn Session>,
    telemetry: Telemetry,
    /// Started by the first request, and ended by the end of the session.
    timer: Mutex<Option<SessionTimer>>,
}

impl fmt::Debug for ObservedClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.session.fmt(formatter)
    }
}

impl ObservedClient {
    /// Starts the span of a request, and adds its context to the `_meta`.
    fn start(&self, request: &mut SessionRequest) -> Operation {
        let method = Method::from_name(&request.method);
        let of_extension = method.is_none().then(|| bounded(&request.method));
        let of_extension = of_extension.as_deref();
        let (name, uri) = match method {
            Some(Method::CallTool | Method::GetPrompt) => {
                (string_member(&request.params, "name"), None)
            }
            Some(Method::ReadResource | Method::Subscribe | Method::Unsubscribe) => {
                (None, string_member(&request.params, "uri"))
            }
            _ => (None, None),
        };
        let name = name.as_deref();
        let transport = self.observed_transport();
        let common =
            attributes::of_request((method, of_extension), name, request.revision, transport);
        self.note_session(request.revision);
        let telemetry = &self.telemetry;
        let context = telemetry.records_spans().then(|| {
            let mut attributes = common.clone();
            attributes.push(KeyValue::new(REQUEST_ID, request.id.to_string()));
            attributes.extend(uri.map(|uri| KeyValue::new(RESOURCE_URI, bounded(&uri))));
            let builder =
                SpanBuilder::from_name(span_name(method_name(method, of_extension), name))
                    .with_kind(SpanKind::Client)
                    .with_attributes(attributes);
            let context = telemetry.start_span(builder, &Context::current());
            let members = telemetry.propagation().inject(&context);
            request.params = with_meta(&request.params, &members);
            context
        });
        let duration = telemetry.instruments().client_operation.clone();
        Operation::new(method, context, common, duration)
    }

    fn observed_transport(&self) -> ObservedTransport {
        match self.session.transport() {
            TransportKind::Http => ObservedTransport::Http(""),
            TransportKind::Stdio => ObservedTransport::Stdio,
            _ => ObservedTransport::Other,
        }
    }

    /// Notes the revision of the session.
    fn note_session(&self, revision: Option<Revision>) {
        if !self.telemetry.records_metrics() {
            return;
        }
        let transport = self.observed_transport();
        let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
        let timer = timer.get_or_insert_with(|| {
            let duration = self.telemetry.instruments().client_session.clone();
            SessionTimer::new(Vec::new(), duration)
        });
        if timer.attributes.is_empty() || revision.is_some() {
            timer.attributes = attributes::of_session(revision, transport).collect();
        }
    }
}

impl SessionWrapper for ObservedClient {
    fn inner(&self) -> &dyn Session {
        &*self.session
    }

    fn request(&self, mut request: SessionRequest) -> SessionFuture<'_, String> {
        let mut operation = self.start(&mut request);
        let context = operation.context.clone().unwrap_or_else(Context::current);
        let response = self.session.request(request).with_context(context);
        Box::pin(async move {
            let response = response.await;
            match &response {
                Ok(result) => operation.end(&Outcome::of_result(result)),
                Err(ClientError::Refused(error)) => {
                    operation.end(&Outcome::error(error.code, error.message.to_string()));
                }
                Err(error) => operation.fail(error_type(error)),
            }
            response
        })
    }

    fn close(&self) -> SessionFuture<'_, ()> {
        Box::pin(async {
            let closed = self.session.close().await;
            let mut timer = self.timer.lock().unwrap_or_else(PoisonError::into_inner);
            *timer = None;
            closed
        })
    }
}

/// Returns the class of an error without a response of the server.
fn error_type(error: &ClientError) -> &'static str {
    match error {
        // Of the inner session: an own timeout drops the request.
        ClientError::Timeout(_) => "timeout",
        ClientError::Unreachable(_) => "connection_failed",
        ClientError::Closed(_) => "connection_closed",
        ClientError::SessionExpired => "session_expired",
        ClientError::Http { .. } => "http_status",
        ClientError::Unauthorized(_) => "unauthorized",
        ClientError::Authorization(_) => "authorization",
        ClientError::Protocol(_) => "protocol",
        ClientError::TooLong(_) => "too_long",
        _ => OTHER,
    }
}

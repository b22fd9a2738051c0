//! Telemetry of servers and clients: where it is recorded, and its instruments.

use std::fmt;
use std::sync::Arc;

use opentelemetry::global::{self, BoxedTracer, ObjectSafeTracerProvider};
use opentelemetry::metrics::{Histogram, Meter, MeterProvider};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState,
};
use opentelemetry::{Context, InstrumentationScope};

use crate::attributes::histogram;
use crate::propagation::Propagation;

/// Spans and metrics of servers and clients, by the OpenTelemetry conventions for MCP.
///
/// - A server: [`ServerBuilder::observe`](treenail_runtime::ServerBuilder::observe). Each request has a span `{method} {name}` of
///   kind `SERVER`. Its parent is the context in the `_meta` of the request. A span around the handling, such as that of an HTTP
///   request, is linked if it is not the parent.
/// - A client: `wrap_session(move |session| telemetry.session(session))` of the builders of clients. Each request has a span of kind
///   `CLIENT` in the current context, and carries it in its `_meta`.
///
/// An asynchronous function runs in the context of its request: spans and calls in it are children. Blocking functions and tasks get
/// it by `cx.extension::<treenail::otel::opentelemetry::Context>()`.
///
/// Errors, tools that fail and requests without a response are marked by `error.type`: the code of the error, `tool_error`,
/// `cancelled`, or of clients also `timeout` and the kind of their own errors. In metrics, a code that the protocol does not define is
/// `_OTHER`, because the peer chooses it. The names in those of a client are the ones that its program calls.
///
/// Arguments and results are not recorded. The message of an error is, as the description of the status of its span. The metrics are `mcp.server.operation.duration`, `mcp.client.operation.duration`,
/// `mcp.server.session.duration` and `mcp.client.session.duration`.
///
/// Clones share all. Without providers it records nothing, and costs almost nothing.
///
/// ```
/// use treenail::otel::Telemetry;
///
/// // After the program has set its global providers:
/// let telemetry = Telemetry::new();
/// let server = treenail::server!().observe(telemetry.clone()).build()?;
/// # Ok::<(), treenail::Error>(())
/// ```
#[derive(Clone)]
pub struct Telemetry {
    inner: Arc<Inner>,
}

struct Inner {
    /// `None` if the tracer records nothing.
    tracer: Option<BoxedTracer>,
    records_metrics: bool,
    instruments: Instruments,
    propagation: Propagation,
}

/// The histograms of the conventions.
pub(crate) struct Instruments {
    pub(crate) server_operation: Histogram<f64>,
    pub(crate) server_session: Histogram<f64>,
    #[cfg(feature = "client")]
    pub(crate) client_operation: Histogram<f64>,
    #[cfg(feature = "client")]
    pub(crate) client_session: Histogram<f64>,
}

impl fmt::Debug for Telemetry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Telemetry")
            .field("spans", &self.records_spans())
            .field("metrics", &self.records_metrics())
            .finish_non_exhaustive()
    }
}

impl Default for Telemetry {
    fn default() -> Self {
        Self::new()
    }
}

impl Telemetry {
    /// Records to the global providers, which must be set before. The context in `_meta` is that of the global propagator, or of W3C
    /// (`traceparent`, `tracestate`, `baggage`) if there is none.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Returns a builder, for other providers than the global ones.
    pub fn builder() -> TelemetryBuilder {
        TelemetryBuilder::default()
    }

    /// Returns `false` if there is no provider, so that nothing is recorded.
    pub fn is_enabled(&self) -> bool {
        self.records_spans() || self.records_metrics()
    }

    pub(crate) fn records_spans(&self) -> bool {
        self.inner.tracer.is_some()
    }

    pub(crate) fn records_metrics(&self) -> bool {
        self.inner.records_metrics
    }

    pub(crate) fn instruments(&self) -> &Instruments {
        &self.inner.instruments
    }

    pub(crate) fn propagation(&self) -> &Propagation {
        &self.inner.propagation
    }

    /// Starts a span, and returns its context.
    pub(crate) fn start_span(&self, builder: SpanBuilder, parent: &Context) -> Context {
        match &self.inner.tracer {
            Some(tracer) => parent.with_span(builder.start_with_context(tracer, parent)),
            None => parent.clone(),
        }
    }
}

/// Builder of a [`Telemetry`], made by [`Telemetry::builder`].
#[derive(Default)]
#[must_use = "telemetry exists once it is built"]
pub struct TelemetryBuilder {
    tracer: Option<BoxedTracer>,
    meter: Option<Meter>,
    propagation: Option<Propagation>,
}

impl fmt::Debug for TelemetryBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TelemetryBuilder")
            .field("propagation", &self.propagation)
            .finish_non_exhaustive()
    }
}

impl TelemetryBuilder {
    /// Sets the provider of spans. Default: the global one.
    pub fn tracer_provider(mut self, provider: &impl ObjectSafeTracerProvider) -> Self {
        self.tracer = Some(BoxedTracer::new(provider.boxed_tracer(scope())));
        self
    }

    /// Sets the provider of metrics. Default: the global one.
    pub fn meter_provider(mut self, provider: &impl MeterProvider) -> Self {
        self.meter = Some(provider.meter_with_scope(scope()));
        self
    }

    /// Sets the propagator of the context in `_meta`. Default: the global one, or that of W3C if there is none.
    pub fn propagator(
        mut self,
        propagator: impl TextMapPropagator + Send + Sync + 'static,
    ) -> Self {
        self.propagation = Some(Propagation::Own(Arc::new(propagator)));
        self
    }

    /// Builds the telemetry.
    pub fn build(self) -> Telemetry {
        let tracer = self
            .tracer
            .unwrap_or_else(|| global::tracer_with_scope(scope()));
        // A provider without state cannot record: it is the default one of the API.
        let provider = global::meter_provider();
        let records_metrics = self.meter.is_some() || size_of_val(&*provider) > 0;
        let meter = self
            .meter
            .unwrap_or_else(|| provider.meter_with_scope(scope()));
        Telemetry {
            inner: Arc::new(Inner {
                tracer: Some(tracer).filter(records),
                records_metrics,
                instruments: Instruments::new(&meter),
                propagation: self.propagation.unwrap_or_else(Propagation::detect),
            }),
        }
    }
}

impl Instruments {
    fn new(meter: &Meter) -> Self {
        Self {
            server_operation: histogram(
                meter,
                "mcp.server.operation.duration",
                "Duration of the request on the receiver, from its arrival to the response.",
            ),
            server_session: histogram(
                meter,
                "mcp.server.session.duration",
                "Duration of the session on the server.",
            ),
            #[cfg(feature = "client")]
            client_operation: histogram(
                meter,
                "mcp.client.operation.duration",
                "Duration of the request on the sender, until the response has arrived.",
            ),
            #[cfg(feature = "client")]
            client_session: histogram(
                meter,
                "mcp.client.session.duration",
                "Duration of the session on the client.",
            ),
        }
    }
}

fn scope() -> InstrumentationScope {
    InstrumentationScope::builder("treenail")
        .with_version(env!("CARGO_PKG_VERSION"))
        .build()
}

/// Returns `false` for the tracer that the API has without a provider. It returns the context of the parent as that of a span.
///
/// Telemetry is suppressed for this span, so that no tracer exports it.
fn records(tracer: &BoxedTracer) -> bool {
    let id = SpanId::from(1);
    let flags = TraceFlags::default();
    let parent = SpanContext::new(TraceId::from(1), id, flags, true, TraceState::default());
    let parent = Context::new()
        .with_remote_span_context(parent)
        .with_telemetry_suppressed();
    let span = SpanBuilder::from_name("").start_with_context(tracer, &parent);
    span.span_context().span_id() != id
}

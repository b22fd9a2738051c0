//! Context in the `_meta` of requests: by the propagator of the program, or else in the formats of W3C.

use std::collections::HashMap;
use std::sync::Arc;

use opentelemetry::baggage::BaggageExt;
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::propagation::text_map_propagator::FieldIter;
use opentelemetry::propagation::{Extractor, Injector};
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, global};

use crate::baggage;

const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";
const BAGGAGE: &str = "baggage";

/// Longest `tracestate` that is read, in bytes.
const MAX_STATE: usize = 4096;

/// Propagator for `_meta`.
#[derive(Clone, Debug)]
pub(crate) enum Propagation {
    /// That of the whole program.
    Global(Vec<String>),
    Own(Arc<dyn TextMapPropagator + Send + Sync>),
}

impl Propagation {
    /// Uses the global propagator if there is one, otherwise [`W3c`].
    pub(crate) fn detect() -> Self {
        let fields = |propagator: &dyn TextMapPropagator| -> Vec<String> {
            propagator.fields().map(ToOwned::to_owned).collect()
        };
        let fields = global::get_text_map_propagator(fields);
        if fields.is_empty() {
            Self::Own(Arc::new(W3c::default()))
        } else {
            Self::Global(fields)
        }
    }

    /// Reads the context of a request from strings of its `_meta`. Without any, it is `ambient`.
    pub(crate) fn extract(
        &self,
        ambient: &Context,
        meta: impl Fn(&str) -> Option<String>,
    ) -> Context {
        let read = |fields: &mut dyn Iterator<Item = &str>| -> HashMap<String, String> {
            let entry = |field: &str| Some((field.to_lowercase(), meta(field)?));
            fields.filter_map(entry).collect()
        };
        match self {
            Self::Global(fields) => {
                let carrier = read(&mut fields.iter().map(String::as_str));
                if carrier.is_empty() {
                    return ambient.clone();
                }
                global::get_text_map_propagator(|propagator| {
                    propagator.extract_with_context(ambient, &carrier)
                })
            }
            Self::Own(propagator) => {
                let carrier = read(&mut propagator.fields());
                if carrier.is_empty() {
                    return ambient.clone();
                }
                propagator.extract_with_context(ambient, &carrier)
            }
        }
    }

    /// Returns the members of `_meta` for a context.
    #[cfg(feature = "client")]
    pub(crate) fn inject(&self, context: &Context) -> Vec<(String, String)> {
        let mut carrier = HashMap::new();
        match self {
            Self::Global(_) => global::get_text_map_propagator(|propagator| {
                propagator.inject_context(context, &mut carrier);
            }),
            Self::Own(propagator) => propagator.inject_context(context, &mut carrier),
        }
        carrier.into_iter().collect()
    }
}

/// The formats of W3C: trace context and baggage.
#[derive(Debug)]
pub(crate) struct W3c {
    fields: [String; 3],
}

impl Default for W3c {
    fn default() -> Self {
        Self {
            fields: [TRACEPARENT, TRACESTATE, BAGGAGE].map(ToOwned::to_owned),
        }
    }
}

impl TextMapPropagator for W3c {
    fn inject_context(&self, context: &Context, injector: &mut dyn Injector) {
        let span = context.span();
        let span = span.span_context();
        if span.is_valid() {
            let (trace, id) = (span.trace_id(), span.span_id());
            let flags = span.trace_flags().to_u8() & TraceFlags::SAMPLED.to_u8();
            injector.set(
                TRACEPARENT,
                format!("00-{trace:032x}-{id:016x}-{flags:02x}"),
            );
            let state = span.trace_state().header();
            if !state.is_empty() {
                injector.set(TRACESTATE, state);
            }
        }
        if !context.baggage().is_empty() {
            injector.set(BAGGAGE, context.baggage().to_string());
        }
    }

    fn extract_with_context(&self, context: &Context, extractor: &dyn Extractor) -> Context {
        let mut context = context.clone();
        if let Some(span) = extractor.get(TRACEPARENT).and_then(parse_parent) {
            let state = extractor.get(TRACESTATE).filter(|it| it.len() <= MAX_STATE);
            let state = state.and_then(|state| state.parse::<TraceState>().ok());
            let (trace, id, flags) = span;
            let span = SpanContext::new(trace, id, flags, true, state.unwrap_or_default());
            context = context.with_remote_span_context(span);
        }
        if let Some(text) = extractor.get(BAGGAGE) {
            let baggage = baggage::parse(text);
            if !baggage.is_empty() {
                context = context.with_baggage(baggage);
            }
        }
        context
    }

    fn fields(&self) -> FieldIter<'_> {
        FieldIter::new(&self.fields)
    }
}

/// Reads a `traceparent`. Later versions of the format may have more members.
fn parse_parent(text: &str) -> Option<(TraceId, SpanId, TraceFlags)> {
    let mut members = text.split('-');
    let mut hex = |length: usize| {
        let member = members.next()?;
        let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        (member.len() == length && member.bytes().all(is_hex)).then_some(member)
    };
    let (version, trace, id, flags) = (hex(2)?, hex(32)?, hex(16)?, hex(2)?);
    let has_more = members.next().is_some();
    if version == "ff" || (version == "00" && has_more) {
        return None;
    }
    let (trace, id) = (TraceId::from_hex(trace).ok()?, SpanId::from_hex(id).ok()?);
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED;
    (trace != TraceId::INVALID && id != SpanId::INVALID).then_some((trace, id, flags))
}

#[cfg(test)]
mod tests {
    use super::parse_parent;

    #[test]
    fn only_valid_parents_are_read() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let id = "00f067aa0ba902b7";
        for (text, valid) in [
            (format!("00-{trace}-{id}-01"), true),
            (format!("00-{trace}-{id}-00"), true),
            (format!("cc-{trace}-{id}-01-more"), true),
            (format!("00-{trace}-{id}-01-more"), false),
            (format!("ff-{trace}-{id}-01"), false),
            (format!("00-{}-{id}-01", "0".repeat(32)), false),
            (format!("00-{trace}-{}-01", "0".repeat(16)), false),
            (format!("00-{}-{id}-01", trace.to_uppercase()), false),
            (format!("00-{trace}-{id}"), false),
            ("ä".repeat(60), false),
            (String::new(), false),
        ] {
            assert_eq!(parse_parent(&text).is_some(), valid, "{text}");
        }
    }
}

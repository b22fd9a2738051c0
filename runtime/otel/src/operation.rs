//! One request: its span, and the measurement of its duration.

use std::borrow::Cow;
use std::time::Instant;

use opentelemetry::metrics::Histogram;
use opentelemetry::trace::{Status, TraceContextExt};
use opentelemetry::{Context, KeyValue};
use treenail_runtime::internal::INSUFFICIENT_SCOPE;
use treenail_runtime::observe::Outcome;
use treenail_schema::{Method, error_code};

use crate::attributes::{ERROR_TYPE, OTHER, STATUS_CODE, bounded};

/// Running request. Dropping it before its end marks it as cancelled, or as timed out, unless it is a subscription: a client ends that by
/// its cancellation.
pub(crate) struct Operation {
    /// The context with its span, if spans are recorded.
    pub(crate) context: Option<Context>,
    /// The attributes of its measurement.
    attributes: Vec<KeyValue>,
    /// `None` after the end.
    duration: Option<Histogram<f64>>,
    started: Instant,
    is_subscription: bool,
}

impl Operation {
    pub(crate) fn new(
        method: Option<Method>,
        context: Option<Context>,
        attributes: Vec<KeyValue>,
        duration: Histogram<f64>,
    ) -> Self {
        Self {
            context,
            attributes,
            duration: Some(duration),
            started: Instant::now(),
            is_subscription: method == Some(Method::SubscriptionsListen),
        }
    }

    /// Ends it with the outcome of its response.
    pub(crate) fn end(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::ToolError => self.finish(Some("tool_error".into()), None, ""),
            Outcome::Error { code, message, .. } => {
                self.finish(Some(code.to_string().into()), Some(*code), message);
            }
            _ => self.finish(None, None, ""),
        }
    }

    /// Ends it with an error that is not of its response.
    pub(crate) fn fail(&mut self, error: &'static str) {
        self.finish(Some(error.into()), None, "");
    }

    fn finish(&mut self, error: Option<Cow<'static, str>>, code: Option<i64>, message: &str) {
        let Some(duration) = self.duration.take() else {
            return;
        };
        let mut ended = Vec::new();
        if let Some(code) = code {
            ended.push(KeyValue::new(STATUS_CODE, code.to_string()));
        }
        let failed = error.is_some();
        ended.extend(error.map(|error| KeyValue::new(ERROR_TYPE, error)));
        if let Some(context) = &self.context {
            let span = context.span();
            span.set_attributes(ended.iter().cloned());
            if failed {
                span.set_status(Status::error(bounded(message)));
            }
            span.end();
        }
        if code.is_some_and(|code| !is_defined(code)) {
            ended = vec![KeyValue::new(ERROR_TYPE, OTHER)];
        }
        self.attributes.append(&mut ended);
        let seconds = self.started.elapsed().as_secs_f64();
        // The measurement belongs to the trace, for exemplars.
        let _scope = self.context.clone().map(Context::attach);
        duration.record(seconds, &self.attributes);
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        #[cfg(feature = "client")]
        if treenail_runtime::internal::timeout::is_expired() {
            return self.fail("timeout");
        }
        if self.is_subscription {
            return self.finish(None, None, "");
        }
        self.fail("cancelled");
    }
}

/// Returns `true` for the codes of the protocol, and that of a missing scope. Peers choose others freely: they would be time series
/// without bound.
fn is_defined(code: i64) -> bool {
    matches!(
        code,
        error_code::RESOURCE_NOT_FOUND
            | error_code::HEADER_MISMATCH
            | error_code::MISSING_REQUIRED_CLIENT_CAPABILITY
            | error_code::UNSUPPORTED_PROTOCOL_VERSION
            | error_code::URL_ELICITATION_REQUIRED
            | error_code::INVALID_REQUEST
            | error_code::METHOD_NOT_FOUND
            | error_code::INVALID_PARAMS
            | error_code::INTERNAL_ERROR
            | error_code::PARSE_ERROR
            | INSUFFICIENT_SCOPE
    )
}

/// Running session, whose duration is measured when it is dropped.
pub(crate) struct SessionTimer {
    pub(crate) attributes: Vec<KeyValue>,
    duration: Histogram<f64>,
    started: Instant,
}

impl SessionTimer {
    pub(crate) fn new(attributes: Vec<KeyValue>, duration: Histogram<f64>) -> Self {
        Self {
            attributes,
            duration,
            started: Instant::now(),
        }
    }
}

impl Drop for SessionTimer {
    fn drop(&mut self) {
        let seconds = self.started.elapsed().as_secs_f64();
        self.duration.record(seconds, &self.attributes);
    }
}

//! Complete log of a replica on standard error. The tests check that it contains no secrets.

use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{SetGlobalDefaultError, Subscriber};
use tracing::{Event, Metadata};

/// Installs the subscriber.
pub(crate) fn install() -> Result<(), SetGlobalDefaultError> {
    tracing::subscriber::set_global_default(Log::default())
}

#[derive(Default)]
struct Log {
    spans: AtomicU64,
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut line = Line::default();
        span.record(&mut line);
        line.print();
        Id::from_u64(self.spans.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut line = Line::default();
        values.record(&mut line);
        line.print();
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        line.print();
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[derive(Default)]
struct Line(String);

impl Line {
    fn print(&self) {
        // There is no other place to report a failed write.
        let _ = writeln!(io::stderr(), "{}", self.0);
    }
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, "{field}={value:?} ");
    }
}

//! Log of a test.

use std::fmt;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{DefaultGuard, Subscriber};
use tracing::{Dispatch, Event, Level, Metadata};

/// With one log only, an event that another thread reaches first would be disabled for all threads.
static OTHER: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Log::default()));

/// Warnings of this thread.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<String>>);

impl Log {
    /// Records the warnings until the guard is dropped.
    pub(crate) fn record() -> (Self, DefaultGuard) {
        LazyLock::force(&OTHER);
        let log = Self::default();
        let guard = tracing::subscriber::set_default(log.clone());
        (log, guard)
    }

    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Line(&self.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line<'a>(&'a Mutex<String>);

impl Visit for Line<'_> {
    fn record_debug(&mut self, _: &Field, value: &dyn fmt::Debug) {
        writeln!(self.0.lock().unwrap(), "{value:?}").unwrap();
    }
}

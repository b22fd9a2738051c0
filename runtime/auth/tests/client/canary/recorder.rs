//! Record of everything that the process writes.

use std::fmt::Write as _;
use std::sync::{Mutex, OnceLock, PoisonError};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Everything that the process has written since the start of the tests.
static LOG: Mutex<String> = Mutex::new(String::new());

pub(super) fn record(text: &str) {
    let mut log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = writeln!(log, "{text}");
}

/// Records all spans and events of all levels, and the messages of panics.
struct Recorder;

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        record(&fields.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut fields = Fields(String::new());
        values.record(&mut fields);
        record(&fields.0);
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(event.metadata().target().to_owned());
        event.record(&mut fields);
        record(&fields.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

pub(super) fn start_recording() {
    static STARTED: OnceLock<()> = OnceLock::new();
    STARTED.get_or_init(|| {
        tracing::subscriber::set_global_default(Recorder).expect("the only subscriber");
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            record(&panic.to_string());
            before(panic);
        }));
    });
}

/// Records an error with its causes, in both forms.
pub(super) fn record_error(error: &(dyn std::error::Error + 'static)) {
    let mut cause = Some(error);
    while let Some(error) = cause {
        record(&format!("{error} {error:?} {error:#?}"));
        cause = error.source();
    }
}

/// Returns everything that was written.
pub(super) fn log() -> String {
    LOG.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

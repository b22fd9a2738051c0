//! Warnings of the proxy and its clients, as notes.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::render::sanitize_line;
use crate::terminal::Terminal;

/// Target of the warnings about the state of a server, which is reported as such.
const STATUS: &str = "treenail_proxy::status";

/// Subscriber that prints the warnings of the framework.
struct Warnings(Terminal);

/// Prints warnings from now on.
pub(super) fn print_warnings(terminal: &Terminal) {
    // The command runs once in its process.
    let _ = tracing::subscriber::set_global_default(Warnings(terminal.clone()));
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        let target = metadata.target();
        metadata.is_event()
            && *metadata.level() <= Level::WARN
            && target.starts_with("treenail")
            && target != STATUS
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        let mut note = Note::default();
        event.record(&mut note);
        self.0.print_note(&sanitize_line(&note.to_string()));
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        // No span is enabled.
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Text of one warning: ``server `files`: omitted a feature of a server (kind: tool, name: `a`)``.
#[derive(Default)]
struct Note {
    server: String,
    message: String,
    details: String,
}

impl Visit for Note {
    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a string cannot fail.
        let _ = match field.name() {
            "server" => write!(self.server, "server `{value:?}`: "),
            "message" => write!(self.message, "{value:?}"),
            name => {
                let separator = if self.details.is_empty() { "" } else { ", " };
                write!(self.details, "{separator}{name}: {value:?}")
            }
        };
    }
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}{}", self.server, self.message)?;
        if self.details.is_empty() {
            return Ok(());
        }
        write!(formatter, " ({})", self.details)
    }
}

//! Stray lines: output of a server that is not a message, such as debug output.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::client::answers::error_in;
use crate::log_throttle::LogThrottle;
use crate::panic::catch;
use crate::wire::{RpcError, quoted, shortened};

/// Maximum number of bytes of a line that are reported.
const MAX_LINE_BYTES: usize = 1024;

/// Callback for stray lines.
pub(crate) type StrayListener = Arc<dyn Fn(&str) + Send + Sync>;

/// Records the stray lines of one connection.
#[derive(Default)]
pub struct StrayLines {
    /// The first line, quoted.
    first: OnceLock<String>,
    warnings: LogThrottle,
    listener: Option<StrayListener>,
}

impl StrayLines {
    pub(crate) fn new(listener: Option<StrayListener>) -> Self {
        Self {
            listener,
            ..Self::default()
        }
    }

    /// Records a line and passes it to the listener. Logs a warning, unless one was logged shortly before. An error of the
    /// server that names no request is a message, so it is only logged.
    pub fn record(&self, line: &[u8], error: &RpcError) {
        if let Some(error) = error_in(line) {
            if self.warnings.is_due() {
                let error = shortened(&error.to_string());
                tracing::warn!(%error, "the server reported an error and did not name its request");
            }
            return;
        }
        let line = &line[..line.len().min(MAX_LINE_BYTES)];
        let is_first = self.first.get().is_none();
        let is_due = self.warnings.is_due();
        if !is_first && !is_due && self.listener.is_none() {
            return;
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        let first = self.first.get_or_init(|| quoted(text));
        if is_due {
            let line = if is_first { first } else { &quoted(text) };
            tracing::warn!(%error, line, "the server wrote a line that is not a message");
        }
        if let Some(listener) = &self.listener {
            // A panic of the listener must not end the connection.
            if let Err(panic) = catch(|| listener(text)) {
                tracing::error!(panic, "a listener for stray lines panicked");
            }
        }
    }

    /// Returns the first stray line, quoted.
    pub fn first(&self) -> Option<&str> {
        self.first.get().map(String::as_str)
    }
}

impl fmt::Debug for StrayLines {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = formatter.debug_struct("StrayLines");
        shown.field("first", &self.first).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn the_first_line_is_quoted_and_all_are_reported_truncated() {
        let reported = Arc::new(Mutex::new(Vec::new()));
        let reports = Arc::clone(&reported);
        let lines = StrayLines::new(Some(Arc::new(move |line: &str| {
            reports.lock().unwrap().push(line.to_owned());
            assert_ne!(line, "panics");
        })));
        assert_eq!(lines.first(), None);
        let error = RpcError::invalid_request("no");
        for line in ["one \u{1b}[2J`two`\r", "panics", &"x".repeat(5_000)] {
            lines.record(line.as_bytes(), &error);
        }
        assert_eq!(lines.first(), Some("`one \\u{1b}[2J'two'`"));
        let reported = reported.lock().unwrap();
        assert_eq!(reported[..2], ["one \u{1b}[2J`two`", "panics"]);
        assert_eq!(reported[2].len(), MAX_LINE_BYTES);
    }
}

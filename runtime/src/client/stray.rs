//! Lines of a server that are no messages, such as what it prints by mistake.

use std::fmt;
use std::sync::{Arc, OnceLock};

use crate::respond::catch;
use crate::seldom::Seldom;
use crate::wire::{RpcError, quoted};

/// Bytes of a line that are passed on.
const LONGEST: usize = 1024;

/// Function that takes lines that are no messages.
pub(crate) type StrayListener = Arc<dyn Fn(&str) + Send + Sync>;

/// Takes note of the lines of one connection that are no messages.
#[derive(Default)]
pub struct StrayLines {
    /// The first one, quoted.
    first: OnceLock<String>,
    warned: Seldom,
    listener: Option<StrayListener>,
}

impl StrayLines {
    pub(crate) fn new(listener: Option<StrayListener>) -> Self {
        Self {
            listener,
            ..Self::default()
        }
    }

    /// Takes note of a line, warns of it unless that was done a short time ago, and passes it on.
    pub fn note(&self, line: &[u8], error: &RpcError) {
        let line = &line[..line.len().min(LONGEST)];
        let is_first = self.first.get().is_none();
        let is_due = self.warned.is_due();
        if !is_first && !is_due && self.listener.is_none() {
            return;
        }
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end();
        let first = self.first.get_or_init(|| quoted(text));
        if is_due {
            let line = if is_first { first } else { &quoted(text) };
            tracing::warn!(%error, line, "the server wrote a line that is no message");
        }
        if let Some(listener) = &self.listener {
            // A panic there must not end the connection.
            if let Err(panic) = catch(|| listener(text)) {
                tracing::error!(
                    panic,
                    "a function that takes lines of a server has panicked"
                );
            }
        }
    }

    /// The first of them, quoted, if there was one.
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
    fn the_first_line_is_quoted_and_all_are_passed_on_shortened() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hearing = Arc::clone(&heard);
        let lines = StrayLines::new(Some(Arc::new(move |line: &str| {
            hearing.lock().unwrap().push(line.to_owned());
            assert_ne!(line, "panics");
        })));
        assert_eq!(lines.first(), None);
        let error = RpcError::invalid_request("no");
        for line in ["one \u{1b}[2J`two`\r", "panics", &"x".repeat(5_000)] {
            lines.note(line.as_bytes(), &error);
        }
        assert_eq!(lines.first(), Some("`one \\u{1b}[2J'two'`"));
        let heard = heard.lock().unwrap();
        assert_eq!(heard[..2], ["one \u{1b}[2J`two`", "panics"]);
        assert_eq!(heard[2].len(), LONGEST);
    }
}

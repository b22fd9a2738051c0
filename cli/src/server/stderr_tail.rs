//! Standard error of a server: printed with `-v`, and otherwise buffered to explain a failed connection.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use std::convert::Infallible;
use std::time::Duration;

use console::Style;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::exit::{Exit, Failure};
use crate::render::sanitize_line;
use crate::terminal::Terminal;

/// Maximum number of buffered lines.
const MAX_TAIL_LINES: usize = 10;

/// Maximum length of a quoted line, in characters.
const MAX_LINE_CHARS: usize = 200;

/// Maximum wait for the last lines of a server that has exited. Its child processes may hold the stream open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Stream of a line that is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineSource {
    Stderr,
    /// Standard output, which is for messages.
    Stdout,
}

/// Receiver of all lines. It must not block.
pub(crate) type LineObserver = Arc<dyn Fn(LineSource, &str) + Send + Sync>;

/// Buffer of the last lines on standard error, without the frames of backtraces.
#[derive(Clone)]
pub(crate) struct StderrTail {
    terminal: Terminal,
    observer: Option<LineObserver>,
    /// Lines are passed on as they are, whatever the verbosity.
    passes_on: bool,
    state: Arc<Mutex<TailState>>,
}

impl fmt::Debug for StderrTail {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("StderrTail").finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct TailState {
    lines: VecDeque<String>,
    filter: BacktraceFilter,
    /// A stray line of standard output has been reported.
    has_strayed: bool,
    /// Completes when standard error is no longer read.
    ended: Option<oneshot::Receiver<Infallible>>,
}

impl StderrTail {
    pub(crate) fn new(terminal: &Terminal) -> Self {
        Self {
            terminal: terminal.clone(),
            observer: None,
            passes_on: false,
            state: Arc::default(),
        }
    }

    /// Creates a buffer that also passes lines on to standard error of this program.
    pub(crate) fn passing_on(terminal: &Terminal) -> Self {
        Self {
            passes_on: true,
            ..Self::new(terminal)
        }
    }

    /// Passes all lines to `observer` as well.
    pub(super) fn observed(mut self, observer: LineObserver) -> Self {
        self.observer = Some(observer);
        self
    }

    fn observe(&self, source: LineSource, line: &str) {
        if let Some(observer) = &self.observer {
            observer(source, line);
        }
    }

    /// Returns a callback for lines of standard error.
    pub(crate) fn stderr_listener(&self) -> impl Fn(&str) + Send + Sync + use<> {
        let (reading, ended) = oneshot::channel();
        self.state().ended = Some(ended);
        let tail = self.clone();
        move |line| {
            let _reading = &reading;
            tail.push_line(line);
        }
    }

    /// Returns a callback for lines of standard output that are not messages. It reports the first one, or all with `-v`.
    pub(crate) fn stray_line_listener(&self) -> impl Fn(&str) + Send + Sync + use<> {
        let tail = self.clone();
        move |line| {
            tail.observe(LineSource::Stdout, line);
            let is_first = !std::mem::replace(&mut tail.state().has_strayed, true);
            if is_first || tail.terminal.verbose() > 0 {
                let line: String = sanitize_line(line).chars().take(MAX_LINE_CHARS).collect();
                let note = format!(
                    "the server wrote a line to standard output that is not a message: `{line}`"
                );
                tail.terminal.print_note(&note);
            }
        }
    }

    /// Waits for the last lines of a server that has exited.
    pub(crate) async fn drain(&self) {
        let ended = self.state().ended.take();
        if let Some(ended) = ended {
            // After the end or the timeout, the buffered lines are used as they are.
            let _ = timeout(DRAIN_TIMEOUT, ended).await;
        }
    }

    fn push_line(&self, line: &str) {
        self.observe(LineSource::Stderr, line);
        if self.passes_on {
            self.terminal.print_message(line);
        } else if self.terminal.verbose() > 0 {
            self.terminal
                .print_labeled("server:", &Style::new().dim(), line);
            return;
        }
        let state = &mut *self.state();
        if state.filter.drops(line) {
            return;
        }
        let lines = &mut state.lines;
        // A server that exited during the probe is restarted, and writes the same lines again.
        if lines.iter().any(|known| known == line) {
            return;
        }
        if lines.len() == MAX_TAIL_LINES {
            lines.pop_front();
        }
        lines.push_back(line.to_owned());
    }

    /// Adds the buffered lines to a connection failure as notes.
    pub(super) async fn add_to(&self, failure: Failure) -> Failure {
        if failure.exit() != Exit::Connection {
            return failure;
        }
        let lines = self.last_lines().await;
        lines.iter().fold(failure, |failure, line| {
            failure.note(format!("server: {line}"))
        })
    }

    /// Returns the last lines of a server that has exited.
    pub(crate) async fn last_lines(&self) -> Vec<String> {
        self.drain().await;
        self.state().lines.iter().cloned().collect()
    }

    /// Forgets the buffered lines.
    pub(crate) fn clear(&self) {
        self.state().lines.clear();
    }

    fn state(&self) -> MutexGuard<'_, TailState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Filter of backtraces: their many frames would displace the message of the panic.
#[derive(Debug, Default)]
struct BacktraceFilter {
    in_backtrace: bool,
}

impl BacktraceFilter {
    /// Returns whether a line belongs to a backtrace.
    fn drops(&mut self, line: &str) -> bool {
        let text = line.trim_start();
        let is_indented = text.len() < line.len();
        if line.eq_ignore_ascii_case("stack backtrace:") {
            self.in_backtrace = true;
            return true;
        }
        if line.starts_with("note: run with `RUST_BACKTRACE=")
            || line.starts_with("note: Some details are omitted, run with `RUST_BACKTRACE=")
            || (is_indented && text.starts_with("at "))
        {
            return true;
        }
        let number = text.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_frame = number.len() < text.len() && number.starts_with(": ");
        self.in_backtrace &= is_indented && is_frame;
        self.in_backtrace
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_of_a_panic_remains() {
        let mut text = "\
thread 'main' (7) panicked at src/main.rs:3:5:
no database at `/data`:
    1: reason
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/1/library/std/src/panicking.rs:689:5
"
        .to_owned();
        for frame in 1..30 {
            let line = format!("  {frame:2}: frame\n             at ./src/main.rs:3:5\n");
            text.push_str(&line);
        }
        text += "note: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.\nbye\n  at";
        let mut filter = BacktraceFilter::default();
        let rest: Vec<_> = text.lines().filter(|line| !filter.drops(line)).collect();
        let expected = [
            "thread 'main' (7) panicked at src/main.rs:3:5:",
            "no database at `/data`:",
            "    1: reason",
            "bye",
            "  at",
        ];
        assert_eq!(rest, expected);
    }
}

//! Output of the program: results to standard output, everything else to standard error.
//!
//! All text from a server is sanitized with [`sanitize_text`] before it is printed. Colours and progress bars are used
//! only if the stream is a terminal.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use console::{Style, Term};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use treenail::schema::ProgressNotificationParams;

use crate::args::Verbosity;
use crate::exit::Failure;
use crate::render::{sanitize_line, sanitize_text};
use crate::signals::on_thread;

/// Resolution of a progress bar with a known total.
const BAR_STEPS: u64 = 1_000;

/// Maximum length of an error or a note, in characters.
const MAX_MESSAGE_CHARS: usize = 8_000;

/// Handle to the output streams. Clones share one progress bar.
#[derive(Clone, Debug)]
pub(crate) struct Terminal {
    verbosity: Verbosity,
    /// Hidden if standard error is not a terminal.
    bar: Arc<ProgressBar>,
}

impl Terminal {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let target = if verbosity.quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        // Draw nothing before the first progress notification.
        bar.finish_and_clear();
        Self {
            verbosity,
            bar: Arc::new(bar),
        }
    }

    /// Returns the number of `-v` flags.
    pub(crate) fn verbose(&self) -> u8 {
        self.verbosity.verbose
    }

    /// Returns whether notes are suppressed.
    pub(crate) fn is_quiet(&self) -> bool {
        self.verbosity.quiet
    }

    /// Returns whether the user can be prompted: standard input and standard error are terminals.
    pub(crate) fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Returns the width of standard output in columns, or `None` if it is not a terminal.
    pub(crate) fn stdout_width() -> Option<usize> {
        let term = Term::stdout();
        term.is_term().then(|| usize::from(term.size().1).max(40))
    }

    /// Prints sanitized text to standard output, and ends its last line.
    pub(crate) async fn print_text(&self, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.print_bytes(format!("{text}{end}").into_bytes()).await
    }

    /// Prints raw bytes to standard output, for data that is passed on and not displayed.
    ///
    /// A thread writes them, so that a signal ends the program if the reader stalls.
    pub(crate) async fn print_bytes(&self, bytes: Vec<u8>) -> Result<(), Failure> {
        // The thread must not hold the bar, which is cleared after a signal.
        self.clear_progress();
        on_thread(move || write_stdout(&bytes).map_err(Failure::io("standard output"))).await
    }

    /// Writes raw bytes to standard output, without a thread: for parts of a text, and before signals are observed.
    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> Result<(), Failure> {
        let written = self.bar.suspend(|| write_stdout(bytes));
        written.map_err(Failure::io("standard output"))
    }

    /// Prints a note to standard error, unless `--quiet` is set.
    pub(crate) fn print_note(&self, text: &str) {
        if !self.verbosity.quiet {
            self.print_message(&truncate_message(text));
        }
    }

    /// Prints a line to standard error, even with `--quiet`.
    pub(crate) fn print_message(&self, text: &str) {
        self.write_stderr(&format!("{}\n", sanitize_text(text)));
    }

    /// Prints a prompt to standard error, without ending the line.
    pub(crate) fn print_prompt(&self, text: &str) {
        self.write_stderr(&sanitize_text(text));
    }

    /// Prints a line with a coloured label to standard error.
    pub(crate) fn print_labeled(&self, label: &str, style: &Style, text: &str) {
        let label = style.clone().for_stderr().apply_to(sanitize_text(label));
        self.write_stderr(&format!("{label} {}\n", sanitize_text(text)));
    }

    /// Prints output of a build or of a server of the user to standard error, with its colours.
    pub(crate) fn print_build_output(&self, text: &str) {
        self.write_stderr(text);
    }

    /// Prints a line of a trace, however long.
    pub(crate) fn print_trace(&self, arrow: &str, style: &Style, text: &str) {
        let arrow = style.clone().for_stderr().apply_to(arrow);
        self.write_stderr(&format!(
            "{arrow} {}\n",
            sanitize_text(text).replace('\n', " ")
        ));
    }

    /// Prints an error and its notes.
    pub(crate) fn print_error(&self, failure: &Failure) {
        self.bar.finish_and_clear();
        let message = truncate_message(failure.message());
        self.print_labeled("error:", &Style::new().red().bold(), &message);
        for note in failure.notes() {
            self.print_labeled(" note:", &Style::new().bold(), &truncate_message(note));
        }
    }

    /// Shows the progress of a call.
    pub(crate) fn show_progress(&self, progress: &ProgressNotificationParams) {
        let message = progress.message.as_deref().unwrap_or_default();
        let message = sanitize_line(message);
        let done = progress.progress.as_f64();
        if self.bar.is_finished() {
            self.bar.reset();
        }
        match progress.total.as_ref().map(|total| (total, total.as_f64())) {
            Some((total, count)) if count > 0.0 => {
                self.bar.set_style(progress_style("{bar:30} {msg}"));
                self.bar.set_length(BAR_STEPS);
                self.bar.set_position(bar_position(done / count));
                let done = &progress.progress;
                self.bar
                    .set_message(format!("{done} of {total}  {message}"));
            }
            _ => {
                self.bar.set_style(progress_style("{spinner} {msg}"));
                self.bar.tick();
                self.bar
                    .set_message(format!("{}  {message}", progress.progress));
            }
        }
    }

    /// Shows a line that the next one replaces.
    pub(crate) fn show_status(&self, text: &str) {
        if self.bar.is_finished() {
            self.bar.reset();
        }
        self.bar.set_style(progress_style("{spinner} {msg}"));
        self.bar.tick();
        self.bar.set_message(sanitize_line(text));
    }

    /// Removes the progress bar when a call has ended.
    pub(crate) fn clear_progress(&self) {
        self.bar.finish_and_clear();
    }

    /// Writes to standard error. There is no stream left to report a failure to.
    fn write_stderr(&self, text: &str) {
        self.bar.suspend(|| {
            let mut stderr = io::stderr().lock();
            let _ = stderr
                .write_all(text.as_bytes())
                .and_then(|()| stderr.flush());
        });
    }
}

fn write_stdout(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // The reader has closed the pipe because it needs no more.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Truncates a message, because a server controls the length of its errors.
fn truncate_message(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => {
            let omitted = text.len() - end;
            format!("{}… ({omitted} more bytes omitted)", &text[..end]).into()
        }
        None => text.into(),
    }
}

/// Returns the style for one of the built-in templates.
fn progress_style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the result is between 0 and the number of steps"
)]
fn bar_position(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * BAR_STEPS as f64) as u64
}

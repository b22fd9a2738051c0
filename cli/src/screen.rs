//! The one place that writes: results to standard output, all else to standard error.
//!
//! Nothing of a server gets here as it came: what is shown has been through [`clean`](crate::show::clean). Colours and
//! progress bars are for terminals only.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use console::{Style, Term};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use treenail::schema::ProgressNotificationParams;

use crate::args::Verbosity;
use crate::exit::Failure;
use crate::show::{clean, clean_line};

/// Steps of a bar whose total is known.
const STEPS: u64 = 1_000;

/// Characters of an error or a note that are shown.
const SHOWN: usize = 8_000;

/// What the user sees. The clones are of one screen.
#[derive(Clone, Debug)]
pub(crate) struct Screen {
    verbosity: Verbosity,
    /// Hidden where standard error is no terminal.
    bar: Arc<ProgressBar>,
}

impl Screen {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let target = if verbosity.quiet {
            ProgressDrawTarget::hidden()
        } else {
            ProgressDrawTarget::stderr()
        };
        let bar = ProgressBar::with_draw_target(None, target);
        // There is nothing to draw until something progresses.
        bar.finish_and_clear();
        Self {
            verbosity,
            bar: Arc::new(bar),
        }
    }

    /// How many times `-v` was given.
    pub(crate) fn verbose(&self) -> u8 {
        self.verbosity.verbose
    }

    /// Whether nothing is said beside the result.
    pub(crate) fn is_quiet(&self) -> bool {
        self.verbosity.quiet
    }

    /// Whether somebody can be asked: the terminal is read and written.
    pub(crate) fn is_interactive() -> bool {
        io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Columns of standard output; `None` where lines need not end.
    pub(crate) fn width() -> Option<usize> {
        let term = Term::stdout();
        term.is_term().then(|| usize::from(term.size().1).max(40))
    }

    /// Prints text that has been cleaned, and ends its last line.
    pub(crate) fn print(&self, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        let end = if text.ends_with('\n') { "" } else { "\n" };
        self.write(format!("{text}{end}").as_bytes())
    }

    /// Writes bytes to standard output as they are. It is for what is not shown, but passed on.
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Failure> {
        let mut stdout = io::stdout().lock();
        let written = self
            .bar
            .suspend(|| stdout.write_all(bytes).and_then(|()| stdout.flush()));
        match written {
            // Whoever reads has read enough.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(Failure::local("standard output")),
        }
    }

    /// Says something beside the result, unless that is not wanted.
    pub(crate) fn note(&self, text: &str) {
        if !self.verbosity.quiet {
            self.say(&shortened(text));
        }
    }

    /// Says something to the one who is asked.
    pub(crate) fn say(&self, text: &str) {
        self.tell(&format!("{}\n", clean(text)));
    }

    /// Writes to the one who is asked, without ending the line.
    pub(crate) fn ask(&self, text: &str) {
        self.tell(&clean(text));
    }

    /// Says a line with a coloured word before it.
    pub(crate) fn say_under(&self, heading: &str, style: &Style, text: &str) {
        let heading = style.clone().for_stderr().apply_to(clean(heading));
        self.tell(&format!("{heading} {}\n", clean(text)));
    }

    pub(crate) fn error(&self, failure: &Failure) {
        self.bar.finish_and_clear();
        let message = shortened(failure.message());
        self.say_under("error:", &Style::new().red().bold(), &message);
        for note in failure.notes() {
            self.say_under(" note:", &Style::new().bold(), &shortened(note));
        }
    }

    /// Shows how far a call is.
    pub(crate) fn progress(&self, progress: &ProgressNotificationParams) {
        let message = progress.message.as_deref().unwrap_or_default();
        let message = clean_line(message);
        let done = progress.progress.as_f64();
        if self.bar.is_finished() {
            self.bar.reset();
        }
        match progress.total.as_ref().map(|total| (total, total.as_f64())) {
            Some((total, count)) if count > 0.0 => {
                self.bar.set_style(style("{bar:30} {msg}"));
                self.bar.set_length(STEPS);
                self.bar.set_position(steps(done / count));
                let done = &progress.progress;
                self.bar
                    .set_message(format!("{done} of {total}  {message}"));
            }
            _ => {
                self.bar.set_style(style("{spinner} {msg}"));
                self.bar.tick();
                self.bar
                    .set_message(format!("{}  {message}", progress.progress));
            }
        }
    }

    /// The call that was under way has ended.
    pub(crate) fn end_progress(&self) {
        self.bar.finish_and_clear();
    }

    /// Nobody can be told when this fails.
    fn tell(&self, text: &str) {
        self.bar.suspend(|| {
            let mut stderr = io::stderr().lock();
            let _ = stderr
                .write_all(text.as_bytes())
                .and_then(|()| stderr.flush());
        });
    }
}

/// As much of a message as is shown, and how much is left out. Servers choose the length of their errors.
fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => {
            let left_out = text.len() - end;
            format!("{}… ({left_out} bytes more are left out)", &text[..end]).into()
        }
        None => text.into(),
    }
}

/// The style for a template of ours.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "it is between 0 and the number of steps"
)]
fn steps(share: f64) -> u64 {
    (share.clamp(0.0, 1.0) * STEPS as f64) as u64
}

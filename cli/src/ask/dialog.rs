//! Lines of the one who sits at the terminal.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Mutex, mpsc};

use crate::screen::Screen;

/// Lines that may wait to be taken; a terminal gives none that is longer than a few kilobytes. What comes then is lost, and
/// that is said: a reader that waits would take lines for new that are old.
const WAITING: usize = 256;

/// The lines that are typed. They are read by a thread, since reading cannot be stopped; it ends with the program.
///
/// They are of a terminal: who reads of a pipe is not asked (see [`Screen::is_interactive`]), and answers come with the
/// command line.
#[derive(Debug, Default)]
pub(crate) struct Lines(Option<mpsc::Receiver<Line>>);

/// A line as it was typed.
#[derive(Debug)]
struct Line {
    text: String,
    /// When it was read, which is when its end was typed.
    at: Instant,
}

/// The same lines for all who ask: who asks takes them, and the others wait.
pub(crate) type SharedLines = Arc<Mutex<Lines>>;

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Typed {
    /// A line, without spaces around it.
    Line(String),
    Back,
    Decline,
    /// Also the end of all input.
    Cancel,
}

impl Lines {
    /// The lines for all who ask.
    pub(crate) fn shared(screen: &Screen) -> SharedLines {
        let mut lines = Self::default();
        // Where what was typed cannot be discarded, it has to be read to be known as old.
        if cfg!(not(unix)) && Screen::is_interactive() {
            lines.read(screen);
        }
        Arc::new(Mutex::new(lines))
    }

    /// Shows what is asked for, and waits for an answer: a line that was typed after that. Nobody can have agreed before to
    /// what is shown only now, so what was typed before is lost.
    pub(crate) async fn ask(&mut self, screen: &Screen, prompt: &str) -> Typed {
        discard_typed();
        self.discard_read(screen);
        let asked = Instant::now();
        screen.ask(prompt);
        let lines = self.read(screen);
        while let Some(line) = lines.recv().await {
            if line.at >= asked {
                return Typed::of(&line.text);
            }
        }
        Typed::Cancel
    }

    /// Shows what is asked for, and waits for a line, which comes as it was typed; `None` at the end of all input.
    ///
    /// It may have been typed before: what is said in a conversation can be said ahead.
    pub(crate) async fn line(&mut self, screen: &Screen, prompt: &str) -> Option<String> {
        screen.ask(prompt);
        let line = self.read(screen).recv().await;
        line.map(|line| line.text)
    }

    fn discard_read(&mut self, screen: &Screen) {
        let lines = self.read(screen);
        let mut is_any = false;
        while lines.try_recv().is_ok() {
            is_any = true;
        }
        if is_any {
            screen.note("(what was typed before this question is not taken)");
        }
    }

    fn read(&mut self, screen: &Screen) -> &mut mpsc::Receiver<Line> {
        self.0.get_or_insert_with(|| read_lines(screen.clone()))
    }
}

/// Discards what was typed and has not been read: whole lines before the first one is read, and a line that was begun.
fn discard_typed() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        // Nothing was typed ahead where there is no terminal.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

impl Typed {
    fn of(line: &str) -> Self {
        match line.trim() {
            "/back" => Self::Back,
            "/decline" => Self::Decline,
            "/cancel" => Self::Cancel,
            // A text that begins with a slash of its own.
            line => Self::Line(match line.strip_prefix("//") {
                Some(rest) => format!("/{rest}"),
                None => line.to_owned(),
            }),
        }
    }
}

fn read_lines(screen: Screen) -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(WAITING);
    thread::spawn(move || {
        for text in io::stdin().lines() {
            let Ok(text) = text else { return };
            let at = Instant::now();
            match sender.try_send(Line { text, at }) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => {
                    screen.note("(too much was typed ahead: a line is lost)");
                }
                Err(TrySendError::Closed(_)) => return,
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Verbosity;

    #[tokio::test(flavor = "current_thread")]
    async fn only_what_is_typed_after_a_question_is_its_answer() {
        let (sender, receiver) = mpsc::channel(WAITING);
        let type_at = |text: &str, at| {
            let text = text.to_owned();
            sender.try_send(Line { text, at }).unwrap();
        };
        let screen = Screen::new(Verbosity {
            quiet: true,
            verbose: 0,
        });
        let before = Instant::now();
        type_at("yes", before);
        type_at("yes", before);
        let mut lines = Lines(Some(receiver));
        let (answer, ()) = tokio::join!(lines.ask(&screen, ""), async {
            // It was read before, and gets here only now.
            type_at("yes", before);
            type_at("no", Instant::now());
            type_at("more", Instant::now());
        });
        assert_eq!(answer, Typed::Line("no".to_owned()));
        let said = lines.line(&screen, "").await;
        assert_eq!(said.as_deref(), Some("more"), "it can be said ahead");
    }

    #[test]
    fn words_with_a_slash_are_told_from_text() {
        let line = |text: &str| Typed::Line(text.to_owned());
        let cases = [
            (" Ada \r", line("Ada")),
            ("/back", Typed::Back),
            (" /decline", Typed::Decline),
            ("/cancel", Typed::Cancel),
            ("/etc", line("/etc")),
            ("//cancel", line("/cancel")),
        ];
        for (typed, expected) in cases {
            assert_eq!(Typed::of(typed), expected, "{typed:?}");
        }
    }
}

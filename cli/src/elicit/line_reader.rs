//! Reading of lines that the user types at the terminal.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Mutex, mpsc};

use crate::terminal::Terminal;

/// Maximum number of buffered lines, each of which a terminal limits to a few kilobytes. Further lines are dropped with a
/// note. A blocking reader would read them later and mistake them for new input.
const MAX_BUFFERED_LINES: usize = 256;

/// Reader of typed lines. A thread reads them, because a read cannot be cancelled; it ends with the program.
///
/// Lines are read only from a terminal. If standard input is a pipe, the user is not prompted (see
/// [`Terminal::is_interactive`]), and answers are taken from the command line.
#[derive(Debug, Default)]
pub(crate) struct LineReader(Option<mpsc::Receiver<Line>>);

/// Typed line, unchanged.
#[derive(Debug)]
struct Line {
    text: String,
    /// Time at which the end of the line was typed.
    read_at: Instant,
}

/// Line reader that is shared by all prompts and locked during each.
pub(crate) type SharedLineReader = Arc<Mutex<LineReader>>;

/// Answer to a prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Trimmed line.
    Line(String),
    /// `/back`.
    Back,
    /// `/decline`.
    Decline,
    /// `/cancel`, or the end of input.
    Cancel,
}

impl LineReader {
    /// Creates a shared reader.
    pub(crate) fn shared(terminal: &Terminal) -> SharedLineReader {
        let mut lines = Self::default();
        // Without `tcflush`, unread input can be recognized as old only by reading it early.
        if cfg!(not(unix)) && Terminal::is_interactive() {
            lines.receiver(terminal);
        }
        Arc::new(Mutex::new(lines))
    }

    /// Prints a prompt and reads the next line that is typed after it.
    ///
    /// Earlier input is discarded, because the user cannot have agreed to a prompt before seeing it.
    pub(crate) async fn read_answer(&mut self, terminal: &Terminal, prompt: &str) -> Input {
        discard_unread_input();
        self.discard_buffered_lines(terminal);
        let prompted_at = Instant::now();
        terminal.print_prompt(prompt);
        let lines = self.receiver(terminal);
        while let Some(line) = lines.recv().await {
            if line.read_at >= prompted_at {
                return Input::parse(&line.text);
            }
        }
        Input::Cancel
    }

    /// Prints a prompt and reads a line without trimming it; `None` at the end of input.
    ///
    /// The line may have been typed earlier, so that users can type ahead in a conversation.
    pub(crate) async fn read_line(&mut self, terminal: &Terminal, prompt: &str) -> Option<String> {
        terminal.print_prompt(prompt);
        let line = self.receiver(terminal).recv().await;
        line.map(|line| line.text)
    }

    fn discard_buffered_lines(&mut self, terminal: &Terminal) {
        let lines = self.receiver(terminal);
        let mut discarded = false;
        while lines.try_recv().is_ok() {
            discarded = true;
        }
        if discarded {
            terminal.print_note("(discarded input that was typed before this prompt)");
        }
    }

    fn receiver(&mut self, terminal: &Terminal) -> &mut mpsc::Receiver<Line> {
        self.0.get_or_insert_with(|| spawn_reader(terminal.clone()))
    }
}

/// Discards unread input of the terminal, including a partly typed line.
fn discard_unread_input() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        // This fails only if there is no terminal, and then there is no input to discard.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

impl Input {
    fn parse(line: &str) -> Self {
        match line.trim() {
            "/back" => Self::Back,
            "/decline" => Self::Decline,
            "/cancel" => Self::Cancel,
            // A second slash escapes the first.
            line => Self::Line(match line.strip_prefix("//") {
                Some(rest) => format!("/{rest}"),
                None => line.to_owned(),
            }),
        }
    }
}

fn spawn_reader(terminal: Terminal) -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(MAX_BUFFERED_LINES);
    thread::spawn(move || {
        for text in io::stdin().lines() {
            let Ok(text) = text else { return };
            let read_at = Instant::now();
            match sender.try_send(Line { text, read_at }) {
                Ok(()) => {}
                Err(TrySendError::Full(_)) => {
                    terminal.print_note("(input buffer is full: dropped a line)");
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
    async fn input_before_a_prompt_is_not_an_answer() {
        let (sender, receiver) = mpsc::channel(MAX_BUFFERED_LINES);
        let type_at = |text: &str, read_at| {
            let text = text.to_owned();
            sender.try_send(Line { text, read_at }).unwrap();
        };
        let terminal = Terminal::new(Verbosity {
            quiet: true,
            verbose: 0,
        });
        let before = Instant::now();
        type_at("yes", before);
        type_at("yes", before);
        let mut lines = LineReader(Some(receiver));
        let (answer, ()) = tokio::join!(lines.read_answer(&terminal, ""), async {
            // This line was read before the prompt and arrives after it.
            type_at("yes", before);
            type_at("no", Instant::now());
            type_at("more", Instant::now());
        });
        assert_eq!(answer, Input::Line("no".to_owned()));
        let ahead = lines.read_line(&terminal, "").await;
        assert_eq!(ahead.as_deref(), Some("more"), "lines can be typed ahead");
    }

    #[test]
    fn slash_commands_are_recognized() {
        let line = |text: &str| Input::Line(text.to_owned());
        let cases = [
            (" Ada \r", line("Ada")),
            ("/back", Input::Back),
            (" /decline", Input::Decline),
            ("/cancel", Input::Cancel),
            ("/etc", line("/etc")),
            ("//cancel", line("/cancel")),
        ];
        for (typed, expected) in cases {
            assert_eq!(Input::parse(typed), expected, "{typed:?}");
        }
    }
}

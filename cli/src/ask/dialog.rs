//! Lines of the one who sits at the terminal.

use std::io;
use std::sync::Arc;
use std::thread;

use tokio::sync::{Mutex, mpsc};

use crate::screen::Screen;

/// The lines that are typed. They are read by a thread, since reading cannot be stopped; it ends with the program.
#[derive(Debug, Default)]
pub(crate) struct Lines(Option<mpsc::Receiver<String>>);

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
    /// Shows what is asked for, and waits for a line.
    pub(crate) async fn ask(&mut self, screen: &Screen, prompt: &str) -> Typed {
        match self.line(screen, prompt).await {
            Some(line) => Typed::of(&line),
            None => Typed::Cancel,
        }
    }

    /// Shows what is asked for, and waits for a line, which comes as it was typed; `None` at the end of all input.
    pub(crate) async fn line(&mut self, screen: &Screen, prompt: &str) -> Option<String> {
        screen.ask(prompt);
        let lines = self.0.get_or_insert_with(read_lines);
        lines.recv().await
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

fn read_lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);
    thread::spawn(move || {
        for line in io::stdin().lines() {
            let Ok(line) = line else { return };
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

#[cfg(test)]
mod tests {
    use super::*;

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

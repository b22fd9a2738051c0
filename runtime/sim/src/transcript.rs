//! Record of everything that happened in a run.

use std::fmt::{self, Write as _};

/// Maximum number of lines that are stored.
const MAX_LINES: usize = 50_000;
/// Maximum length of a line in characters.
const MAX_CHARS: usize = 300;

/// Record of a run: one line for each message, fault and note, with the virtual time in seconds and the process.
///
/// Two runs of one simulation with one seed have equal transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    lines: Vec<String>,
    omitted: usize,
}

impl Transcript {
    /// Adds a line of the process `host` at `now` in milliseconds.
    pub(crate) fn push(&mut self, now: u64, host: &str, text: &str) {
        if self.lines.len() == MAX_LINES {
            self.omitted += 1;
            return;
        }
        let mut line = format!("{:>5}.{:03} {host:<10} ", now / 1_000, now % 1_000);
        let mut characters = text.chars();
        line.extend(characters.by_ref().take(MAX_CHARS));
        if characters.next().is_some() {
            line.push('…');
        }
        self.lines.push(line);
    }

    /// Returns the lines. After 50,000 lines, further ones are counted only.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns the last lines as text.
    pub(crate) fn tail(&self, lines: usize) -> String {
        let from = self.lines.len().saturating_sub(lines);
        let mut text = String::new();
        if from > 0 {
            let _ = writeln!(text, "… {from} earlier lines");
        }
        for line in &self.lines[from..] {
            text.push_str(line);
            text.push('\n');
        }
        text
    }
}

impl fmt::Display for Transcript {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            writeln!(formatter, "{line}")?;
        }
        if self.omitted > 0 {
            writeln!(formatter, "… {} further lines", self.omitted)?;
        }
        Ok(())
    }
}

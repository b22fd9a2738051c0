//! Record of everything that happened in a run.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};

/// Maximum number of lines that are stored from the start.
const MAX_LINES: usize = 50_000;
/// Number of lines that are stored from the end of a longer transcript.
const LAST_LINES: usize = 1_000;
/// Maximum length of a line in characters.
const MAX_CHARS: usize = 300;

/// Record of a run: one line for each message, fault and note, with the virtual time in seconds and the process.
///
/// Two runs of one simulation with one seed have equal transcripts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Transcript {
    lines: Vec<String>,
    /// Number of lines between `lines` and `last`.
    omitted: usize,
    last: VecDeque<String>,
}

impl Transcript {
    /// Adds a line of the process `host` at `now` in milliseconds.
    pub(crate) fn push(&mut self, now: u64, host: &str, text: &str) {
        let mut line = format!("{:>5}.{:03} {host:<10} ", now / 1_000, now % 1_000);
        let mut characters = text.chars();
        line.extend(characters.by_ref().take(MAX_CHARS));
        if characters.next().is_some() {
            line.push('…');
        }
        if self.lines.len() < MAX_LINES {
            self.lines.push(line);
            return;
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
            self.omitted += 1;
        }
        self.last.push_back(line);
    }

    /// Returns the first 50,000 lines.
    pub fn lines(&self) -> &[String] {
        &self.lines
    }

    /// Returns the last lines, of which there are at most 1,000, as text.
    pub(crate) fn tail(&self, lines: usize) -> String {
        let stored = self.lines.len() + self.last.len();
        let from = stored.saturating_sub(lines);
        let mut text = String::new();
        if from > 0 {
            let _ = writeln!(text, "… {} earlier lines", from + self.omitted);
        }
        for line in self.lines.iter().chain(&self.last).skip(from) {
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
            writeln!(formatter, "… {} lines are omitted", self.omitted)?;
        }
        for line in &self.last {
            writeln!(formatter, "{line}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_long_transcript_is_stored() {
        let mut transcript = Transcript::default();
        for number in 0..60_000_u64 {
            transcript.push(number, "world", &number.to_string());
        }
        assert_eq!(transcript.lines().len(), MAX_LINES);
        let tail = transcript.tail(2);
        let lines: Vec<&str> = tail.lines().collect();
        assert_eq!(lines[0], "… 59998 earlier lines");
        assert!(lines[1].ends_with(" 59998") && lines[2].ends_with(" 59999"));
        let all = transcript.to_string();
        assert!(all.contains(" 49999\n… 9000 lines are omitted\n"));
        assert!(all.ends_with(" 59999\n"));
    }

    #[test]
    fn a_short_transcript_is_whole() {
        let mut transcript = Transcript::default();
        for number in 0..50_001_u64 {
            transcript.push(number, "world", &number.to_string());
        }
        let tail = transcript.tail(3);
        assert!(tail.starts_with("… 49998 earlier lines\n"), "{tail}");
        assert_eq!(transcript.to_string().lines().count(), 50_001);
        assert_eq!(Transcript::default().tail(3), "");
    }
}

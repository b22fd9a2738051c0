//! Bounded log of the messages of a connection.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};

use super::now_ms;

/// Maximum number of entries.
const MAX_ENTRIES: usize = 1_000;

/// Maximum size of all texts, in bytes.
const MAX_BYTES: usize = 16 << 20;

/// Maximum size of one text. The rest of it is cut off.
const MAX_TEXT_BYTES: usize = 2 << 20;

/// Maximum size of a text that is part of its event. A tab requests longer ones.
const MAX_INLINE_BYTES: usize = 4 << 10;

/// Maximum size of an id, a method and a subject, which a server may choose.
const MAX_LABEL_BYTES: usize = 2 << 10;

/// Kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    Request,
    Notification,
    Result,
    Error,
    Cancelled,
    Failed,
    /// Line on standard error of the server.
    Stderr,
    /// Line on standard output that is no message.
    Stray,
    Closed,
}

impl EntryKind {
    fn name(self) -> &'static str {
        match self {
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Result => "result",
            Self::Error => "error",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
            Self::Stderr => "stderr",
            Self::Stray => "stray",
            Self::Closed => "closed",
        }
    }
}

/// Entry of the log.
#[derive(Debug)]
pub(crate) struct LogEntry {
    pub(crate) kind: EntryKind,
    /// Sent by this program.
    pub(crate) sent: bool,
    pub(crate) id: Option<String>,
    pub(crate) method: String,
    /// Name or URI that a request is about.
    pub(crate) subject: Option<String>,
    pub(crate) elapsed: Option<Duration>,
    /// Message, or line.
    pub(crate) text: String,
}

#[derive(Debug)]
struct Stored {
    seq: u64,
    time: u64,
    /// Size of the text before it was cut.
    bytes: usize,
    entry: LogEntry,
}

/// Bounded list of entries. The oldest ones are dropped.
#[derive(Debug, Default)]
pub(crate) struct Log {
    entries: VecDeque<Stored>,
    bytes: usize,
    last: u64,
    dropped: u64,
}

impl Log {
    /// Adds an entry, and returns its event.
    pub(crate) fn push(&mut self, mut entry: LogEntry) -> Value {
        let bytes = entry.text.len();
        truncate(&mut entry.text, MAX_TEXT_BYTES);
        truncate(&mut entry.method, MAX_LABEL_BYTES);
        let labels = [&mut entry.id, &mut entry.subject].into_iter().flatten();
        labels.for_each(|label| truncate(label, MAX_LABEL_BYTES));
        self.last += 1;
        self.bytes += entry.text.len();
        let stored = Stored {
            seq: self.last,
            time: now_ms(),
            bytes,
            entry,
        };
        let mut event = stored.to_json();
        event["type"] = json!("message");
        self.entries.push_back(stored);
        while self.entries.len() > MAX_ENTRIES || self.bytes > MAX_BYTES {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.bytes -= oldest.entry.text.len();
            self.dropped += 1;
        }
        event["dropped"] = json!(self.dropped);
        event
    }

    /// Returns the complete text of an entry.
    pub(crate) fn text(&self, seq: u64) -> Option<&str> {
        let index = self.entries.binary_search_by_key(&seq, |it| it.seq).ok()?;
        Some(&self.entries.get(index)?.entry.text)
    }

    /// Returns the number of dropped entries.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
        self.dropped = 0;
    }

    pub(crate) fn to_json(&self) -> Value {
        self.entries.iter().map(Stored::to_json).collect()
    }
}

impl Stored {
    fn to_json(&self) -> Value {
        let entry = &self.entry;
        let is_short = entry.text.len() <= MAX_INLINE_BYTES;
        let elapsed = entry.elapsed.map(|it| it.as_secs_f64() * 1_000.0);
        json!({
            "seq": self.seq,
            "time": self.time,
            "kind": entry.kind.name(),
            "sent": entry.sent,
            "id": entry.id,
            "method": entry.method,
            "subject": entry.subject,
            "ms": elapsed,
            "bytes": self.bytes,
            "text": is_short.then_some(&entry.text),
        })
    }
}

/// Cuts a text at a boundary of a character.
pub(super) fn truncate(text: &mut String, max: usize) {
    if text.len() > max {
        let end = (0..=max).rev().find(|end| text.is_char_boundary(*end));
        text.truncate(end.unwrap_or(0));
        text.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: String) -> LogEntry {
        LogEntry {
            kind: EntryKind::Stderr,
            sent: false,
            id: None,
            method: String::new(),
            subject: None,
            elapsed: None,
            text,
        }
    }

    #[test]
    fn the_number_of_entries_is_bounded() {
        let mut log = Log::default();
        for number in 0..=MAX_ENTRIES {
            log.push(entry(number.to_string()));
        }
        assert_eq!(log.entries.len(), MAX_ENTRIES);
        assert_eq!(log.dropped(), 1);
        assert_eq!(log.text(1), None);
        assert_eq!(log.text(2), Some("1"));
    }

    #[test]
    fn the_size_of_all_entries_is_bounded() {
        let mut log = Log::default();
        for _ in 0..20 {
            log.push(entry("ü".repeat(MAX_TEXT_BYTES)));
        }
        assert!(log.bytes <= MAX_BYTES);
        let sizes: usize = log.entries.iter().map(|it| it.entry.text.len()).sum();
        assert_eq!(sizes, log.bytes);
    }

    #[test]
    fn ids_methods_and_subjects_are_bounded() {
        let mut log = Log::default();
        let text = "a".repeat(1 << 20);
        let event = log.push(LogEntry {
            kind: EntryKind::Request,
            sent: false,
            id: Some(text.clone()),
            method: text.clone(),
            subject: Some(text.clone()),
            elapsed: None,
            text,
        });
        assert!(event.to_string().len() < 16 << 10);
        assert!(log.to_json().to_string().len() < 16 << 10);
    }

    #[test]
    fn long_texts_are_not_part_of_events() {
        let mut log = Log::default();
        assert_eq!(log.push(entry("a".to_owned()))["text"], "a");
        let event = log.push(entry("a".repeat(MAX_INLINE_BYTES + 1)));
        assert_eq!(event["text"], Value::Null);
        assert_eq!(event["bytes"], MAX_INLINE_BYTES + 1);
    }
}

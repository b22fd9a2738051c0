//! Trace in a file, as lines of JSON.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use super::{Direction, TraceSink, TracedMessage};
use crate::exit::Failure;
use crate::terminal::Terminal;
use crate::timestamp::format_timestamp;

/// Sink that appends a JSON object to a file for each message.
#[derive(Debug)]
pub(super) struct FileSink {
    terminal: Terminal,
    /// Name of the server, if there are several.
    label: String,
    name: String,
    /// `None` after an error, which has been reported.
    file: Mutex<Option<File>>,
}

impl FileSink {
    /// Opens a file to append to. A new file can be read by its owner only, because messages are private.
    pub(super) fn open(path: &Path, label: String, terminal: &Terminal) -> Result<Self, Failure> {
        let mut options = File::options();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let name = format!("`{}`", path.display());
        let file = options.open(path).map_err(Failure::io(&name))?;
        Ok(Self {
            terminal: terminal.clone(),
            label,
            name,
            file: Mutex::new(Some(file)),
        })
    }

    fn write(&self, line: &[u8]) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let written: io::Result<()> = match &mut *file {
            Some(file) => file.write_all(line),
            None => Ok(()),
        };
        if let Err(error) = written {
            *file = None;
            let note = format!("the trace ends: {}: {error}", self.name);
            self.terminal.print_note(&note);
        }
    }
}

impl TraceSink for FileSink {
    fn record(&self, message: &TracedMessage<'_>) {
        self.write(to_line(message, &self.label, SystemTime::now()).as_bytes());
    }
}

/// Returns the line of a message.
fn to_line(message: &TracedMessage<'_>, label: &str, time: SystemTime) -> String {
    let mut head = Map::new();
    head.insert("time".to_owned(), format_timestamp(time).into());
    if !label.is_empty() {
        head.insert("server".to_owned(), label.into());
    }
    let direction = match message.direction {
        Direction::ToServer => "to server",
        Direction::FromServer => "from server",
    };
    head.insert("direction".to_owned(), direction.into());
    if let Some(elapsed) = message.elapsed {
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        head.insert("milliseconds".to_owned(), milliseconds.into());
    }
    let Some(json) = message.to_json() else {
        let id = message.id.unwrap_or_default();
        let event = format!("{:?}", message.kind).to_lowercase();
        head.insert("event".to_owned(), event.into());
        head.insert("id".to_owned(), id.into());
        head.insert("method".to_owned(), message.method.into());
        if !message.body.is_empty() {
            head.insert("reason".to_owned(), message.body.into());
        }
        return format!("{}\n", Value::from(head));
    };
    // Whitespace between tokens may contain line feeds; strings cannot.
    let json = json.replace(['\n', '\r'], " ");
    // A redacted number is no JSON any more.
    let json = match serde_json::from_str::<IgnoredAny>(&json) {
        Ok(_) => json,
        Err(_) => Value::from(json).to_string(),
    };
    let head = Value::from(head).to_string();
    let head = head.trim_end_matches('}');
    format!("{head},\"message\":{json}}}\n")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::super::MessageKind;
    use super::*;

    #[test]
    fn messages_are_lines_of_json() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_millis(1_500);
        let answer = TracedMessage {
            direction: Direction::FromServer,
            kind: MessageKind::Result,
            id: Some("7"),
            method: "tools/list",
            body: "{\n}",
            elapsed: Some(Duration::from_millis(12)),
        };
        let line = to_line(&answer, "a", time);
        assert_eq!(line.lines().count(), 1, "{line}");
        let expected = json!({
            "time": "1970-01-01T00:00:01.500Z", "server": "a", "direction": "from server", "milliseconds": 12,
            "message": {"jsonrpc": "2.0", "id": 7, "result": {}},
        });
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
        let failed = TracedMessage {
            kind: MessageKind::Failed,
            body: "no",
            elapsed: None,
            ..answer
        };
        let expected = json!({
            "time": "1970-01-01T00:00:01.500Z", "direction": "from server", "event": "failed", "id": "7",
            "method": "tools/list", "reason": "no",
        });
        let line = to_line(&failed, "", time);
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
    }

    #[test]
    fn text_that_is_no_json_is_quoted() {
        let answer = TracedMessage {
            direction: Direction::FromServer,
            kind: MessageKind::Result,
            id: Some("7"),
            method: "tools/list",
            body: "{\"pin\":[redacted]}",
            elapsed: None,
        };
        let line = to_line(&answer, "", SystemTime::UNIX_EPOCH);
        let line: Value = serde_json::from_str(&line).unwrap();
        assert!(line["message"].as_str().unwrap().contains("[redacted]"));
    }
}

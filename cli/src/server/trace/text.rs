//! Trace on standard error.

use std::time::Instant;

use console::Style;

use super::{Direction, MessageKind, TraceSink, TracedMessage};
use crate::render::escape_json_text;
use crate::terminal::Terminal;

/// Maximum length of a shortened body, in characters.
const MAX_BODY_CHARS: usize = 400;

/// Sink that prints a line for each message: direction, time since the start, id, method and body.
#[derive(Debug)]
pub(super) struct TextSink {
    terminal: Terminal,
    /// Name of the server, if there are several.
    label: String,
    is_full: bool,
    started: Instant,
}

impl TextSink {
    pub(super) fn new(terminal: &Terminal, label: String, is_full: bool) -> Self {
        Self {
            terminal: terminal.clone(),
            label,
            is_full,
            started: Instant::now(),
        }
    }

    fn shorten(&self, body: &str) -> String {
        match body.char_indices().nth(MAX_BODY_CHARS) {
            Some((end, _)) if !self.is_full => {
                let omitted = body.len() - end;
                format!("{}… ({omitted} more bytes)", escape_json_text(&body[..end]))
            }
            _ => escape_json_text(body),
        }
    }
}

impl TraceSink for TextSink {
    fn record(&self, message: &TracedMessage<'_>) {
        let (arrow, style) = match message.direction {
            Direction::ToServer => ("→", Style::new().cyan()),
            Direction::FromServer => ("←", Style::new().green()),
        };
        let seconds = self.started.elapsed().as_secs_f64();
        let mut words = vec![format!("{seconds:.3}s"), self.label.clone()];
        words.push(message.id.map(|id| format!("#{id}")).unwrap_or_default());
        words.push(message.method.to_owned());
        words.push(match message.kind {
            MessageKind::Request | MessageKind::Notification => String::new(),
            MessageKind::Result => "result".to_owned(),
            MessageKind::Error => "error".to_owned(),
            MessageKind::Cancelled => "cancelled".to_owned(),
            MessageKind::Failed => "failed:".to_owned(),
        });
        words.push(self.shorten(message.body));
        if let Some(elapsed) = message.elapsed {
            words.push(format!("({} ms)", elapsed.as_millis()));
        }
        words.retain(|word| !word.is_empty());
        self.terminal.print_trace(arrow, &style, &words.join(" "));
    }

    fn closed(&self) {
        let seconds = self.started.elapsed().as_secs_f64();
        let label = if self.label.is_empty() { "" } else { " " };
        let text = format!("{seconds:.3}s{label}{} connection closed", self.label);
        self.terminal.print_trace("←", &Style::new().dim(), &text);
    }
}

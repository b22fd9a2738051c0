//! Display of a turn in progress.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, pending};
use std::pin::Pin;

use console::Style;
use treenail::agent::{ApprovalRequest, RequestedCall, Run, RunEvent};
use treenail::schema::{CallToolResult, ContentBlock};

use super::Turn;
use crate::commands::chat::consent::Decision;
use crate::commands::chat::streamed_text::StreamedText;
use crate::exit::Failure;
use crate::render::{Rendered, sanitize_line};

/// Maximum length of a line about a call, in characters.
const MAX_LINE_CHARS: usize = 160;

type PendingDecision = Pin<Box<dyn Future<Output = (String, Decision)>>>;

/// Display of a turn in progress.
pub(super) struct TurnView<'a> {
    turn: &'a Turn,
    text: StreamedText,
    calls: HashMap<String, RequestedCall>,
    /// Current prompt for approval; further requests are queued.
    pub(super) pending: Option<PendingDecision>,
    queued_requests: VecDeque<Box<ApprovalRequest>>,
    /// Events during a prompt, shown after it. They are bounded by the calls of one message.
    deferred: Vec<RunEvent>,
}

impl<'a> TurnView<'a> {
    pub(super) fn new(turn: &'a Turn) -> Self {
        Self {
            turn,
            text: StreamedText::default(),
            calls: HashMap::new(),
            pending: None,
            queued_requests: VecDeque::new(),
            deferred: Vec::new(),
        }
    }

    /// Waits for the answer to the current prompt; forever if there is none.
    pub(super) async fn next_decision(&mut self) -> (String, Decision) {
        match &mut self.pending {
            Some(pending) => pending.await,
            None => pending().await,
        }
    }

    pub(super) fn apply_decision(
        &mut self,
        run: &Run,
        id: &str,
        decision: Decision,
    ) -> Result<(), Failure> {
        match decision {
            Decision::Approve => run.approve(id),
            Decision::Deny(why) => run.deny(id, why),
        }
        self.pending = None;
        if let Some(next) = self.queued_requests.pop_front() {
            self.ask_approval(next);
            return Ok(());
        }
        for event in std::mem::take(&mut self.deferred) {
            self.show_event(event)?;
        }
        Ok(())
    }

    fn ask_approval(&mut self, request: Box<ApprovalRequest>) {
        let consent = self.turn.consent.clone();
        self.pending = Some(Box::pin(async move {
            let id = request.call.id.clone();
            (id, consent.ask_user(request).await)
        }));
    }

    pub(super) fn on_event(&mut self, event: RunEvent) -> Result<(), Failure> {
        match event {
            RunEvent::ApprovalRequested(request) if self.pending.is_none() => {
                self.text.end_line(&self.turn.terminal)?;
                self.ask_approval(request);
            }
            RunEvent::ApprovalRequested(request) => self.queued_requests.push_back(request),
            // The bar would overwrite the line that the user is typing.
            RunEvent::Progress { .. } if self.pending.is_some() => {}
            event if self.pending.is_some() => self.deferred.push(event),
            event => self.show_event(event)?,
        }
        Ok(())
    }

    fn show_event(&mut self, event: RunEvent) -> Result<(), Failure> {
        let terminal = &self.turn.terminal;
        match event {
            RunEvent::Text(text) if !self.turn.is_quiet => {
                terminal.clear_progress();
                self.text.write(terminal, &text)?;
            }
            RunEvent::CallRequested(call) => drop(self.calls.insert(call.id.clone(), call)),
            RunEvent::CallStarted { id, .. } => {
                self.text.end_line(terminal)?;
                if let Some(call) = self.calls.get(&id) {
                    self.print_labeled("call:", &Style::new().cyan(), &format_call(call));
                }
            }
            RunEvent::Progress { progress, .. } => {
                self.text.end_line(terminal)?;
                terminal.show_progress(&progress);
            }
            RunEvent::CallFinished {
                id,
                is_error,
                content,
                result,
                ..
            } => {
                terminal.clear_progress();
                self.text.end_line(terminal)?;
                self.show_result(&id, is_error, &content, result.as_deref());
            }
            RunEvent::RoundFinished { .. } => self.calls.clear(),
            _ => {}
        }
        Ok(())
    }

    fn show_result(
        &self,
        id: &str,
        is_error: bool,
        content: &[ContentBlock],
        result: Option<&CallToolResult>,
    ) {
        let (label, style) = if is_error {
            ("failed:", Style::new().red())
        } else {
            ("done:", Style::new().green())
        };
        let content = result.map_or(content, |result| &result.content);
        let lines = content
            .iter()
            .map(|block| Rendered::from_block(block).to_text());
        let text = lines.collect::<Vec<_>>().join(" ");
        let name = self.calls.get(id).map_or("", |call| &call.name);
        self.print_labeled(
            label,
            &style,
            &format!("{name}  {}", truncate_line(&sanitize_line(&text))),
        );
    }

    fn print_labeled(&self, label: &str, style: &Style, text: &str) {
        if !self.turn.terminal.is_quiet() {
            self.turn.terminal.print_labeled(label, style, text);
        }
    }

    /// Shows deferred events and ends the line.
    pub(super) fn finish(&mut self) -> Result<(), Failure> {
        self.turn.terminal.clear_progress();
        for event in std::mem::take(&mut self.deferred) {
            self.show_event(event)?;
        }
        self.text.end_line(&self.turn.terminal)
    }
}

/// Formats a call in one line.
fn format_call(call: &RequestedCall) -> String {
    let input = serde_json::Value::Object(call.input.clone()).to_string();
    format!(
        "{}  {}",
        sanitize_line(&call.name),
        truncate_line(&sanitize_line(&input))
    )
}

/// Truncates a line.
fn truncate_line(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

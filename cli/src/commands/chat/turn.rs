//! One turn of the chat: the answer of the model, its tool calls, and the prompts for approval.

use std::collections::{HashMap, VecDeque};
use std::future::{Future, pending};
use std::pin::Pin;

use console::Style;
use treenail::ToolLoop;
use treenail::agent::{
    ApprovalRequest, Conversation, RequestedCall, Run, RunEvent, RunReport, StopReason,
    ToolLoopError, Usage,
};
use treenail::schema::{CallToolResult, ContentBlock};

use super::consent::{Consent, Decision};
use super::interrupts::Interrupts;
use super::model;
use super::streamed_text::StreamedText;
use crate::exit::{Exit, Failure};
use crate::render::{Rendered, sanitize_line};
use crate::terminal::Terminal;

/// Maximum length of a line about a call, in characters.
const MAX_LINE_CHARS: usize = 160;

/// State shared by all turns.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) agent: ToolLoop,
    pub(super) consent: Consent,
    pub(super) terminal: Terminal,
    /// Advice if the model rejects the request.
    pub(super) hint: Option<&'static str>,
    /// Suppresses the text of the answer.
    pub(super) is_quiet: bool,
}

/// Outcome of a turn.
#[derive(Debug)]
pub(super) enum TurnOutcome {
    Completed(RunReport),
    /// Cancelled by Ctrl-C.
    Cancelled(RunReport),
    Failed(Failure, RunReport),
}

impl TurnOutcome {
    pub(super) fn report(&self) -> &RunReport {
        match self {
            Self::Completed(report) | Self::Cancelled(report) | Self::Failed(_, report) => report,
        }
    }

    pub(super) fn into_conversation(self) -> Conversation {
        match self {
            Self::Completed(report) | Self::Cancelled(report) | Self::Failed(_, report) => {
                report.into()
            }
        }
    }
}

impl Turn {
    /// Runs the model on a conversation and prints the events.
    pub(super) async fn run(
        &self,
        conversation: Conversation,
        interrupts: &mut Interrupts,
    ) -> Result<TurnOutcome, Failure> {
        let mut run = self.agent.run(conversation);
        let mut view = TurnView::new(self);
        loop {
            tokio::select! {
                biased;
                () = interrupts.next() => {
                    drop(view.pending.take());
                    view.finish()?;
                    return Ok(TurnOutcome::Cancelled(run.cancel()));
                }
                (id, decision) = view.next_decision() => view.apply_decision(&run, &id, decision)?,
                event = run.next() => match event {
                    Some(event) => view.on_event(event)?,
                    None => break,
                },
            }
        }
        view.finish()?;
        Ok(match run.await {
            Ok(report) => {
                self.report_stop_reason(&report);
                TurnOutcome::Completed(report)
            }
            Err(error) => {
                let report = error.report().clone();
                TurnOutcome::Failed(self.add_hint(turn_failure(error)), report)
            }
        })
    }

    fn add_hint(&self, failure: Failure) -> Failure {
        match self.hint {
            Some(hint) if failure.exit() == Exit::Refused => failure.note(hint),
            _ => failure,
        }
    }

    fn report_stop_reason(&self, report: &RunReport) {
        let why = match &report.stop_reason {
            StopReason::Finished | StopReason::StopSequence => None,
            StopReason::MaxTokens => Some("the answer was truncated; see --max-tokens".to_owned()),
            StopReason::Stopped(why) => Some(format!("the model stopped: {why}")),
            StopReason::MaxIterations => {
                Some("the limit of tool rounds was reached; see --max-rounds".to_owned())
            }
            StopReason::Timeout => Some("the answer timed out".to_owned()),
            StopReason::MessageTooLong => Some("the model's message is too long".to_owned()),
            StopReason::TranscriptFull => Some("the conversation is too long".to_owned()),
            other => Some(format!("the answer ended: {other:?}")),
        };
        if let Some(why) = why {
            self.terminal.print_note(&why);
        }
        if self.terminal.verbose() > 0 {
            if let Some(Usage {
                input_tokens,
                output_tokens,
                ..
            }) = report.usage
            {
                self.terminal.print_note(&format!(
                    "{input_tokens} input tokens, {output_tokens} output tokens"
                ));
            }
        }
    }
}

fn turn_failure(error: ToolLoopError) -> Failure {
    match error {
        ToolLoopError::Model { error, .. } => model::model_failure(&error),
        ToolLoopError::Source { name, error, .. } => {
            Failure::from(*error).note(format!("the server is `{name}`"))
        }
        other => Failure::new(Exit::Usage, other.to_string()),
    }
}

type PendingDecision = Pin<Box<dyn Future<Output = (String, Decision)>>>;

/// Display of a turn in progress.
struct TurnView<'a> {
    turn: &'a Turn,
    text: StreamedText,
    calls: HashMap<String, RequestedCall>,
    /// Current prompt for approval; further requests are queued.
    pending: Option<PendingDecision>,
    queued_requests: VecDeque<Box<ApprovalRequest>>,
    /// Events during a prompt, shown after it. They are bounded by the calls of one message.
    deferred: Vec<RunEvent>,
}

impl<'a> TurnView<'a> {
    fn new(turn: &'a Turn) -> Self {
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
    async fn next_decision(&mut self) -> (String, Decision) {
        match &mut self.pending {
            Some(pending) => pending.await,
            None => pending().await,
        }
    }

    fn apply_decision(&mut self, run: &Run, id: &str, decision: Decision) -> Result<(), Failure> {
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

    fn on_event(&mut self, event: RunEvent) -> Result<(), Failure> {
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
    fn finish(&mut self) -> Result<(), Failure> {
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

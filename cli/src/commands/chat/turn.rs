//! What follows from one thing that the user says: the answer, the calls on the way, and the questions about them.

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
use super::stream::Streamed;
use crate::exit::{Exit, Failure};
use crate::screen::Screen;
use crate::show::{Shown, clean_line};

/// Characters of a line about a call.
const LINE: usize = 160;

/// What every turn needs.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) agent: ToolLoop,
    pub(super) consent: Consent,
    pub(super) screen: Screen,
    /// Why the model may refuse.
    pub(super) hint: Option<&'static str>,
    /// The text is not written.
    pub(super) is_quiet: bool,
}

/// How a turn has ended.
#[derive(Debug)]
pub(super) enum Ended {
    Report(RunReport),
    /// By Ctrl-C.
    Cancelled(RunReport),
    Failed(Failure, RunReport),
}

impl Ended {
    pub(super) fn report(&self) -> &RunReport {
        match self {
            Self::Report(report) | Self::Cancelled(report) | Self::Failed(_, report) => report,
        }
    }

    pub(super) fn into_conversation(self) -> Conversation {
        match self {
            Self::Report(report) | Self::Cancelled(report) | Self::Failed(_, report) => {
                report.into()
            }
        }
    }
}

impl Turn {
    /// Goes on with a conversation, and shows what happens.
    pub(super) async fn run(
        &self,
        conversation: Conversation,
        interrupts: &mut Interrupts,
    ) -> Result<Ended, Failure> {
        let mut run = self.agent.run(conversation);
        let mut shown = Progressing::new(self);
        loop {
            tokio::select! {
                biased;
                () = interrupts.next() => {
                    drop(shown.question.take());
                    shown.end()?;
                    return Ok(Ended::Cancelled(run.cancel()));
                }
                (id, decision) = shown.answered() => shown.decide(&run, &id, decision)?,
                event = run.next() => match event {
                    Some(event) => shown.event(event)?,
                    None => break,
                },
            }
        }
        shown.end()?;
        Ok(match run.await {
            Ok(report) => {
                self.tell_end(&report);
                Ended::Report(report)
            }
            Err(error) => {
                let report = error.report().clone();
                Ended::Failed(self.explain(failure(error)), report)
            }
        })
    }

    fn explain(&self, failure: Failure) -> Failure {
        match self.hint {
            Some(hint) if failure.exit() == Exit::Refused => failure.note(hint),
            _ => failure,
        }
    }

    fn tell_end(&self, report: &RunReport) {
        let why = match &report.stop_reason {
            StopReason::Finished | StopReason::StopSequence => None,
            StopReason::MaxTokens => Some("the answer breaks off: see --max-tokens".to_owned()),
            StopReason::Stopped(why) => Some(format!("the model has stopped: {why}")),
            StopReason::MaxIterations => {
                Some("the model would have called more tools: see --max-rounds".to_owned())
            }
            StopReason::Timeout => Some("the answer took too long".to_owned()),
            StopReason::MessageTooLong => Some("the model's message is too long".to_owned()),
            StopReason::TranscriptFull => Some("the conversation is too long".to_owned()),
            other => Some(format!("the answer has ended: {other:?}")),
        };
        if let Some(why) = why {
            self.screen.note(&why);
        }
        if self.screen.verbose() > 0 {
            if let Some(Usage {
                input_tokens,
                output_tokens,
                ..
            }) = report.usage
            {
                self.screen.note(&format!(
                    "{input_tokens} tokens read, {output_tokens} written"
                ));
            }
        }
    }
}

fn failure(error: ToolLoopError) -> Failure {
    match error {
        ToolLoopError::Model { error, .. } => model::failure(&error),
        ToolLoopError::Source { name, error, .. } => {
            Failure::from(*error).note(format!("it is the server `{name}`"))
        }
        other => Failure::new(Exit::Usage, other.to_string()),
    }
}

type Question = Pin<Box<dyn Future<Output = (String, Decision)>>>;

/// What is shown of a turn that is under way.
struct Progressing<'a> {
    turn: &'a Turn,
    text: Streamed,
    calls: HashMap<String, RequestedCall>,
    /// What is being asked, and what is to be asked after that.
    question: Option<Question>,
    questions: VecDeque<Box<ApprovalRequest>>,
    /// What has happened while somebody was asked; there are no more than the calls of one message bring.
    held: Vec<RunEvent>,
}

impl<'a> Progressing<'a> {
    fn new(turn: &'a Turn) -> Self {
        Self {
            turn,
            text: Streamed::default(),
            calls: HashMap::new(),
            question: None,
            questions: VecDeque::new(),
            held: Vec::new(),
        }
    }

    /// Waits for the answer to the question, if there is one.
    async fn answered(&mut self) -> (String, Decision) {
        match &mut self.question {
            Some(question) => question.await,
            None => pending().await,
        }
    }

    fn decide(&mut self, run: &Run, id: &str, decision: Decision) -> Result<(), Failure> {
        match decision {
            Decision::Approve => run.approve(id),
            Decision::Deny(why) => run.deny(id, why),
        }
        self.question = None;
        if let Some(next) = self.questions.pop_front() {
            self.ask(next);
            return Ok(());
        }
        for event in std::mem::take(&mut self.held) {
            self.show(event)?;
        }
        Ok(())
    }

    fn ask(&mut self, request: Box<ApprovalRequest>) {
        let consent = self.turn.consent.clone();
        self.question = Some(Box::pin(async move {
            let id = request.call.id.clone();
            (id, consent.ask(request).await)
        }));
    }

    fn event(&mut self, event: RunEvent) -> Result<(), Failure> {
        match event {
            RunEvent::ApprovalRequested(request) if self.question.is_none() => {
                self.text.end_line(&self.turn.screen)?;
                self.ask(request);
            }
            RunEvent::ApprovalRequested(request) => self.questions.push_back(request),
            // A bar would be drawn over what is typed.
            RunEvent::Progress { .. } if self.question.is_some() => {}
            event if self.question.is_some() => self.held.push(event),
            event => self.show(event)?,
        }
        Ok(())
    }

    fn show(&mut self, event: RunEvent) -> Result<(), Failure> {
        let screen = &self.turn.screen;
        match event {
            RunEvent::Text(text) if !self.turn.is_quiet => {
                screen.end_progress();
                self.text.write(screen, &text)?;
            }
            RunEvent::CallRequested(call) => drop(self.calls.insert(call.id.clone(), call)),
            RunEvent::CallStarted { id, .. } => {
                self.text.end_line(screen)?;
                if let Some(call) = self.calls.get(&id) {
                    self.note("call:", &Style::new().cyan(), &told(call));
                }
            }
            RunEvent::Progress { progress, .. } => {
                self.text.end_line(screen)?;
                screen.progress(&progress);
            }
            RunEvent::CallFinished {
                id,
                is_error,
                content,
                result,
                ..
            } => {
                screen.end_progress();
                self.text.end_line(screen)?;
                self.finished(&id, is_error, &content, result.as_deref());
            }
            RunEvent::RoundFinished { .. } => self.calls.clear(),
            _ => {}
        }
        Ok(())
    }

    fn finished(
        &self,
        id: &str,
        is_error: bool,
        content: &[ContentBlock],
        result: Option<&CallToolResult>,
    ) {
        let (heading, style) = if is_error {
            ("failed:", Style::new().red())
        } else {
            ("done:", Style::new().green())
        };
        let content = result.map_or(content, |result| &result.content);
        let lines = content.iter().map(|block| Shown::block(block).line());
        let text = lines.collect::<Vec<_>>().join(" ");
        let name = self.calls.get(id).map_or("", |call| &call.name);
        self.note(
            heading,
            &style,
            &format!("{name}  {}", cut(&clean_line(&text))),
        );
    }

    fn note(&self, heading: &str, style: &Style, text: &str) {
        if !self.turn.screen.is_quiet() {
            self.turn.screen.say_under(heading, style, text);
        }
    }

    /// Nothing more comes.
    fn end(&mut self) -> Result<(), Failure> {
        self.turn.screen.end_progress();
        for event in std::mem::take(&mut self.held) {
            self.show(event)?;
        }
        self.text.end_line(&self.turn.screen)
    }
}

/// A call in one line.
fn told(call: &RequestedCall) -> String {
    let input = serde_json::Value::Object(call.input.clone()).to_string();
    format!("{}  {}", clean_line(&call.name), cut(&clean_line(&input)))
}

/// The beginning of a line.
fn cut(line: &str) -> String {
    match line.char_indices().nth(LINE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

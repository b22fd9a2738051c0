//! One turn of the chat: a run of the model, and its outcome.

mod view;

use treenail::ToolLoop;
use treenail::agent::{Conversation, RunReport, StopReason, ToolLoopError, Usage};

use self::view::TurnView;
use super::consent::Consent;
use super::interrupts::Interrupts;
use super::model;
use crate::exit::{Exit, Failure};
use crate::terminal::Terminal;

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
        if self.terminal.verbose() > 0
            && let Some(Usage {
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

fn turn_failure(error: ToolLoopError) -> Failure {
    match error {
        ToolLoopError::Model { error, .. } => model::model_failure(&error),
        ToolLoopError::Source { name, error, .. } => {
            Failure::from(*error).note(format!("the server is `{name}`"))
        }
        other => Failure::new(Exit::Usage, other.to_string()),
    }
}

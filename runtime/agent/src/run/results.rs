//! Results of calls, in the state of a run and in its journal.

use serde_json::Value;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::AnsweredCall;
use treenail_schema::{CallToolResult, ContentBlock, ToolResultContent};

use super::calls::CallRunner;
use crate::RunEvent;
use crate::checkpoint::Stage;
use crate::results::{CallFailure, error_text};

impl CallRunner {
    /// Sets the result of a call that has ended, or that continues in the background.
    pub(super) fn on_outcome(&self, index: usize, outcome: Result<AnsweredCall, ClientError>) {
        match outcome {
            Ok(AnsweredCall::Task(task)) => {
                let Some((call, _)) = self.open_call(index) else {
                    return;
                };
                let id = call.id.clone();
                let text = self.shared.background.add(call, task);
                let content = ToolResultContent::new(id, [ContentBlock::text(text)]);
                self.finish(index, content, None);
            }
            Ok(AnsweredCall::Finished(result)) => {
                let content = self.shared.for_model(&result);
                let mut content = ToolResultContent::new(self.id(index), content);
                content.is_error = result.is_error.filter(|is_error| *is_error);
                self.finish(index, content, Some(Box::new(result)));
            }
            Err(ClientError::Timeout(after)) => self.fail(index, CallFailure::TimedOut { after }),
            Err(error) => self.fail(index, CallFailure::Failed(&error)),
        }
    }

    /// Ends the calls and tasks of a run that continues no more, so that its transcript has a result of each call.
    pub(super) fn interrupt(&self, reason: &str) {
        self.fail_open(|_| CallFailure::Interrupted { reason });
        self.shared.cancel_tasks(reason);
        self.shared.state().add_results();
    }

    /// Fails all calls that have no result, with the given reasons.
    pub(super) fn fail_open<'a>(&self, why: impl Fn(usize) -> CallFailure<'a>) {
        let open = self.shared.state().open.len();
        for index in 0..open {
            if !matches!(self.open_call(index), Some((_, Stage::Done(_)))) {
                self.fail(index, why(index));
            }
        }
    }

    pub(super) fn fail(&self, index: usize, failure: CallFailure<'_>) {
        let Some((call, _)) = self.open_call(index) else {
            return;
        };
        let text = error_text(&call.name, failure);
        let content =
            ToolResultContent::new(call.id, [ContentBlock::text(text)]).with_is_error(true);
        if matches!(failure, CallFailure::Interrupted { .. }) {
            // The journal omits it, so that a restarted run makes the call.
            self.set_result(index, content, None);
        } else {
            // A restarted run reaches the same result, even if the tools have changed meanwhile.
            let content = self.recall(index).unwrap_or(content);
            self.finish(index, content, None);
        }
    }

    /// Sets the result of a call, and records it for a restarted run.
    pub(super) fn finish(
        &self,
        index: usize,
        content: ToolResultContent,
        result: Option<Box<CallToolResult>>,
    ) {
        self.record(index, &content);
        self.set_result(index, content, result);
    }

    /// Sets the result of a call.
    fn set_result(
        &self,
        index: usize,
        content: ToolResultContent,
        result: Option<Box<CallToolResult>>,
    ) {
        self.shared.emit(RunEvent::CallFinished {
            id: content.tool_use_id.clone(),
            is_error: content.is_error == Some(true),
            content: content.content.clone(),
            result,
        });
        self.set_stage(index, Stage::Done(content));
    }

    fn id(&self, index: usize) -> String {
        self.open_call(index)
            .map_or_else(String::new, |(call, _)| call.id)
    }

    /// Returns the recorded result of a call, for a run that restarts with each message.
    pub(super) fn recall(&self, index: usize) -> Option<ToolResultContent> {
        let journal = self.shared.config.model.journal()?;
        let recorded = journal.recall(&index.to_string())?;
        serde_json::from_value(recorded).ok()
    }

    fn record(&self, index: usize, content: &ToolResultContent) {
        if let Some(journal) = self.shared.config.model.journal() {
            let content = serde_json::to_value(content).unwrap_or(Value::Null);
            journal.record(&index.to_string(), content);
        }
    }
}

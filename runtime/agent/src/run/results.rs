//! Results of calls, in the state of a run and in its journal.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use treenail_runtime::client::ClientError;
use treenail_runtime::internal::AnsweredCall;
use treenail_schema::{CallToolResult, ContentBlock, ToolResultContent};

use super::calls::CallRunner;
use crate::checkpoint::Stage;
use crate::results::{CallFailure, error_text};
use crate::{RunEvent, StopReason};

/// Key of the end of a run in its journal.
const END: &str = "end";

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

    /// Ends the calls and tasks of a run that continues no more, so that its transcript has a result of each call. A run that has failed
    /// has no `end`, and records nothing: when it restarts, it runs these calls.
    pub(super) fn interrupt(&self, reason: &str, end: Option<&StopReason>) {
        let failure = CallFailure::Interrupted { reason };
        if let Some(end) = end {
            self.record_end(end);
            self.fail_open(|_| failure);
        } else {
            for index in self.unfinished() {
                if let Some(content) = self.failed(index, failure) {
                    self.set_result(index, content, None);
                }
            }
        }
        self.shared.cancel_tasks(reason);
        self.shared.state().add_results();
    }

    /// Fails all calls that have no result, with the given reasons.
    pub(super) fn fail_open<'a>(&self, why: impl Fn(usize) -> CallFailure<'a>) {
        for index in self.unfinished() {
            self.fail(index, why(index));
        }
    }

    /// Returns the calls that have no result.
    fn unfinished(&self) -> impl Iterator<Item = usize> {
        let open = self.shared.state().open.len();
        (0..open).filter(|&index| !matches!(self.open_call(index), Some((_, Stage::Done(_)))))
    }

    pub(super) fn fail(&self, index: usize, failure: CallFailure<'_>) {
        if let Some(content) = self.failed(index, failure) {
            self.finish(index, content, None);
        }
    }

    /// Returns the result of a call that has failed. A restarted run reaches the same result, even if the tools have changed meanwhile.
    fn failed(&self, index: usize, failure: CallFailure<'_>) -> Option<ToolResultContent> {
        let (call, _) = self.open_call(index)?;
        let text = error_text(&call.name, failure);
        let content =
            ToolResultContent::new(call.id, [ContentBlock::text(text)]).with_is_error(true);
        Some(self.recall(index).unwrap_or(content))
    }

    /// Sets the result of a call, and records it for a restarted run.
    pub(super) fn finish(
        &self,
        index: usize,
        content: ToolResultContent,
        result: Option<Box<CallToolResult>>,
    ) {
        self.record(&index.to_string(), &content);
        self.set_result(index, content, result);
    }

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
        self.recall_value(&index.to_string())
    }

    /// Records that the run ends before all calls of the message have results, so that it ends here too when it restarts. Without
    /// this, it would request further messages.
    pub(super) fn record_end(&self, end: &StopReason) {
        if !self.shared.state().open.is_empty() {
            self.record(END, end);
        }
    }

    /// Returns the end that was recorded with the calls of the message.
    pub(super) fn recall_end(&self) -> Option<StopReason> {
        self.recall_value(END)
    }

    fn recall_value<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let journal = self.shared.config.model.journal()?;
        serde_json::from_value(journal.recall(key)?).ok()
    }

    fn record(&self, key: &str, value: &impl Serialize) {
        if let Some(journal) = self.shared.config.model.journal() {
            let value = serde_json::to_value(value).unwrap_or(Value::Null);
            journal.record(key, value);
        }
    }
}

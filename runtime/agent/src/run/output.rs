//! Submission of the output of a run, which ends it.

use treenail_schema::{ContentBlock, Role, ToolResultContent};

use super::calls::CallRunner;
use super::engine::Engine;
use crate::catalog::Catalog;
use crate::output::{ACCEPTED, reminder};
use crate::results::CallFailure;
use crate::{RequestedCall, StopReason};

impl Engine {
    /// Returns true if an output has been submitted.
    pub(super) fn has_output(&self) -> bool {
        self.shared.state().output.is_some()
    }

    /// Waits for the tasks in the background, so that the transcript has their outcomes.
    pub(super) async fn end_with_output(&self) -> StopReason {
        if self.wait_for_all_tasks().await {
            StopReason::Finished
        } else {
            StopReason::Timeout
        }
    }

    /// Reminds a model that has ended with a text of the submission, if one is requested. Returns false if its text is the
    /// response to a reminder.
    pub(super) fn remind(&self) -> bool {
        let Some(reminder) = self.catalog.submission().map(|tool| reminder(&tool.name)) else {
            return false;
        };
        let state = self.shared.state();
        let mut messages = state.messages.iter().rev();
        let is_reminded = messages.find(|it| it.role == Role::User) == Some(&reminder);
        drop(state);
        if !is_reminded {
            self.shared.append(|state| state.messages.push(reminder));
        }
        !is_reminded
    }
}

impl CallRunner {
    /// Accepts the arguments of a call as the output of the run, or fails it.
    pub(super) fn submit(&self, index: usize, call: RequestedCall) {
        let Some(output) = &self.shared.config.output else {
            return;
        };
        match output.read(&call.name, call.input) {
            Ok(output) => {
                self.shared.state().output = Some(output);
                let content = ToolResultContent::new(call.id, [ContentBlock::text(ACCEPTED)]);
                self.finish(index, content, None);
            }
            Err(report) => self.fail(index, CallFailure::InvalidArguments { report: &report }),
        }
    }

    /// Fails the calls of the last message, except for submissions.
    pub(super) async fn submit_last(&self, catalog: &Catalog, failure: CallFailure<'_>) {
        let open = self.shared.state().open.len();
        for index in 0..open {
            let call = self.open_call(index).map(|(call, _)| call);
            if call.is_some_and(|call| !catalog.is_submission(&call)) {
                self.fail(index, failure);
            }
        }
        for index in 0..open {
            self.evaluate(index, catalog).await;
        }
    }
}

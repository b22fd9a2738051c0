//! Validation and approval of a call before it runs.

use std::sync::Arc;

use tokio::time::timeout_at;
use treenail_schema::{JsonObject, Tool};

use super::calls::CallRunner;
use crate::arguments::Prepared;
use crate::catalog::{Catalog, ToolEntry};
use crate::checkpoint::Stage;
use crate::results::CallFailure;
use crate::{Approval, ApprovalRequest, RequestedCall, RunEvent, ToolChoice};

impl CallRunner {
    /// Advances a call that has no decision yet.
    pub(super) async fn evaluate(&self, index: usize, catalog: &Catalog) {
        let Some((call, stage)) = self.open_call(index) else {
            return;
        };
        match stage {
            Stage::Requested(problem) => {
                self.shared.emit(RunEvent::CallRequested(call.clone()));
                self.check(index, call, problem.as_deref(), catalog).await;
            }
            Stage::AwaitingApproval => self.check(index, call, None, catalog).await,
            // The process ended while the call was in flight.
            Stage::Running => {
                let reason = "it was interrupted, and its outcome is unknown";
                self.fail(index, CallFailure::Interrupted { reason });
            }
            Stage::Approved | Stage::Denied(_) | Stage::Done(_) => {}
        }
    }

    async fn check(
        &self,
        index: usize,
        mut call: RequestedCall,
        problem: Option<&str>,
        catalog: &Catalog,
    ) {
        let submission = catalog
            .submission()
            .filter(|_| catalog.is_submission(&call));
        if self.shared.config.tool_choice == ToolChoice::None && submission.is_none() {
            return self.fail(index, CallFailure::CallsDisabled);
        }
        let max = self.shared.config.limits.calls_per_message;
        if index >= max {
            return self.fail(index, CallFailure::TooManyCalls { max });
        }
        if let Some(message) = problem {
            return self.fail(index, CallFailure::Malformed { message });
        }
        if submission.is_some() && self.shared.state().output.is_some() {
            return self.fail(index, CallFailure::AlreadySubmitted);
        }
        let entry = find_tool(&call, catalog);
        let Some(tool) = submission.or(entry.map(|entry| &entry.tool)) else {
            let known = &catalog.names();
            return self.fail(index, CallFailure::UnknownTool { known });
        };
        let input = std::mem::take(&mut call.input);
        let Some(prepared) = self.prepare(index, tool, &call.name, input).await else {
            return;
        };
        call.input = prepared.input;
        match entry {
            Some(entry) => self.apply_policy(index, call, prepared.unchecked, entry),
            None => self.submit(index, call),
        }
    }

    /// Validates and repairs the arguments of a call, or fails it.
    async fn prepare(
        &self,
        index: usize,
        tool: &Arc<Tool>,
        name: &str,
        input: JsonObject,
    ) -> Option<Prepared> {
        let prepared = self.arguments.prepare_aside(tool, name, input);
        match timeout_at(self.shared.deadline(), prepared).await {
            Err(_) => {
                let reason = "the run exceeded its timeout";
                self.fail(index, CallFailure::Interrupted { reason });
                None
            }
            Ok(Ok(prepared)) => {
                let checked = prepared.input.clone();
                if let Some(open) = self.shared.state().open.get_mut(index) {
                    open.call.input = checked;
                }
                Some(prepared)
            }
            Ok(Err(report)) => {
                self.fail(index, CallFailure::InvalidArguments { report: &report });
                None
            }
        }
    }

    fn apply_policy(
        &self,
        index: usize,
        call: RequestedCall,
        unchecked: Option<String>,
        entry: &ToolEntry,
    ) {
        let request = ApprovalRequest {
            call,
            unchecked,
            tool: Arc::clone(&entry.tool),
            trust: entry.trust,
        };
        match self.shared.config.policy.decide(&request) {
            Approval::Allow => self.set_stage(index, Stage::Approved),
            Approval::Deny(reason) => {
                let reason = Some(&*reason).filter(|reason| !reason.is_empty());
                self.fail(index, CallFailure::Forbidden { reason });
            }
            Approval::Ask if self.shared.has_reader() => {
                self.set_stage(index, Stage::AwaitingApproval);
                self.shared
                    .emit(RunEvent::ApprovalRequested(Box::new(request)));
            }
            Approval::Ask => self.fail(index, CallFailure::NoApprover),
        }
    }
}

/// Finds the tool of a call.
pub(super) fn find_tool<'a>(call: &RequestedCall, catalog: &'a Catalog) -> Option<&'a ToolEntry> {
    match (&call.source, &call.tool) {
        (Some(source), Some(tool)) => catalog.find_in_source(source, tool),
        _ => catalog.find(&call.name),
    }
}

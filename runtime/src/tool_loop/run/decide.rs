//! Decides what becomes of a call, before it is made.

use std::sync::Arc;

use tokio::time::timeout_at;
use treenail_schema::ToolResultContent;

use super::calls::Calls;
use crate::tool_loop::catalog::{Catalog, Entry};
use crate::tool_loop::paused::Stage;
use crate::tool_loop::results::CallFailure;
use crate::tool_loop::{Approval, ApprovalRequest, Event, RequestedCall, ToolChoice};

impl Calls {
    /// Decides what becomes of a call that nothing has been decided of.
    pub(super) async fn look_at(&self, index: usize, catalog: &Catalog) {
        let Some((call, stage)) = self.open(index) else {
            return;
        };
        match stage {
            Stage::Requested(problem) => {
                self.shared.emit(Event::CallRequested(call.clone()));
                if let Some(kept) = self.recall(index) {
                    self.finish(index, kept, None);
                    return;
                }
                self.check(index, call, problem.as_deref(), catalog).await;
            }
            Stage::Asked => self.check(index, call, None, catalog).await,
            // It was cut short by the end of its process.
            Stage::Running => {
                let reason = "it was interrupted, and whether it was done is not known";
                self.fail(index, CallFailure::Ended { reason });
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
        if self.shared.setup.tool_choice == ToolChoice::None {
            return self.fail(index, CallFailure::NoCalls);
        }
        let most = self.shared.setup.limits.calls_per_message;
        if index >= most {
            return self.fail(index, CallFailure::TooMany { most });
        }
        if let Some(message) = problem {
            return self.fail(index, CallFailure::Malformed { message });
        }
        let Some(entry) = find(&call, catalog) else {
            let known = &catalog.names();
            return self.fail(index, CallFailure::UnknownTool { known });
        };
        let input = std::mem::take(&mut call.input);
        let prepared = self.arguments.prepare_aside(&entry.tool, &call.name, input);
        let unchecked = match timeout_at(self.shared.deadline(), prepared).await {
            Err(_) => {
                let reason = "the time of the whole run is over";
                return self.fail(index, CallFailure::Ended { reason });
            }
            Ok(Ok(prepared)) => {
                call.input = prepared.input;
                prepared.unchecked
            }
            Ok(Err(report)) => {
                return self.fail(index, CallFailure::WrongArguments { report: &report });
            }
        };
        let checked = call.input.clone();
        if let Some(open) = self.shared.state().open.get_mut(index) {
            open.call.input = checked;
        }
        self.decide(index, call, unchecked, entry);
    }

    fn decide(&self, index: usize, call: RequestedCall, unchecked: Option<String>, entry: &Entry) {
        let request = ApprovalRequest {
            call,
            unchecked,
            tool: Arc::clone(&entry.tool),
            trust: entry.trust,
        };
        match self.shared.setup.policy.decide(&request) {
            Approval::Allow => self.set(index, Stage::Approved),
            Approval::Deny(reason) => {
                let reason = Some(&*reason).filter(|reason| !reason.is_empty());
                self.fail(index, CallFailure::Forbidden { reason });
            }
            Approval::Ask if self.shared.is_read() => {
                self.set(index, Stage::Asked);
                self.shared.emit(Event::ApprovalAsked(Box::new(request)));
            }
            Approval::Ask => self.fail(index, CallFailure::NobodyToAsk),
        }
    }

    /// The result of a call that was made before, in a run that begins anew with each message.
    fn recall(&self, index: usize) -> Option<ToolResultContent> {
        let journal = self.shared.setup.model.journal()?;
        let kept = journal.recall(&index.to_string())?;
        serde_json::from_value(kept).ok()
    }
}

/// The tool of a call.
pub(super) fn find<'a>(call: &RequestedCall, catalog: &'a Catalog) -> Option<&'a Entry> {
    match (&call.source, &call.tool) {
        (Some(source), Some(tool)) => catalog.find_own(source, tool),
        _ => catalog.find(&call.name),
    }
}

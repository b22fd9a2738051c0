//! Makes the calls of one message: those that may be made, several at once, within their time.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Sleep, sleep_until, timeout};
use treenail_schema::{
    CallToolRequest, CallToolResult, ContentBlock, JsonObject, ToolResultContent,
};

use super::shared::Shared;
use crate::client::{ClientError, ClientLimits, ClientRequest, McpClient};
use crate::tool_loop::arguments::Arguments;
use crate::tool_loop::catalog::{Catalog, Entry};
use crate::tool_loop::paused::Stage;
use crate::tool_loop::results::{CallFailure, error_text, for_model};
use crate::tool_loop::{Approval, ApprovalRequest, Event, RequestedCall};

/// How the calls of a message have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    All,
    /// The time of the run is over; the calls that had not ended were cancelled.
    TooLate,
}

/// Makes the calls of messages, which are in the state of the run.
pub(super) struct Calls {
    shared: Arc<Shared>,
    arguments: Arguments,
}

/// A call that is under way.
struct Running {
    index: usize,
    future: Pin<Box<dyn Future<Output = Result<CallToolResult, ClientError>> + Send>>,
}

/// The calls of one message that have begun, and the clock.
#[derive(Default)]
struct Round {
    running: Vec<Running>,
    /// Ends when the time of the run is over; there is none while only approvals are waited for.
    end: Option<Pin<Box<Sleep>>>,
}

impl Calls {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            arguments: Arguments::new(&ClientLimits::default()),
        }
    }

    /// Until all open calls have results.
    pub(super) async fn settle(&self, catalog: &Catalog) -> Settled {
        let open = self.shared.state().open.len();
        for index in 0..open {
            self.look_at(index, catalog);
        }
        let mut round = Round::default();
        let settled = poll_fn(|context| self.poll(&mut round, catalog, context)).await;
        // Calls that are under way are cancelled.
        drop(round);
        if settled == Settled::TooLate {
            let limit = self.shared.setup.limits.timeout;
            let reason = format!("the time of the whole run, {limit:?}, is over");
            self.end_open(|_| CallFailure::Ended { reason: &reason });
        }
        settled
    }

    /// Decides what becomes of a call that nothing has been decided of.
    fn look_at(&self, index: usize, catalog: &Catalog) {
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
                self.check(index, call, problem.as_deref(), catalog);
            }
            Stage::Asked => self.check(index, call, None, catalog),
            // It was cut short by the end of its process.
            Stage::Running => {
                let reason = "it was interrupted, and whether it was done is not known";
                self.fail(index, CallFailure::Ended { reason });
            }
            Stage::Approved | Stage::Denied(_) | Stage::Done(_) => {}
        }
    }

    fn check(
        &self,
        index: usize,
        mut call: RequestedCall,
        problem: Option<&str>,
        catalog: &Catalog,
    ) {
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
        let prepared = self
            .arguments
            .prepare(&entry.tool, std::mem::take(&mut call.input));
        call.input = match prepared {
            Ok(prepared) => prepared.input,
            Err(report) => {
                return self.fail(index, CallFailure::WrongArguments { report: &report });
            }
        };
        self.shared.state().open[index].call.input = call.input.clone();
        self.decide(index, call, entry);
    }

    fn decide(&self, index: usize, call: RequestedCall, entry: &Entry) {
        let request = ApprovalRequest {
            call,
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

    fn poll(
        &self,
        round: &mut Round,
        catalog: &Catalog,
        context: &mut Context<'_>,
    ) -> Poll<Settled> {
        loop {
            self.tell_denied();
            self.start_approved(round, catalog);
            if !self.poll_running(round, context) {
                break;
            }
        }
        let state = self.shared.state();
        let is_done = |stage: &Stage| matches!(stage, Stage::Done(_));
        if state.open.iter().all(|open| is_done(&open.stage)) {
            return Poll::Ready(Settled::All);
        }
        let waits_for_user = state.waiting().next().is_some();
        drop(state);
        if round.running.is_empty() && waits_for_user {
            self.shared.state().stop_clock();
            round.end = None;
            return Poll::Pending;
        }
        self.shared.state().start_clock();
        let deadline = self.shared.deadline();
        let end = round
            .end
            .get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        end.as_mut().poll(context).map(|()| Settled::TooLate)
    }

    /// Tells the model of the calls that were denied, also because nobody reads any more what is asked.
    fn tell_denied(&self) {
        let open = self.shared.state().open.len();
        for index in 0..open {
            match self.open(index) {
                Some((_, Stage::Denied(reason))) => {
                    let reason = Some(&*reason).filter(|reason| !reason.is_empty());
                    self.fail(index, CallFailure::Denied { reason });
                }
                Some((_, Stage::Asked)) if !self.shared.is_read() => {
                    self.fail(index, CallFailure::NobodyToAsk);
                }
                _ => {}
            }
        }
    }

    fn start_approved(&self, round: &mut Round, catalog: &Catalog) {
        let most = self.shared.setup.limits.parallel_calls.max(1);
        while round.running.len() < most && !self.shared.is_pausing() {
            let mut state = self.shared.state();
            let approved = |it: &_| matches!(it, Stage::Approved);
            let next = state.open.iter().position(|open| approved(&open.stage));
            let Some(index) = next else {
                return;
            };
            let call = state.open[index].call.clone();
            state.open[index].stage = Stage::Running;
            drop(state);
            // The tool may have gone while somebody was asked.
            let Some(entry) = find(&call, catalog) else {
                let known = &catalog.names();
                self.fail(index, CallFailure::UnknownTool { known });
                continue;
            };
            self.shared.emit(Event::CallStarted {
                id: call.id.clone(),
            });
            let future = self.call(call, entry);
            round.running.push(Running { index, future });
        }
    }

    /// Lets the calls that are under way go on; whether one has ended.
    fn poll_running(&self, round: &mut Round, context: &mut Context<'_>) -> bool {
        let before = round.running.len();
        round.running.retain_mut(|running| {
            let Poll::Ready(outcome) = running.future.as_mut().poll(context) else {
                return true;
            };
            self.take(running.index, outcome);
            false
        });
        round.running.len() < before
    }

    fn call(
        &self,
        call: RequestedCall,
        entry: &Entry,
    ) -> Pin<Box<dyn Future<Output = Result<CallToolResult, ClientError>> + Send>> {
        let RequestedCall { id, input, .. } = call;
        let (client, tool) = (entry.client.clone(), entry.tool.name.clone());
        let limit = self.shared.setup.limits.call_timeout;
        let hears = self.shared.is_read().then(|| Arc::clone(&self.shared));
        Box::pin(async move {
            let called = made(client, &tool, input, limit, hears, id);
            match timeout(limit, called).await {
                Ok(outcome) => outcome,
                Err(_) => Err(ClientError::Timeout(limit)),
            }
        })
    }

    fn take(&self, index: usize, outcome: Result<CallToolResult, ClientError>) {
        match outcome {
            Ok(result) => {
                let features = self.shared.setup.model.features();
                let most = self.shared.setup.limits.result_bytes;
                let id = self.id(index);
                let mut told = ToolResultContent::new(id, for_model(&result, features, most));
                told.is_error = result.is_error.filter(|is_error| *is_error);
                self.finish(index, told, Some(Box::new(result)));
            }
            Err(ClientError::Timeout(after)) => self.fail(index, CallFailure::TimedOut { after }),
            Err(error) => self.fail(index, CallFailure::Failed(&error)),
        }
    }

    /// Gives all calls that have no result one that says why.
    pub(super) fn end_open<'a>(&self, why: impl Fn(usize) -> CallFailure<'a>) {
        let open = self.shared.state().open.len();
        for index in 0..open {
            if !matches!(self.open(index), Some((_, Stage::Done(_)))) {
                self.fail(index, why(index));
            }
        }
    }

    fn fail(&self, index: usize, failure: CallFailure<'_>) {
        let Some((call, _)) = self.open(index) else {
            return;
        };
        let text = error_text(&call.name, failure);
        let told = ToolResultContent::new(call.id, [ContentBlock::text(text)]).with_is_error(true);
        self.finish(index, told, None);
    }

    fn finish(&self, index: usize, told: ToolResultContent, result: Option<Box<CallToolResult>>) {
        self.keep(index, &told);
        self.shared.emit(Event::CallFinished {
            id: told.tool_use_id.clone(),
            is_error: told.is_error == Some(true),
            content: told.content.clone(),
            result,
        });
        self.set(index, Stage::Done(told));
    }

    fn open(&self, index: usize) -> Option<(RequestedCall, Stage)> {
        let state = self.shared.state();
        let open = state.open.get(index)?;
        Some((open.call.clone(), open.stage.clone()))
    }

    fn id(&self, index: usize) -> String {
        self.open(index)
            .map_or_else(String::new, |(call, _)| call.id)
    }

    fn set(&self, index: usize, stage: Stage) {
        if let Some(open) = self.shared.state().open.get_mut(index) {
            open.stage = stage;
        }
    }

    /// The result of a call that was made before, in a run that begins anew with each message.
    fn recall(&self, index: usize) -> Option<ToolResultContent> {
        let journal = self.shared.setup.model.journal()?;
        let kept = journal.recall(&index.to_string())?;
        serde_json::from_value(kept).ok()
    }

    fn keep(&self, index: usize, told: &ToolResultContent) {
        if let Some(journal) = self.shared.setup.model.journal() {
            let told = serde_json::to_value(told).unwrap_or(Value::Null);
            journal.keep(&index.to_string(), told);
        }
    }
}

/// The tool of a call.
fn find<'a>(call: &RequestedCall, catalog: &'a Catalog) -> Option<&'a Entry> {
    match (&call.source, &call.tool) {
        (Some(source), Some(tool)) => catalog.find_own(source, tool),
        _ => catalog.find(&call.name),
    }
}

/// Makes a call.
async fn made(
    client: McpClient,
    tool: &str,
    input: JsonObject,
    limit: Duration,
    hears: Option<Arc<Shared>>,
    id: String,
) -> Result<CallToolResult, ClientError> {
    let configure = |request: ClientRequest<CallToolRequest>| {
        let request = request.timeout(limit);
        let Some(shared) = hears.clone() else {
            return request;
        };
        let id = id.clone();
        request.on_progress(move |progress| {
            let (id, progress) = (id.clone(), Box::new(progress));
            shared.emit_from_outside(Event::Progress { id, progress });
        })
    };
    client.call_tool_with(tool, input, configure).await
}

//! Makes the calls of one message: those that may be made, several at once, within their time.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde_json::Value;
use tokio::time::{Sleep, sleep_until, timeout};
use treenail_schema::{CallToolRequest, CallToolResult, ContentBlock, ToolResultContent};

use super::decide::find;
use super::shared::Shared;
use crate::client::{ClientError, ClientLimits, ClientRequest};
use crate::tool_loop::arguments::Arguments;
use crate::tool_loop::catalog::{Catalog, Entry};
use crate::tool_loop::paused::{OpenCall, Stage};
use crate::tool_loop::results::{CallFailure, error_text, for_model};
use crate::tool_loop::{Event, RequestedCall};

/// How the calls of a message have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    All,
    /// The time of the run is over; the calls that had not ended were cancelled.
    TooLate,
}

/// Makes the calls of messages, which are in the state of the run.
pub(super) struct Calls {
    pub(super) shared: Arc<Shared>,
    pub(super) arguments: Arc<Arguments>,
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
            arguments: Arc::new(Arguments::new(&ClientLimits::default())),
        }
    }

    /// Until all open calls have results.
    pub(super) async fn settle(&self, catalog: &Catalog) -> Settled {
        let open = self.shared.state().open.len();
        for index in 0..open {
            self.look_at(index, catalog).await;
        }
        let mut round = Round::default();
        let settled = poll_fn(|context| self.poll(&mut round, catalog, context)).await;
        // It stands still if nothing was waited for any more but people.
        self.shared.state().start_clock();
        // Calls that are under way are cancelled.
        drop(round);
        if settled == Settled::TooLate {
            let limit = self.shared.setup.limits.timeout;
            let reason = format!("the time of the whole run, {limit:?}, is over");
            self.end_open(|_| CallFailure::Ended { reason: &reason });
        }
        settled
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
        let is_read = self.shared.is_read();
        let denied = |open: &OpenCall| match &open.stage {
            Stage::Denied(reason) => Some(Some(reason.clone())),
            Stage::Asked if !is_read => Some(None),
            _ => None,
        };
        let state = self.shared.state();
        let calls = state.open.iter().enumerate();
        let denied: Vec<_> = calls
            .filter_map(|(index, open)| Some((index, denied(open)?)))
            .collect();
        drop(state);
        for (index, reason) in denied {
            let reason = reason.as_deref();
            let failure = reason.map_or(CallFailure::NobodyToAsk, |reason| CallFailure::Denied {
                reason: Some(reason).filter(|reason| !reason.is_empty()),
            });
            self.fail(index, failure);
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
            let request = client.session().tools_call(&tool, input).timeout(limit);
            let called = client.send_call(&tool, with_progress(request, hears, id));
            let outcome = timeout(limit, called).await;
            outcome.unwrap_or(Err(ClientError::Timeout(limit)))
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

    pub(super) fn fail(&self, index: usize, failure: CallFailure<'_>) {
        let Some((call, _)) = self.open(index) else {
            return;
        };
        let text = error_text(&call.name, failure);
        let told = ToolResultContent::new(call.id, [ContentBlock::text(text)]).with_is_error(true);
        if matches!(failure, CallFailure::Ended { .. }) {
            // A run that begins anew is not at its end, and makes the call.
            self.close(index, told, None);
        } else {
            self.finish(index, told, None);
        }
    }

    /// Gives a call its result, which is kept for a run that begins anew.
    pub(super) fn finish(
        &self,
        index: usize,
        told: ToolResultContent,
        result: Option<Box<CallToolResult>>,
    ) {
        self.keep(index, &told);
        self.close(index, told, result);
    }

    /// Gives a call its result.
    fn close(&self, index: usize, told: ToolResultContent, result: Option<Box<CallToolResult>>) {
        self.shared.emit(Event::CallFinished {
            id: told.tool_use_id.clone(),
            is_error: told.is_error == Some(true),
            content: told.content.clone(),
            result,
        });
        self.set(index, Stage::Done(told));
    }

    pub(super) fn open(&self, index: usize) -> Option<(RequestedCall, Stage)> {
        let state = self.shared.state();
        let open = state.open.get(index)?;
        Some((open.call.clone(), open.stage.clone()))
    }

    fn id(&self, index: usize) -> String {
        self.open(index)
            .map_or_else(String::new, |(call, _)| call.id)
    }

    pub(super) fn set(&self, index: usize, stage: Stage) {
        if let Some(open) = self.shared.state().open.get_mut(index) {
            open.stage = stage;
        }
    }

    fn keep(&self, index: usize, told: &ToolResultContent) {
        if let Some(journal) = self.shared.setup.model.journal() {
            let told = serde_json::to_value(told).unwrap_or(Value::Null);
            journal.keep(&index.to_string(), told);
        }
    }
}

/// Has the events of a run hear of the progress of a call.
fn with_progress(
    request: ClientRequest<CallToolRequest>,
    hears: Option<Arc<Shared>>,
    id: String,
) -> ClientRequest<CallToolRequest> {
    let Some(shared) = hears else {
        return request;
    };
    request.on_progress(move |progress| {
        let (id, progress) = (id.clone(), Box::new(progress));
        shared.emit_from_outside(Event::Progress { id, progress });
    })
}

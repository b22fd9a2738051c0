//! Main loop of a run: requests messages and runs their calls until the end.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::timeout_at;
use treenail_runtime::internal::check_conversation;
use treenail_runtime::internal::timeout::poll_pausable;
use treenail_schema::{
    CreateMessageRequestParams, OneOrMany, Role, SamplingMessage,
    SamplingMessageContentBlock as Block, ToolUseContent,
};

use super::calls::CallRunner;
use super::clock::DeadlineTimer;
use super::shared::Shared;
use crate::call_ids::CallIds;
use crate::catalog::Catalog;
use crate::checkpoint::{OpenCall, RunState, Stage};
use crate::model_call::{ModelCallError, ModelCaller, ModelResponse};
use crate::report::Fault;
use crate::results::CallFailure;
use crate::{RequestedCall, RunEvent, StopReason};

/// Main loop of a run.
pub(super) struct Engine {
    pub(super) shared: Arc<Shared>,
    pub(super) catalog: Catalog,
    pub(super) calls: CallRunner,
}

/// Outcome of one message of the model.
pub(super) enum TurnOutcome {
    Continue,
    Stop(StopReason),
}

impl Engine {
    pub(super) async fn run(shared: Arc<Shared>) -> Result<StopReason, Fault> {
        let ended = shared.state().stop_reason.clone();
        if let Some(end) = ended {
            return Ok(end);
        }
        let config = &shared.config;
        let engine = Self {
            catalog: Catalog::new(&config.sources, config.output.clone(), &config.limits)?,
            calls: CallRunner::new(Arc::clone(&shared)),
            shared: Arc::clone(&shared),
        };
        engine.drive().await
    }

    async fn drive(mut self) -> Result<StopReason, Fault> {
        self.validate()?;
        if !self.refresh().await? {
            return Ok(StopReason::Timeout);
        }
        let has_open = !self.shared.state().open.is_empty();
        if has_open {
            if let TurnOutcome::Stop(end) = self.run_calls().await {
                return Ok(end);
            }
        }
        loop {
            if let TurnOutcome::Stop(end) = self.run_turn().await? {
                return Ok(end);
            }
        }
    }

    /// Validates the conversation.
    fn validate(&self) -> Result<(), Fault> {
        let state = self.shared.state();
        let has_open = usize::from(!state.open.is_empty());
        let checked = state.messages.len().saturating_sub(has_open);
        if state.messages.is_empty() {
            return Err(Fault::invalid("the conversation is empty"));
        }
        check_conversation(&state.messages[..checked])
            .map_err(|problem| Fault::invalid(format!("invalid conversation: {problem}")))?;
        Ok(())
    }

    async fn run_turn(&mut self) -> Result<TurnOutcome, Fault> {
        let config = Arc::clone(&self.shared.config);
        let limits = &config.limits;
        self.add_ended_tasks().await;
        if self.shared.is_pausing() {
            // `Run::pause` waits for the tasks, takes the state and drops this future.
            pending::<()>().await;
        }
        if self.has_output() {
            return Ok(TurnOutcome::Stop(self.end_with_output().await));
        }
        let is_last = self.shared.state().iterations >= limits.max_iterations.max(1);
        // The last message is an answer, which has to know all outcomes.
        if is_last && !self.wait_for_all_tasks().await {
            return Ok(TurnOutcome::Stop(StopReason::Timeout));
        }
        if self.shared.bytes() > limits.transcript_bytes {
            return Ok(TurnOutcome::Stop(StopReason::TranscriptFull));
        }
        if self.shared.state().used_tokens() >= limits.total_tokens {
            return Ok(TurnOutcome::Stop(StopReason::TotalTokens));
        }
        if !self.refresh().await? {
            return Ok(TurnOutcome::Stop(StopReason::Timeout));
        }
        let request = self.request(is_last)?;
        let response = match self.call_model(request).await {
            None => return Ok(TurnOutcome::Stop(StopReason::Timeout)),
            Some(Err(ModelCallError::TooLong)) => {
                return Ok(TurnOutcome::Stop(StopReason::MessageTooLong));
            }
            Some(Err(ModelCallError::Failed(error))) => return Err(Fault::Model(error)),
            Some(Ok(response)) => response,
        };
        let end = stop_reason_for(response.message.stop_reason.as_deref());
        self.record_message(response);
        let calls = !self.shared.state().open.is_empty();
        if is_last {
            self.reject_open_calls().await;
            return Ok(TurnOutcome::Stop(StopReason::MaxIterations));
        }
        if !calls {
            return Ok(match self.end_turn(end).await {
                TurnOutcome::Stop(StopReason::Finished) if self.remind() => TurnOutcome::Continue,
                ended => ended,
            });
        }
        Ok(self.run_calls().await)
    }

    /// Refreshes the tool lists; returns false if the run timed out. Its clock is stopped while a server waits for the user.
    async fn refresh(&mut self) -> Result<bool, Fault> {
        let (shared, mut timer) = (&self.shared, DeadlineTimer::default());
        let mut refresh = pin!(self.catalog.refresh());
        poll_fn(|context| match poll_pausable(refresh.as_mut(), context) {
            (Poll::Ready(refreshed), _) => Poll::Ready(refreshed.map(|()| true)),
            (Poll::Pending, is_paused) => {
                timer.poll(shared, is_paused, context).map(|()| Ok(false))
            }
        })
        .await
    }

    /// Requests a message; `None` if the run timed out.
    async fn call_model(
        &self,
        request: CreateMessageRequestParams,
    ) -> Option<Result<ModelResponse, ModelCallError>> {
        let config = &self.shared.config;
        let caller = ModelCaller {
            model: &config.model,
            format: &config.format,
            max_bytes: config.limits.message_bytes,
            parses_text: true,
        };
        let shared = &self.shared;
        let forward_text = |text: &str| shared.emit(RunEvent::Text(text.to_owned()));
        let response = Box::pin(caller.call(request, &forward_text));
        timeout_at(shared.deadline(), response).await.ok()
    }

    /// Appends the model's message to the conversation and opens its calls.
    fn record_message(&self, response: ModelResponse) {
        let ModelResponse {
            mut message,
            usage,
            problems,
        } = response;
        let mut state = self.shared.state();
        state.iterations += 1;
        state.model = Some(std::mem::take(&mut message.model));
        if let Some(usage) = usage {
            *state.usage.get_or_insert_default() += usage;
        }
        let mut call_ids = CallIds::from_messages(&state.messages);
        let mut content = message.content.into_vec();
        let mut problems = problems.into_iter();
        for block in &mut content {
            if let Block::ToolUse(tool_use) = block {
                call_ids.make_unique(tool_use);
                let call = self.requested(tool_use);
                tool_use.name.clone_from(&call.name);
                let requested = Stage::Requested(problems.next().flatten());
                state.open.push(OpenCall::new(call, requested));
            }
        }
        if content.is_empty() {
            return;
        }
        let mut sent = SamplingMessage::new(Role::Assistant, OneOrMany::Many(content));
        sent.meta = message.meta;
        drop(state);
        self.shared.append(|state| state.messages.push(sent));
    }

    fn requested(&self, tool_use: &ToolUseContent) -> RequestedCall {
        let entry = self.catalog.find(&tool_use.name);
        RequestedCall {
            id: tool_use.id.clone(),
            name: entry.map_or(&tool_use.name, |entry| &entry.name).clone(),
            source: entry.map(|entry| entry.source.clone()),
            tool: entry.map(|entry| entry.tool.name.clone()),
            input: tool_use.input.clone(),
        }
    }

    /// Runs all open calls and appends their results to the conversation.
    async fn run_calls(&self) -> TurnOutcome {
        let outcome = self.calls.run(&self.catalog).await;
        self.shared.append(RunState::add_results);
        let state = self.shared.state();
        self.shared.emit(RunEvent::RoundFinished {
            iterations: state.iterations,
            usage: state.usage,
        });
        outcome
    }

    /// Fails all open calls without running them, except for submissions.
    async fn reject_open_calls(&self) {
        if self.shared.state().open.is_empty() {
            return;
        }
        let max = self.shared.config.limits.max_iterations;
        let reason = format!("the limit of {max} rounds of calls was reached");
        let failure = CallFailure::Interrupted { reason: &reason };
        self.calls.submit_last(&self.catalog, failure).await;
        self.shared.append(RunState::add_results);
    }
}

/// Maps the stop reason of a message without calls.
fn stop_reason_for(stop_reason: Option<&str>) -> StopReason {
    match stop_reason {
        None | Some("endTurn" | "toolUse") => StopReason::Finished,
        Some("stopSequence") => StopReason::StopSequence,
        Some("maxTokens") => StopReason::MaxTokens,
        Some(other) => StopReason::Stopped(other.to_owned()),
    }
}

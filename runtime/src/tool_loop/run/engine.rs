//! Asks the model, has its calls made, and goes on until the end.

use std::future::pending;
use std::sync::Arc;

use tokio::time::timeout_at;
use treenail_schema::{
    CreateMessageRequestParams, OneOrMany, Role, SamplingMessage,
    SamplingMessageContentBlock as Block, ToolChoice as Mode, ToolChoiceMode, ToolUseContent,
};

use super::calls::{Calls, Settled};
use super::shared::Shared;
use crate::ask::check_conversation;
use crate::tool_loop::ask::{Answer, Asker, Unanswered, join, json_bytes};
use crate::tool_loop::catalog::Catalog;
use crate::tool_loop::ids::Ids;
use crate::tool_loop::paused::{OpenCall, Stage};
use crate::tool_loop::report::Fault;
use crate::tool_loop::results::CallFailure;
use crate::tool_loop::{EndReason, Event, RequestedCall, ToolChoice};

/// Runs until the end.
pub(super) struct Engine {
    shared: Arc<Shared>,
    catalog: Catalog,
    calls: Calls,
    /// Bytes of the conversation.
    bytes: usize,
}

/// What one message of the model has led to.
enum Turn {
    GoOn,
    End(EndReason),
}

impl Engine {
    pub(super) async fn run(shared: Arc<Shared>) -> Result<EndReason, Fault> {
        let ended = shared.state().end.clone();
        if let Some(end) = ended {
            return Ok(end);
        }
        shared.state().start_clock();
        let setup = &shared.setup;
        let engine = Self {
            catalog: Catalog::new(&setup.sources, setup.limits.tools)?,
            calls: Calls::new(Arc::clone(&shared)),
            bytes: 0,
            shared: Arc::clone(&shared),
        };
        engine.drive().await
    }

    async fn drive(mut self) -> Result<EndReason, Fault> {
        self.begin()?;
        if !self.refresh().await? {
            return Ok(EndReason::Timeout);
        }
        if !self.shared.state().open.is_empty() && self.settle().await == Settled::TooLate {
            return Ok(EndReason::Timeout);
        }
        loop {
            if let Turn::End(end) = self.turn().await? {
                return Ok(end);
            }
        }
    }

    /// Checks what the run begins with.
    fn begin(&mut self) -> Result<(), Fault> {
        let state = self.shared.state();
        let has_open = usize::from(!state.open.is_empty());
        let checked = state.messages.len().saturating_sub(has_open);
        if state.messages.is_empty() {
            return Err(Fault::invalid("the conversation has no message"));
        }
        check_conversation(&state.messages[..checked])
            .map_err(|problem| Fault::invalid(format!("the conversation is wrong: {problem}")))?;
        self.bytes = state.messages.iter().map(json_bytes).sum();
        Ok(())
    }

    async fn turn(&mut self) -> Result<Turn, Fault> {
        let setup = Arc::clone(&self.shared.setup);
        let limits = &setup.limits;
        if self.shared.is_pausing() {
            // The one who pauses takes the state and drops this.
            pending::<()>().await;
        }
        if self.bytes > limits.transcript_bytes {
            return Ok(Turn::End(EndReason::TranscriptFull));
        }
        if !self.refresh().await? {
            return Ok(Turn::End(EndReason::Timeout));
        }
        let is_last = self.shared.state().iterations >= limits.max_iterations.max(1);
        let request = self.request(is_last)?;
        let answer = match self.ask(request).await {
            None => return Ok(Turn::End(EndReason::Timeout)),
            Some(Err(Unanswered::TooLong)) => return Ok(Turn::End(EndReason::MessageTooLong)),
            Some(Err(Unanswered::Failed(error))) => return Err(Fault::Model(error)),
            Some(Ok(answer)) => answer,
        };
        let end = end_of(answer.message.stop_reason.as_deref());
        self.take(answer);
        let calls = !self.shared.state().open.is_empty();
        if is_last {
            self.refuse_all();
            return Ok(Turn::End(EndReason::MaxIterations));
        }
        if !calls {
            return Ok(Turn::End(end));
        }
        if self.settle().await == Settled::TooLate {
            return Ok(Turn::End(EndReason::Timeout));
        }
        Ok(Turn::GoOn)
    }

    /// Fetches the lists of tools that have changed; `false` if the time is over.
    async fn refresh(&mut self) -> Result<bool, Fault> {
        let deadline = self.shared.deadline();
        match timeout_at(deadline, self.catalog.refresh()).await {
            Ok(refreshed) => refreshed.map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// The next request. The last one asks for an answer, whatever was done until then.
    fn request(&self, is_last: bool) -> Result<CreateMessageRequestParams, Fault> {
        let setup = &self.shared.setup;
        let state = self.shared.state();
        let is_first = state.iterations == 0;
        let mut request = CreateMessageRequestParams::new(state.messages.clone(), setup.max_tokens);
        drop(state);
        request.system_prompt.clone_from(&setup.system_prompt);
        let later = ToolChoice::Auto;
        let choice = match &setup.tool_choice {
            ToolChoice::Required | ToolChoice::Tool(_) if !is_first => &later,
            choice => choice,
        };
        let tools = self.catalog.chosen(choice)?;
        let mode = match choice {
            _ if is_last => Some(ToolChoiceMode::None),
            ToolChoice::Auto => None,
            ToolChoice::None => Some(ToolChoiceMode::None),
            ToolChoice::Required | ToolChoice::Tool(_) => Some(ToolChoiceMode::Required),
        };
        if is_last {
            let prompt = request.system_prompt.take();
            request.system_prompt = join(prompt, last_words(setup.limits.max_iterations));
        }
        if !tools.is_empty() {
            request.tools = Some(tools);
            request.tool_choice = mode.map(|mode| Mode::new().with_mode(mode));
        }
        if let Some(edit) = &setup.edit {
            edit(&mut request);
        }
        Ok(request)
    }

    /// The model's answer, or nothing if the time is over.
    async fn ask(&self, request: CreateMessageRequestParams) -> Option<Result<Answer, Unanswered>> {
        let setup = &self.shared.setup;
        let asker = Asker {
            model: &setup.model,
            dialect: &setup.dialect,
            most_bytes: setup.limits.message_bytes,
        };
        let shared = &self.shared;
        let tell = |text: &str| shared.emit(Event::Text(text.to_owned()));
        let answer = Box::pin(asker.ask(request, &tell));
        timeout_at(shared.deadline(), answer).await.ok()
    }

    /// Adds the model's message to the conversation, and notes its calls.
    fn take(&mut self, answer: Answer) {
        let Answer {
            mut message,
            usage,
            problems,
        } = answer;
        let mut state = self.shared.state();
        state.iterations += 1;
        state.model = Some(std::mem::take(&mut message.model));
        if let Some(usage) = usage {
            *state.usage.get_or_insert_default() += usage;
        }
        let mut ids = Ids::of(&state.messages);
        let mut content = message.content.into_vec();
        let mut problems = problems.into_iter();
        for block in &mut content {
            if let Block::ToolUse(tool_use) = block {
                ids.make_own(tool_use);
                let call = self.requested(tool_use);
                tool_use.name.clone_from(&call.name);
                state.open.push(OpenCall {
                    call,
                    stage: Stage::Requested(problems.next().flatten()),
                });
            }
        }
        if content.is_empty() {
            return;
        }
        let mut said = SamplingMessage::new(Role::Assistant, OneOrMany::Many(content));
        said.meta = message.meta;
        self.bytes = self.bytes.saturating_add(json_bytes(&said));
        state.messages.push(said);
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

    /// Has all open calls made, and adds their results to the conversation.
    async fn settle(&mut self) -> Settled {
        let settled = self.calls.settle(&self.catalog).await;
        self.add_results();
        let state = self.shared.state();
        self.shared.emit(Event::RoundFinished {
            iterations: state.iterations,
            usage: state.usage,
        });
        settled
    }

    /// Makes none of the open calls.
    fn refuse_all(&mut self) {
        if self.shared.state().open.is_empty() {
            return;
        }
        let most = self.shared.setup.limits.max_iterations;
        let reason = format!("the limit of {most} rounds of calls is reached");
        self.calls
            .end_open(|_| CallFailure::Ended { reason: &reason });
        self.add_results();
    }

    /// Adds the results of the open calls to the conversation.
    fn add_results(&mut self) {
        let mut state = self.shared.state();
        if let Some(results) = state.add_results() {
            self.bytes = self.bytes.saturating_add(json_bytes(results));
        }
    }
}

/// What a model that has had all its rounds is told.
fn last_words(most: u32) -> String {
    let rounds = if most <= 1 { "round" } else { "rounds" };
    format!(
        "You have had {} {rounds} of tool calls, which is the limit. Do not call tools any more: answer now with what you \
         know, and say what is missing.",
        most.max(1)
    )
}

/// Why a run ends with a message without calls.
fn end_of(stop_reason: Option<&str>) -> EndReason {
    match stop_reason {
        None | Some("endTurn" | "toolUse") => EndReason::Finished,
        Some("stopSequence") => EndReason::StopSequence,
        Some("maxTokens") => EndReason::MaxTokens,
        Some(other) => EndReason::Stopped(other.to_owned()),
    }
}

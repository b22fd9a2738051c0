//! Assembly of a response from its chunks, and its conversion to the protocol's format.

mod arguments;
mod calls;
mod chunk;

use std::borrow::Cow;

use treenail_http_client::sse::Event;
use treenail_schema::{CreateMessageResult, Role, SamplingMessageContentBlock as Block};

use self::calls::CallAssembler;
use self::chunk::{Choice, Chunk, Delta};
use super::failure::Failure;
use super::limits::OpenAiLimits;
use super::request::ToolNames;
use crate::{ModelError, ModelReply, TextSink, Usage};

/// Maximum length of a model name or finish reason, in characters.
const MAX_WORD_CHARS: usize = 256;

/// Message that is assembled from chunks.
pub(super) struct Assembler<'a> {
    limits: &'a OpenAiLimits,
    on_text: TextSink<'a>,
    /// Number of bytes that the message may still take.
    remaining_bytes: usize,
    text: String,
    calls: CallAssembler,
    is_refusal: bool,
    finish: Option<String>,
    /// The endpoint signalled the end.
    is_done: bool,
    model: Option<String>,
    usage: Option<Usage>,
}

/// State of a stream after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    More,
    Done,
}

impl<'a> Assembler<'a> {
    pub(super) fn new(limits: &'a OpenAiLimits, on_text: TextSink<'a>) -> Self {
        Self {
            limits,
            on_text,
            remaining_bytes: limits.message_bytes,
            text: String::new(),
            calls: CallAssembler::default(),
            is_refusal: false,
            finish: None,
            is_done: false,
            model: None,
            usage: None,
        }
    }

    /// Returns true if text of this message has been streamed to the user.
    pub(super) fn has_streamed_text(&self) -> bool {
        !self.text.is_empty()
    }

    /// Returns true if no more of the message can follow.
    pub(super) fn is_complete(&self) -> bool {
        self.finish.is_some() || self.is_done
    }

    /// Processes an event of a stream.
    pub(super) fn on_event(&mut self, event: Event) -> Result<Progress, Failure> {
        let (data, is_named) = match event {
            Event::Message(data) => (data, false),
            // Some endpoints name error events; others send named keep-alives.
            Event::Other(data) | Event::Endpoint(data) => (data, true),
            Event::TooLong(_) | Event::Skipped(_) => {
                let max = self.limits.event_bytes;
                let why = format!("an event has more than {max} bytes");
                return Err(Failure::invalid_response(why));
            }
        };
        match data.trim_ascii() {
            b"" => {}
            b"[DONE]" => {
                self.is_done = true;
                return Ok(Progress::Done);
            }
            data => match serde_json::from_slice(data) {
                Ok(chunk) => self.chunk(chunk, |choice| choice.delta.or(choice.message))?,
                Err(_) if is_named => {}
                Err(error) => return Err(invalid_json(&error)),
            },
        }
        Ok(Progress::More)
    }

    /// Processes a response that is not streamed.
    pub(super) fn on_body(&mut self, answer: &[u8]) -> Result<(), Failure> {
        let chunk = serde_json::from_slice(answer).map_err(|error| invalid_json(&error))?;
        self.is_done = true;
        self.chunk(chunk, |choice| choice.message)
    }

    fn chunk<'c>(
        &mut self,
        chunk: Chunk<'c>,
        delta: impl FnOnce(Choice<'c>) -> Option<Delta<'c>>,
    ) -> Result<(), Failure> {
        if let Some(error) = chunk.error.filter(|error| error.get() != "null") {
            return Err(Failure::from_stream_error(error.get()));
        }
        if let Some(model) = chunk.model.filter(|_| self.model.is_none()) {
            self.model = Some(shorten(&model)).filter(|model| !model.is_empty());
        }
        if let Some(usage) = chunk.usage {
            self.usage = Some(Usage::new(
                usage.prompt_tokens.unwrap_or_default(),
                usage.completion_tokens.unwrap_or_default(),
            ));
        }
        // Only one choice was requested.
        let mut choices = chunk.choices.into_iter().flatten();
        let Some(mut choice) = choices.find(|choice| choice.index.unwrap_or(0) == 0) else {
            return Ok(());
        };
        let finish = choice.finish_reason.take();
        if let Some(delta) = delta(choice) {
            self.delta(delta)?;
        }
        if let Some(finish) = finish.filter(|finish| !finish.is_empty()) {
            self.finish = Some(shorten(&finish));
        }
        Ok(())
    }

    fn delta(&mut self, delta: Delta<'_>) -> Result<(), Failure> {
        if let Some(content) = delta.content {
            let text = chunk::text_of(content).unwrap_or(Cow::Borrowed(""));
            self.push_text(&text)?;
        }
        if let Some(refusal) = delta.refusal.filter(|refusal| !refusal.is_empty()) {
            self.is_refusal = true;
            self.push_text(&refusal)?;
        }
        for call in delta.tool_calls.into_iter().flatten() {
            let size = self.calls.push(call, self.limits.tool_calls);
            let size = size.map_err(Failure::invalid_response)?;
            self.consume(size)?;
        }
        Ok(())
    }

    fn push_text(&mut self, text: &str) -> Result<(), Failure> {
        if text.is_empty() {
            return Ok(());
        }
        self.consume(text.len())?;
        self.text.push_str(text);
        (self.on_text)(text);
        Ok(())
    }

    fn consume(&mut self, bytes: usize) -> Result<(), Failure> {
        let max = self.limits.message_bytes;
        let remaining_bytes = self.remaining_bytes.checked_sub(bytes);
        self.remaining_bytes = remaining_bytes.ok_or_else(|| {
            Failure::invalid_response(format!("the message has more than {max} bytes"))
        })?;
        Ok(())
    }

    /// Returns the message, as the reply to the `turn`th one.
    pub(super) fn finish(
        self,
        model: &str,
        turn: usize,
        names: &ToolNames,
    ) -> Result<ModelReply, ModelError> {
        if self.finish.is_none() && self.text.is_empty() && self.calls.is_empty() {
            return Err(ModelError::invalid_response(
                "the response contains no message",
            ));
        }
        let stop_reason = self.stop_reason();
        let mut content = Vec::new();
        if !self.text.is_empty() || self.calls.is_empty() {
            content.push(Block::text(self.text));
        }
        let calls = self.calls.into_tool_uses(turn, names);
        content.extend(calls.into_iter().map(Block::ToolUse));
        let model = self.model.unwrap_or_else(|| model.to_owned());
        let mut message = CreateMessageResult::new(Role::Assistant, content, model);
        message.stop_reason = stop_reason;
        let mut reply = ModelReply::new(message);
        reply.usage = self.usage;
        Ok(reply)
    }

    fn stop_reason(&self) -> Option<String> {
        let reason = match self.finish.as_deref() {
            Some("length") => "maxTokens",
            Some("content_filter") => "contentFilter",
            // Some endpoints send `stop` after calls too, and some send nothing.
            _ if !self.calls.is_empty() => "toolUse",
            _ if self.is_refusal => "refusal",
            Some("stop") => "endTurn",
            Some("tool_calls" | "function_call") => "toolUse",
            other => return other.map(str::to_owned),
        };
        Some(reason.to_owned())
    }
}

fn invalid_json(error: &serde_json::Error) -> Failure {
    Failure::invalid_response(treenail_schema::internal::shortened(&error.to_string()))
}

/// Truncates a short text of the endpoint.
fn shorten(text: &str) -> String {
    text.chars().take(MAX_WORD_CHARS).collect()
}

//! One request to a model, with native tool use or with tool calls as text.

mod problems;
mod streaming;

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use treenail_schema::{
    CreateMessageRequestParams, CreateMessageResult, OneOrMany, Role,
    SamplingMessageContentBlock as Block, Tool, ToolChoiceMode, ToolUseContent,
};

use self::problems::describe_problems;
use self::streaming::{StreamingReply, into_blocks};
use crate::text::{Piece, STOP_SEQUENCES, TextParser, instructions, render};
use crate::{Model, ModelError, ModelReply, TextSink, TextToolFormat, Usage};

/// Maximum number of stop sequences that most endpoints accept; they reject a request with more.
const MAX_STOP_SEQUENCES: usize = 4;

/// Sends requests to one model.
#[derive(Clone, Copy)]
pub(super) struct ModelCaller<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) format: &'a TextToolFormat,
    /// Maximum size of a message.
    pub(super) max_bytes: usize,
    /// True if text of a model without tool use may be a call; false if all of it is prose.
    pub(super) parses_text: bool,
}

/// Message of the model, with its calls as `tool_use` blocks.
#[derive(Debug)]
pub(super) struct ModelResponse {
    pub(super) message: CreateMessageResult,
    pub(super) usage: Option<Usage>,
    /// For each call in the message, the parse error to report to the model, if any.
    pub(super) problems: Vec<Option<String>>,
}

/// Failure of a request to a model.
#[derive(Debug)]
pub(super) enum ModelCallError {
    TooLong,
    Failed(ModelError),
}

impl ModelCaller<'_> {
    /// Requests the next message. Its text is streamed to `on_text`, without the calls.
    pub(super) async fn call(
        self,
        request: CreateMessageRequestParams,
        on_text: TextSink<'_>,
    ) -> Result<ModelResponse, ModelCallError> {
        if self.model.capabilities().tools {
            self.call_with_tools(&request, on_text).await
        } else {
            self.call_as_text(request, on_text).await
        }
    }

    async fn call_with_tools(
        self,
        request: &CreateMessageRequestParams,
        on_text: TextSink<'_>,
    ) -> Result<ModelResponse, ModelCallError> {
        let (reply, was_streamed) = self.message(request, on_text).await?;
        if !was_streamed {
            let texts = reply.message.content.iter().filter_map(Block::as_text);
            texts.filter(|text| !text.is_empty()).for_each(on_text);
        }
        let message = reply.message;
        let content = message.content.iter().collect::<Vec<_>>();
        let problems = describe_problems(&content, is_cut_off(&message));
        Ok(ModelResponse {
            message,
            usage: reply.usage,
            problems,
        })
    }

    async fn call_as_text(
        self,
        mut request: CreateMessageRequestParams,
        on_text: TextSink<'_>,
    ) -> Result<ModelResponse, ModelCallError> {
        let tools = request.tools.take().unwrap_or_default();
        let choice = request.tool_choice.take().and_then(|choice| choice.mode);
        let choice = choice.unwrap_or(ToolChoiceMode::Auto);
        let may_call = choice != ToolChoiceMode::None;
        let format = TextToolFormat {
            mentions: self.format.mentions && may_call,
            ..self.format.clone()
        };
        self.write_tools_as_text(&mut request, &tools, choice);

        let parser = self.parses_text.then(|| TextParser::new(&format, &tools));
        let streaming = Mutex::new(StreamingReply::new(parser));
        let push = |chunk: &str| lock(&streaming).push(chunk, on_text);
        let (mut reply, was_streamed) = self.message(&request, &push).await?;
        let content = &mut reply.message.content;
        let blocks = std::mem::replace(content, OneOrMany::Many(Vec::new()));
        let mut others = Vec::new();
        for block in blocks.into_vec() {
            match block {
                Block::Text(text) if was_streamed => drop(text),
                Block::Text(text) => push(&text.text),
                other => others.push(other),
            }
        }
        let pieces = lock(&streaming).finish(is_cut_off(&reply.message), on_text);
        Ok(response_of_pieces(reply, pieces, others))
    }

    /// Describes the tools and the calls of a request in its text.
    fn write_tools_as_text(
        self,
        request: &mut CreateMessageRequestParams,
        tools: &[Tool],
        choice: ToolChoiceMode,
    ) {
        let prompt = instructions(tools, choice, self.format);
        request.system_prompt = append_to_prompt(request.system_prompt.take(), prompt);
        request.messages = render(&request.messages);
        if !tools.is_empty() {
            let stop_sequences = request.stop_sequences.get_or_insert_default();
            let remaining = MAX_STOP_SEQUENCES.saturating_sub(stop_sequences.len());
            stop_sequences.extend(
                STOP_SEQUENCES
                    .map(str::to_owned)
                    .into_iter()
                    .take(remaining),
            );
        }
    }

    /// Requests a message from the model; also returns whether its text has been streamed.
    async fn message(
        self,
        request: &CreateMessageRequestParams,
        on_text: TextSink<'_>,
    ) -> Result<(ModelReply, bool), ModelCallError> {
        let streamed = AtomicUsize::new(0);
        let count = |text: &str| {
            let before = streamed.fetch_add(text.len(), Ordering::Relaxed);
            if before.saturating_add(text.len()) <= self.max_bytes {
                on_text(text);
            }
        };
        let too_long = || streamed.load(Ordering::Relaxed) > self.max_bytes;
        let mut pending_reply = self.model.create_message(request, &count);
        let reply = poll_fn(|context| {
            let polled = pending_reply.as_mut().poll(context);
            // Stops a model that writes without end.
            if too_long() {
                return Poll::Ready(Err(ModelCallError::TooLong));
            }
            polled.map(|reply| reply.map_err(ModelCallError::Failed))
        })
        .await?;
        drop(pending_reply);
        self.check(&reply)?;
        Ok((reply, streamed.into_inner() > 0))
    }

    fn check(self, reply: &ModelReply) -> Result<(), ModelCallError> {
        let invalid_response =
            |reason: &str| ModelCallError::Failed(ModelError::invalid_response(reason));
        let message = &reply.message;
        if message.role != Role::Assistant {
            return Err(invalid_response(
                "the message does not have the role `assistant`",
            ));
        }
        let is_result = |block: &Block| matches!(block, Block::ToolResult(_));
        if message.content.iter().any(is_result) {
            return Err(invalid_response("the message contains tool results"));
        }
        if json_bytes(message) > self.max_bytes {
            return Err(ModelCallError::TooLong);
        }
        Ok(())
    }
}

/// Returns the response with the calls in the text of a reply, and its other blocks after them.
fn response_of_pieces(
    reply: ModelReply,
    pieces: Vec<Piece>,
    mut others: Vec<Block>,
) -> ModelResponse {
    let ModelReply { mut message, usage } = reply;
    let (mut content, mut problems) = into_blocks(pieces);
    problems.extend(describe_problems(
        &others.iter().collect::<Vec<_>>(),
        is_cut_off(&message),
    ));
    content.append(&mut others);
    if !problems.is_empty() {
        message.stop_reason = Some("toolUse".to_owned());
    }
    message.content = content.into();
    ModelResponse {
        message,
        usage,
        problems,
    }
}

/// Returns the size of a value as JSON, in bytes.
pub(super) fn json_bytes(value: &impl serde::Serialize) -> usize {
    struct Count(usize);

    impl std::io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    let mut count = Count(0);
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

pub(super) fn as_tool_use(block: &Block) -> Option<&ToolUseContent> {
    match block {
        Block::ToolUse(tool_use) => Some(tool_use),
        _ => None,
    }
}

/// Returns true if the token limit or a filter ended a message.
fn is_cut_off(message: &CreateMessageResult) -> bool {
    matches!(
        message.stop_reason.as_deref(),
        Some("maxTokens" | "contentFilter")
    )
}

/// Appends a paragraph to a system prompt.
pub(super) fn append_to_prompt(prompt: Option<String>, more: String) -> Option<String> {
    match prompt {
        prompt if more.is_empty() => prompt,
        Some(prompt) if !prompt.is_empty() => Some(format!("{prompt}\n\n{more}")),
        _ => Some(more),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

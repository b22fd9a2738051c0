//! One request to a model, with native tool use or with tool calls as text.

use std::future::poll_fn;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use treenail_schema::internal::quoted;
use treenail_schema::{
    CreateMessageRequestParams, CreateMessageResult, JsonObject, MetaObject, OneOrMany, Role,
    SamplingMessageContentBlock as Block, ToolChoiceMode, ToolUseContent,
};

use crate::raw_arguments::{RAW_CALL, parse_error};
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
        let prompt = instructions(&tools, choice, self.format);
        let may_call = choice != ToolChoiceMode::None;
        let format = TextToolFormat {
            mentions: self.format.mentions && may_call,
            ..self.format.clone()
        };
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

        let streaming = Mutex::new(StreamingReply {
            parser: self.parses_text.then(|| TextParser::new(&format, &tools)),
            pieces: Vec::new(),
        });
        let push = |chunk: &str| lock(&streaming).push(chunk, on_text);
        let (reply, was_streamed) = self.message(&request, &push).await?;
        let ModelReply { mut message, usage } = reply;
        let blocks = std::mem::replace(&mut message.content, OneOrMany::Many(Vec::new()));
        let mut others = Vec::new();
        for block in blocks.into_vec() {
            match block {
                Block::Text(text) if was_streamed => drop(text),
                Block::Text(text) => push(&text.text),
                other => others.push(other),
            }
        }
        let cut_off = is_cut_off(&message);
        let streaming = lock(&streaming).finish(cut_off, on_text);
        let (mut content, mut problems) = into_blocks(streaming);
        problems.extend(describe_problems(
            &others.iter().collect::<Vec<_>>(),
            cut_off,
        ));
        content.append(&mut others);
        if !problems.is_empty() {
            message.stop_reason = Some("toolUse".to_owned());
        }
        message.content = content.into();
        Ok(ModelResponse {
            message,
            usage,
            problems,
        })
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

/// Returns true if the token limit ended a message.
fn is_cut_off(message: &CreateMessageResult) -> bool {
    message.stop_reason.as_deref() == Some("maxTokens")
}

/// Returns the parse error of each call in native content, as a message for the model.
fn describe_problems(content: &[&Block], cut_off: bool) -> Vec<Option<String>> {
    let uses = content.iter().filter_map(|block| as_tool_use(block));
    let mut problems: Vec<_> = uses.map(describe_problem).collect();
    let end = content.last().and_then(|block| as_tool_use(block));
    if let (true, Some(tool_use), Some(problem)) = (cut_off, end, problems.last_mut()) {
        if tool_use.input.is_empty() && problem.is_none() {
            let name = quoted(&tool_use.name);
            *problem = Some(format!(
                "The call of {name} was cut off by the token limit before its arguments, and was not run.\nMake the call again, \
                 in a shorter message."
            ));
        }
    }
    problems
}

/// Returns the parse error of a call, as a message for the model.
fn describe_problem(tool_use: &ToolUseContent) -> Option<String> {
    let why = parse_error(tool_use)?;
    let name = quoted(&tool_use.name);
    Some(format!(
        "The call of {name} could not be parsed and was not run: {why}.\nMake the call again, with one JSON object as its \
         arguments."
    ))
}

/// Reply that is parsed while it is streamed.
struct StreamingReply {
    /// `None` if no text is a call.
    parser: Option<TextParser>,
    pieces: Vec<Piece>,
}

impl StreamingReply {
    fn push(&mut self, chunk: &str, on_text: TextSink<'_>) {
        let pieces = match &mut self.parser {
            Some(parser) => parser.push(chunk),
            None => vec![Piece::Text(chunk.to_owned())],
        };
        self.append(pieces, on_text);
    }

    fn finish(&mut self, cut_off: bool, on_text: TextSink<'_>) -> Vec<Piece> {
        if let Some(parser) = &mut self.parser {
            let pieces = if cut_off {
                parser.finish_cut_off()
            } else {
                parser.finish()
            };
            self.append(pieces, on_text);
        }
        std::mem::take(&mut self.pieces)
    }

    fn append(&mut self, pieces: Vec<Piece>, on_text: TextSink<'_>) {
        for piece in pieces {
            match (piece, self.pieces.last_mut()) {
                (Piece::Text(more), Some(Piece::Text(text))) => {
                    on_text(&more);
                    text.push_str(&more);
                }
                (Piece::Text(text), _) => {
                    on_text(&text);
                    self.pieces.push(Piece::Text(text));
                }
                (call, _) => self.pieces.push(call),
            }
        }
    }
}

/// Converts pieces to content blocks, and collects the parse errors of the calls.
fn into_blocks(pieces: Vec<Piece>) -> (Vec<Block>, Vec<Option<String>>) {
    let (mut blocks, mut problems) = (Vec::new(), Vec::new());
    for piece in pieces {
        // The owner of the conversation makes these ids unique across messages.
        let id = || format!("call-{}", problems.len() + 1);
        match piece {
            Piece::Text(text) if text.trim().is_empty() => {}
            Piece::Text(text) => blocks.push(Block::text(text)),
            Piece::Call { name, input } => {
                blocks.push(ToolUseContent::new(id(), name, input).into());
                problems.push(None);
            }
            Piece::Malformed {
                name,
                source,
                message,
            } => {
                let meta: MetaObject = [(RAW_CALL, source)].into_iter().collect();
                let name = name.unwrap_or_else(|| "unknown".to_owned());
                let call = ToolUseContent::new(id(), name, JsonObject::new()).with_meta(meta);
                blocks.push(call.into());
                problems.push(Some(message));
            }
        }
    }
    (blocks, problems)
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

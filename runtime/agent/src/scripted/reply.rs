//! Reply of a scripted model.

use std::fmt;
use std::future::pending;

use serde_json::Value;
use treenail_schema::{
    CreateMessageRequestParams, CreateMessageResult, JsonObject, OneOrMany, Role,
    SamplingMessageContentBlock as Block, ToolUseContent,
};

use crate::{ModelError, ModelReply, TextSink, Usage};

/// Reply of a [`ScriptedModel`](crate::ScriptedModel).
#[derive(Debug)]
pub struct ScriptedReply {
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
    chunk: Option<usize>,
    behaviour: Behaviour,
}

type Responder = dyn FnOnce(&CreateMessageRequestParams) -> Result<ModelReply, ModelError> + Send;

/// Behaviour after streaming the content.
enum Behaviour {
    Reply,
    Fail(ModelError),
    Hang,
    Respond(Box<Responder>),
}

impl ScriptedReply {
    /// Creates a reply with text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::with_content(vec![Block::text(text)], None)
    }

    /// Creates a reply that calls a tool. The arguments are an object; the ids of calls are `call-1`, `call-2` and so
    /// on.
    pub fn call(tool: impl Into<String>, input: impl Into<Value>) -> Self {
        Self::with_content(Vec::new(), None).and_call(tool, input)
    }

    /// Adds a tool call.
    #[must_use]
    pub fn and_call(self, tool: impl Into<String>, input: impl Into<Value>) -> Self {
        let input = match input.into() {
            Value::Object(input) => input,
            _ => JsonObject::new(),
        };
        self.and_tool_use(ToolUseContent::new("", tool, input))
    }

    /// Adds a tool call with its id and `_meta`. An empty id is replaced.
    #[must_use]
    pub fn and_tool_use(mut self, tool_use: ToolUseContent) -> Self {
        self.content.push(tool_use.into());
        self.stop_reason = Some("toolUse".to_owned());
        self
    }

    /// Adds text.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.content.push(Block::text(text));
        self
    }

    /// Creates a reply that fails, after streaming its text if [`chunks`](Self::chunks) is set.
    pub fn error(error: ModelError) -> Self {
        Self::with_behaviour(Behaviour::Fail(error))
    }

    /// Creates a reply that never completes.
    pub fn never() -> Self {
        Self::with_behaviour(Behaviour::Hang)
    }

    /// Creates a reply from a function of the request.
    pub fn from_fn<R: Into<ModelReply>>(
        respond: impl FnOnce(&CreateMessageRequestParams) -> Result<R, ModelError> + Send + 'static,
    ) -> Self {
        let respond = |request: &_| respond(request).map(Into::into);
        Self::with_behaviour(Behaviour::Respond(Box::new(respond)))
    }

    /// Streams the text in chunks of this many characters.
    #[must_use]
    pub fn chunks(mut self, characters: usize) -> Self {
        self.chunk = Some(characters.max(1));
        self
    }

    /// Sets the stop reason, such as `maxTokens`. Default: `toolUse` if there are calls, otherwise `endTurn`.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// Sets the token usage.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    pub(super) fn with_content(content: Vec<Block>, stop_reason: Option<String>) -> Self {
        Self {
            content,
            stop_reason,
            usage: None,
            chunk: None,
            behaviour: Behaviour::Reply,
        }
    }

    fn with_behaviour(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            ..Self::with_content(Vec::new(), None)
        }
    }

    pub(super) async fn play(
        mut self,
        request: &CreateMessageRequestParams,
        on_text: TextSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        assign_ids(&mut self.content, request);
        if let Some(chunk) = self.chunk {
            for text in self.content.iter().filter_map(Block::as_text) {
                let characters: Vec<char> = text.chars().collect();
                for piece in characters.chunks(chunk) {
                    on_text(&piece.iter().collect::<String>());
                    // Yields between chunks, as a network would.
                    tokio::task::yield_now().await;
                }
            }
        }
        match self.behaviour {
            Behaviour::Reply => {}
            Behaviour::Fail(error) => return Err(error),
            Behaviour::Hang => return pending().await,
            Behaviour::Respond(respond) => return respond(request),
        }
        let content = OneOrMany::Many(self.content);
        let mut message = CreateMessageResult::new(Role::Assistant, content, "scripted");
        message.stop_reason = self.stop_reason.or_else(|| Some("endTurn".to_owned()));
        let mut reply = ModelReply::new(message);
        reply.usage = self.usage;
        Ok(reply)
    }
}

impl From<&str> for ScriptedReply {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for ScriptedReply {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<ModelError> for ScriptedReply {
    fn from(error: ModelError) -> Self {
        Self::error(error)
    }
}

/// Numbers the calls without id, continuing the numbering of the conversation.
fn assign_ids(content: &mut [Block], request: &CreateMessageRequestParams) {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    let mut last = blocks.filter(|it| matches!(it, Block::ToolUse(_))).count();
    for block in content {
        if let Block::ToolUse(tool_use) = block {
            last += 1;
            if tool_use.id.is_empty() {
                tool_use.id = format!("call-{last}");
            }
        }
    }
}

impl fmt::Debug for Behaviour {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reply => formatter.write_str("Says"),
            Self::Fail(error) => formatter.debug_tuple("Fails").field(error).finish(),
            Self::Hang => formatter.write_str("Hangs"),
            Self::Respond(_) => formatter.write_str("Answers"),
        }
    }
}

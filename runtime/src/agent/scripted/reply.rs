//! One reply of a scripted model.

use std::fmt;
use std::future::pending;

use serde_json::Value;
use treenail_schema::{
    CreateMessageRequestParams, CreateMessageResult, JsonObject, OneOrMany, Role,
    SamplingMessageContentBlock as Block, ToolUseContent,
};

use crate::agent::{ModelError, ModelReply, TextSink, Usage};

/// One reply of a [`ScriptedModel`](crate::agent::ScriptedModel).
#[derive(Debug)]
pub struct ScriptedReply {
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
    chunk: Option<usize>,
    behaviour: Behaviour,
}

type Responder = dyn FnOnce(&CreateMessageRequestParams) -> Result<ModelReply, ModelError> + Send;

/// What is done beside saying something.
enum Behaviour {
    Reply,
    Fail(ModelError),
    Hang,
    Respond(Box<Responder>),
}

impl ScriptedReply {
    /// It says something.
    pub fn text(text: impl Into<String>) -> Self {
        Self::with_content(vec![Block::text(text)], None)
    }

    /// It calls a tool. The arguments are an object; the ids of calls are `call-1`, `call-2` and so on.
    pub fn call(tool: impl Into<String>, input: impl Into<Value>) -> Self {
        Self::with_content(Vec::new(), None).and_call(tool, input)
    }

    /// It calls a tool too.
    #[must_use]
    pub fn and_call(self, tool: impl Into<String>, input: impl Into<Value>) -> Self {
        let input = match input.into() {
            Value::Object(input) => input,
            _ => JsonObject::new(),
        };
        self.and_tool_use(ToolUseContent::new("", tool, input))
    }

    /// It calls a tool too, with an id and a `_meta` that are given. An empty id is replaced.
    #[must_use]
    pub fn and_tool_use(mut self, tool_use: ToolUseContent) -> Self {
        self.content.push(tool_use.into());
        self.stop_reason = Some("toolUse".to_owned());
        self
    }

    /// It says something too.
    #[must_use]
    pub fn and_text(mut self, text: impl Into<String>) -> Self {
        self.content.push(Block::text(text));
        self
    }

    /// It fails, after it has said what there is to be said, if that comes in chunks.
    pub fn error(error: ModelError) -> Self {
        Self::with_behaviour(Behaviour::Fail(error))
    }

    /// It never answers.
    pub fn never() -> Self {
        Self::with_behaviour(Behaviour::Hang)
    }

    /// It answers with what a function makes of the request.
    pub fn with<R: Into<ModelReply>>(
        respond: impl FnOnce(&CreateMessageRequestParams) -> Result<R, ModelError> + Send + 'static,
    ) -> Self {
        let respond = |request: &_| respond(request).map(Into::into);
        Self::with_behaviour(Behaviour::Respond(Box::new(respond)))
    }

    /// Says its text bit by bit, so many characters at a time.
    #[must_use]
    pub fn chunks(mut self, characters: usize) -> Self {
        self.chunk = Some(characters.max(1));
        self
    }

    /// Sets why it stops, as in `maxTokens`. Default: `toolUse` if it calls tools, otherwise `endTurn`.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = Some(reason.into());
        self
    }

    /// Sets what it takes.
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
                    // As over a network, others have their turn.
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

/// Gives calls that have no id the next number of the conversation.
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

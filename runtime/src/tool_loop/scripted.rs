//! A model that says what it was told to say, for tests.

use std::collections::VecDeque;
use std::fmt;
use std::future::pending;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use treenail_schema::{
    CreateMessageRequestParams, CreateMessageResult, JsonObject, OneOrMany, Role, SamplingMessage,
    SamplingMessageContentBlock as Block, ToolUseContent,
};

use crate::tool_loop::{Model, ModelError, ModelFeatures, ModelFuture, ModelReply, OnText, Usage};

/// A model that says what it was told to say, and remembers what it was asked. For tests: of programs that run a tool loop,
/// and of servers whose tools a model uses.
///
/// ```
/// use serde_json::json;
/// use treenail_runtime::tool_loop::{ScriptedModel, ScriptedReply, ToolLoop};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let model = ScriptedModel::new([
///     ScriptedReply::call("forecast", json!({"city": "Oslo"})),
///     ScriptedReply::text("There is no such tool."),
/// ]);
/// let report = ToolLoop::new(model.clone()).run("Do I need an umbrella?").await?;
/// assert_eq!(report.text(), "There is no such tool.");
/// assert_eq!(model.requests()[1].messages.len(), 3);
///
/// // The same conversation again: this fails if anything of it has become different.
/// let model = ScriptedModel::replay(&report.transcript);
/// let again = ToolLoop::new(model).run("Do I need an umbrella?").await?;
/// assert_eq!(again.transcript, report.transcript);
/// # Ok(())
/// # }
/// ```
///
/// The clones share everything. When it is asked more often than it has replies, it fails ([`ModelError::Refused`]).
#[derive(Clone)]
pub struct ScriptedModel {
    script: Arc<Mutex<Script>>,
    features: ModelFeatures,
}

#[derive(Default)]
struct Script {
    replies: VecDeque<Step>,
    requests: Vec<CreateMessageRequestParams>,
}

/// A reply, and the conversation that it has to be the reply to.
struct Step {
    after: Option<Vec<SamplingMessage>>,
    reply: ScriptedReply,
}

/// One reply of a [`ScriptedModel`].
#[derive(Debug)]
pub struct ScriptedReply {
    content: Vec<Block>,
    stop_reason: Option<String>,
    usage: Option<Usage>,
    chunk: Option<usize>,
    behaviour: Behaviour,
}

type Answer = dyn FnOnce(&CreateMessageRequestParams) -> Result<ModelReply, ModelError> + Send;

/// What is done beside saying something.
enum Behaviour {
    Says,
    Fails(ModelError),
    Hangs,
    Answers(Box<Answer>),
}

impl ScriptedReply {
    /// It says something.
    pub fn text(text: impl Into<String>) -> Self {
        Self::saying(vec![Block::text(text)], None)
    }

    /// It calls a tool. The arguments are an object; the ids of calls are `call-1`, `call-2` and so on.
    pub fn call(tool: impl Into<String>, input: impl Into<Value>) -> Self {
        Self::saying(Vec::new(), None).and_call(tool, input)
    }

    /// It calls a tool too.
    #[must_use]
    pub fn and_call(self, tool: impl Into<String>, input: impl Into<Value>) -> Self {
        let input = match input.into() {
            Value::Object(input) => input,
            _ => JsonObject::new(),
        };
        self.and_use(ToolUseContent::new("", tool, input))
    }

    /// It calls a tool too, with an id and a `_meta` that are given. An empty id is replaced.
    #[must_use]
    pub fn and_use(mut self, tool_use: ToolUseContent) -> Self {
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
        Self::doing(Behaviour::Fails(error))
    }

    /// It never answers.
    pub fn never() -> Self {
        Self::doing(Behaviour::Hangs)
    }

    /// It answers with what a function makes of the request.
    pub fn with<R: Into<ModelReply>>(
        answer: impl FnOnce(&CreateMessageRequestParams) -> Result<R, ModelError> + Send + 'static,
    ) -> Self {
        let answer = |request: &_| answer(request).map(Into::into);
        Self::doing(Behaviour::Answers(Box::new(answer)))
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

    fn saying(content: Vec<Block>, stop_reason: Option<String>) -> Self {
        Self {
            content,
            stop_reason,
            usage: None,
            chunk: None,
            behaviour: Behaviour::Says,
        }
    }

    fn doing(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            ..Self::saying(Vec::new(), None)
        }
    }

    async fn play(
        self,
        request: &CreateMessageRequestParams,
        on_text: OnText<'_>,
    ) -> Result<ModelReply, ModelError> {
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
            Behaviour::Says => {}
            Behaviour::Fails(error) => return Err(error),
            Behaviour::Hangs => return pending().await,
            Behaviour::Answers(answer) => return answer(request),
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

impl ScriptedModel {
    /// One with these replies, in this order.
    pub fn new<R: Into<ScriptedReply>>(replies: impl IntoIterator<Item = R>) -> Self {
        let steps = replies.into_iter().map(|reply| Step {
            after: None,
            reply: reply.into(),
        });
        Self::playing(steps.collect())
    }

    /// One that says again what a model has said in a conversation, as long as the conversation is the same up to there. If
    /// it is not, it fails ([`ModelError::Refused`]) and tells the first difference.
    pub fn replay(transcript: &[SamplingMessage]) -> Self {
        let messages = transcript.iter().enumerate();
        let said = messages.filter(|(_, message)| message.role == Role::Assistant);
        let steps = said.map(|(index, message)| {
            let content = message.content.clone().into_vec();
            let calls = content.iter().any(|it| matches!(it, Block::ToolUse(_)));
            let stop_reason = calls.then(|| "toolUse".to_owned());
            Step {
                after: Some(transcript[..index].to_vec()),
                reply: ScriptedReply::saying(content, stop_reason),
            }
        });
        Self::playing(steps.collect())
    }

    /// Sets what it can take and do. Default: tools, and nothing but text.
    #[must_use]
    pub fn with_features(mut self, features: ModelFeatures) -> Self {
        self.features = features;
        self
    }

    /// All that it was asked, in order.
    pub fn requests(&self) -> Vec<CreateMessageRequestParams> {
        self.script().requests.clone()
    }

    /// How many replies there are left.
    pub fn left(&self) -> usize {
        self.script().replies.len()
    }

    fn playing(replies: VecDeque<Step>) -> Self {
        let requests = Vec::new();
        Self {
            script: Arc::new(Mutex::new(Script { replies, requests })),
            features: ModelFeatures::default(),
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next reply, if the conversation is the one that it belongs to.
    fn step(&self, request: &CreateMessageRequestParams) -> Result<ScriptedReply, ModelError> {
        let mut script = self.script();
        script.requests.push(request.clone());
        let Some(Step { after, reply }) = script.replies.pop_front() else {
            let count = script.requests.len() - 1;
            return Err(ModelError::refused(format!(
                "the script has {count} replies, and it was asked once more"
            )));
        };
        match after.and_then(|after| difference(&after, &request.messages)) {
            Some(difference) => Err(ModelError::refused(difference)),
            None => Ok(reply),
        }
    }
}

/// The first difference between the conversation of a script and another one.
fn difference(expected: &[SamplingMessage], got: &[SamplingMessage]) -> Option<String> {
    let pairs = expected.iter().zip(got).enumerate();
    let differs = pairs.clone().find(|(_, (expected, got))| expected != got);
    if let Some((index, (expected, got))) = differs {
        let (expected, got) = (shown(expected), shown(got));
        return Some(format!(
            "the conversation is not the one of the script: message {index} is {got} and not {expected}"
        ));
    }
    (expected.len() != got.len()).then(|| {
        let (expected, got) = (expected.len(), got.len());
        format!("the conversation is not the one of the script: it has {got} messages and not {expected}")
    })
}

fn shown(message: &SamplingMessage) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

impl Model for ScriptedModel {
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        on_text: OnText<'a>,
    ) -> ModelFuture<'a> {
        Box::pin(async move {
            let mut reply = self.step(request)?;
            number(&mut reply.content, request);
            reply.play(request, on_text).await
        })
    }

    fn features(&self) -> ModelFeatures {
        self.features
    }
}

/// Gives calls that have no id the next number of the conversation.
fn number(content: &mut [Block], request: &CreateMessageRequestParams) {
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
            Self::Says => formatter.write_str("Says"),
            Self::Fails(error) => formatter.debug_tuple("Fails").field(error).finish(),
            Self::Hangs => formatter.write_str("Hangs"),
            Self::Answers(_) => formatter.write_str("Answers"),
        }
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScriptedModel")
            .field("features", &self.features)
            .field("left", &self.left())
            .finish_non_exhaustive()
    }
}

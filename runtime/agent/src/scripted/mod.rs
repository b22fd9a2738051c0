//! Scripted model for tests.

mod reply;

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use treenail_schema::{
    CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock as Block,
};

pub use self::reply::ScriptedReply;
use crate::{Model, ModelCapabilities, ModelError, ModelFuture, TextSink};

/// Model that returns scripted replies and records its requests. For tests of programs that run a tool loop, and of
/// servers whose tools a model uses.
///
/// ```
/// use serde_json::json;
/// use treenail::agent::{ScriptedModel, ScriptedReply, ToolLoop};
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
/// Clones share their state. A request after the last reply fails ([`ModelError::Refused`]).
#[derive(Clone)]
pub struct ScriptedModel {
    script: Arc<Mutex<Script>>,
    capabilities: ModelCapabilities,
}

#[derive(Default)]
struct Script {
    replies: VecDeque<ScriptedStep>,
    requests: Vec<CreateMessageRequestParams>,
}

/// A reply, and the transcript that it ends, if the conversation before it is fixed.
struct ScriptedStep {
    transcript: Option<Vec<SamplingMessage>>,
    reply: ScriptedReply,
}

impl ScriptedStep {
    /// Returns true if the conversation contains the reply already, at its place.
    fn is_in(&self, messages: &[SamplingMessage]) -> bool {
        let transcript = self.transcript.as_deref().unwrap_or_default();
        let reply = transcript.last();
        reply.is_some() && reply == messages.get(transcript.len() - 1)
    }

    /// Describes the first difference between the conversation that the reply has to follow and the actual one.
    fn difference(&self, messages: &[SamplingMessage]) -> Option<String> {
        let (_, history) = self.transcript.as_deref()?.split_last()?;
        difference(history, messages)
    }
}

impl ScriptedModel {
    /// Creates a model with these replies, in this order.
    pub fn new<R: Into<ScriptedReply>>(replies: impl IntoIterator<Item = R>) -> Self {
        let steps = replies.into_iter().map(|reply| ScriptedStep {
            transcript: None,
            reply: reply.into(),
        });
        Self::from_steps(steps.collect())
    }

    /// Creates a model that repeats the assistant messages of a transcript, as long as the conversation matches it.
    /// Otherwise it fails ([`ModelError::Refused`]) with the first difference. Assistant messages with which the conversation
    /// begins are no replies.
    pub fn replay(transcript: &[SamplingMessage]) -> Self {
        let messages = transcript.iter().enumerate();
        let replies_given = messages.filter(|(_, message)| message.role == Role::Assistant);
        let steps = replies_given.map(|(index, message)| {
            let content = message.content.clone().into_vec();
            let calls = content.iter().any(|it| matches!(it, Block::ToolUse(_)));
            let stop_reason = calls.then(|| "toolUse".to_owned());
            ScriptedStep {
                transcript: Some(transcript[..=index].to_vec()),
                reply: ScriptedReply::with_content(content, stop_reason),
            }
        });
        Self::from_steps(steps.collect())
    }

    /// Sets the capabilities; [`capabilities`](Model::capabilities) returns them. Default: tools, without images and audio.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: ModelCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Returns all requests so far, in order.
    pub fn requests(&self) -> Vec<CreateMessageRequestParams> {
        self.script().requests.clone()
    }

    /// Returns the number of remaining replies.
    pub fn remaining(&self) -> usize {
        self.script().replies.len()
    }

    fn from_steps(replies: VecDeque<ScriptedStep>) -> Self {
        let requests = Vec::new();
        Self {
            script: Arc::new(Mutex::new(Script { replies, requests })),
            capabilities: ModelCapabilities::default(),
        }
    }

    fn script(&self) -> MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the request and returns the next reply, if the conversation matches.
    fn next_reply(
        &self,
        request: &CreateMessageRequestParams,
    ) -> Result<ScriptedReply, ModelError> {
        let mut script = self.script();
        script.requests.push(request.clone());
        let messages = &request.messages;
        while script.replies.front().is_some_and(|it| it.is_in(messages)) {
            script.replies.pop_front();
        }
        let Some(step) = script.replies.pop_front() else {
            let count = script.requests.len() - 1;
            return Err(ModelError::refused(format!(
                "no scripted reply is left after {count}"
            )));
        };
        match step.difference(messages) {
            Some(difference) => Err(ModelError::refused(difference)),
            None => Ok(step.reply),
        }
    }
}

/// Describes the first difference between a scripted conversation and the actual one.
fn difference(expected: &[SamplingMessage], got: &[SamplingMessage]) -> Option<String> {
    let pairs = expected.iter().zip(got).enumerate();
    let differs = pairs.clone().find(|(_, (expected, got))| expected != got);
    if let Some((index, (expected, got))) = differs {
        let (expected, got) = (to_json(expected), to_json(got));
        return Some(format!(
            "the conversation differs from the script: message {index} is {got}, expected {expected}"
        ));
    }
    (expected.len() != got.len()).then(|| {
        let (expected, got) = (expected.len(), got.len());
        format!(
            "the conversation differs from the script: it has {got} messages, expected {expected}"
        )
    })
}

fn to_json(message: &SamplingMessage) -> String {
    serde_json::to_string(message).unwrap_or_default()
}

impl Model for ScriptedModel {
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        on_text: TextSink<'a>,
    ) -> ModelFuture<'a> {
        Box::pin(async move {
            let reply = self.next_reply(request)?;
            reply.play(request, on_text).await
        })
    }

    fn capabilities(&self) -> ModelCapabilities {
        self.capabilities
    }
}

impl fmt::Debug for ScriptedModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ScriptedModel")
            .field("features", &self.capabilities)
            .field("left", &self.remaining())
            .finish_non_exhaustive()
    }
}

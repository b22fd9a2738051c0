//! A language model, as the tool loop sees it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use treenail_schema::{CreateMessageRequestParams, CreateMessageResult};

/// A future of a [`Model`].
pub type ModelFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ModelReply, ModelError>> + Send + 'a>>;

/// A language model, in the vocabulary of the protocol's sampling: from a conversation, its next message.
///
/// ```
/// use treenail_runtime::schema::{
///     CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessageContentBlock, TextContent,
/// };
/// use treenail_runtime::agent::{Model, ModelFuture, ModelReply, TextSink};
///
/// /// Says how many messages it has been sent.
/// struct Counter;
///
/// impl Model for Counter {
///     fn create_message<'a>(
///         &'a self,
///         request: &'a CreateMessageRequestParams,
///         on_text: TextSink<'a>,
///     ) -> ModelFuture<'a> {
///         Box::pin(async move {
///             let text = format!("{} messages", request.messages.len());
///             on_text(&text);
///             let text = SamplingMessageContentBlock::Text(TextContent::new(text));
///             Ok(CreateMessageResult::new(Role::Assistant, text, "counter").into())
///         })
///     }
/// }
/// ```
///
/// # Cancellation
///
/// A future is dropped when its message is not wanted any more; it should then stop the request that it has made.
pub trait Model: Send + Sync {
    /// The next message of the conversation, of the assistant.
    ///
    /// A model that writes its message bit by bit passes each piece of text to `on_text` as it comes; the message has
    /// the whole text all the same, and a model that cannot do so leaves it alone.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]. A model that can try again does so before it fails.
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        on_text: TextSink<'a>,
    ) -> ModelFuture<'a>;

    /// What the model can take and do; by default tools, and nothing but text.
    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities::default()
    }

    /// Where the results of calls are kept, for a model with which a run begins anew after each message; others have none.
    fn journal(&self) -> Option<&dyn Journal> {
        None
    }
}

/// Where the results of calls are kept, so that a run that begins anew does not make them again. See [`Model::journal`].
///
/// The keys are those of the calls of the message that the model gave last.
pub trait Journal: Send + Sync {
    /// What is kept under a key.
    fn recall(&self, key: &str) -> Option<Value>;

    /// Keeps a value.
    fn record(&self, key: &str, value: Value);
}

/// Where a [`Model`] puts the text of its message as it comes.
pub type TextSink<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// What a [`Model`] can take and do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelCapabilities {
    /// It takes `tools` and calls them with content of the type `tool_use`. One that does not is told of tools in words,
    /// and its calls are found in its text.
    pub tools: bool,
    /// It takes images.
    pub images: bool,
    /// It takes audio.
    pub audio: bool,
}

impl Default for ModelCapabilities {
    fn default() -> Self {
        Self {
            tools: true,
            images: false,
            audio: false,
        }
    }
}

impl ModelCapabilities {
    /// Whether it takes `tools`; `true` by default.
    #[must_use]
    pub fn tools(mut self, tools: bool) -> Self {
        self.tools = tools;
        self
    }

    /// Whether it takes images; `false` by default.
    #[must_use]
    pub fn images(mut self, images: bool) -> Self {
        self.images = images;
        self
    }

    /// Whether it takes audio; `false` by default.
    #[must_use]
    pub fn audio(mut self, audio: bool) -> Self {
        self.audio = audio;
        self
    }
}

/// What a [`Model`] answers with.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelReply {
    /// Its message.
    pub message: CreateMessageResult,
    /// What it took, if the model says so.
    pub usage: Option<Usage>,
}

impl ModelReply {
    /// One with a message.
    pub fn new(message: CreateMessageResult) -> Self {
        Self {
            message,
            usage: None,
        }
    }

    /// The same with what it took.
    #[must_use]
    pub fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
}

impl From<CreateMessageResult> for ModelReply {
    fn from(message: CreateMessageResult) -> Self {
        Self::new(message)
    }
}

/// What messages of a model took, in its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Usage {
    /// What was read.
    pub input_tokens: u64,
    /// What was written.
    pub output_tokens: u64,
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

/// Why a [`Model`] has no message, cut by what its user can do.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The model cannot be reached, or answers too many others; to try later may help. It has been tried again as often as
    /// the model's options say.
    #[error("the model is not available{}: {reason}", retry_hint(*.retry_after))]
    Unavailable {
        /// What happened.
        reason: Arc<str>,
        /// When it may be available, if it said so.
        retry_after: Option<Duration>,
    },
    /// The model does not take the request: a wrong key, a model that is not there, a conversation that is too long.
    #[error("the model refused: {0}")]
    Refused(Arc<str>),
    /// What the model answered cannot be understood.
    #[error("the model's answer is broken: {0}")]
    InvalidResponse(Arc<str>),
    /// The model cannot be used as it was described: there is no key, or an address that is none. Nothing was sent.
    #[error("the model is not set up: {0}")]
    Misconfigured(Arc<str>),
}

impl ModelError {
    /// The model cannot be reached.
    pub fn unavailable(reason: impl fmt::Display) -> Self {
        Self::Unavailable {
            reason: reason.to_string().into(),
            retry_after: None,
        }
    }

    /// The model does not take the request.
    pub fn refused(reason: impl fmt::Display) -> Self {
        Self::Refused(reason.to_string().into())
    }

    /// The answer cannot be understood.
    pub fn invalid_response(reason: impl fmt::Display) -> Self {
        Self::InvalidResponse(reason.to_string().into())
    }

    /// The model cannot be used as it was described.
    pub fn misconfigured(reason: impl fmt::Display) -> Self {
        Self::Misconfigured(reason.to_string().into())
    }
}

fn retry_hint(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |after| format!(" for {} s", after.as_secs()))
}

impl<M: Model + ?Sized> Model for Arc<M> {
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        on_text: TextSink<'a>,
    ) -> ModelFuture<'a> {
        (**self).create_message(request, on_text)
    }

    fn capabilities(&self) -> ModelCapabilities {
        (**self).capabilities()
    }

    fn journal(&self) -> Option<&dyn Journal> {
        (**self).journal()
    }
}

impl<M: Model + ?Sized> Model for &M {
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        on_text: TextSink<'a>,
    ) -> ModelFuture<'a> {
        (**self).create_message(request, on_text)
    }

    fn capabilities(&self) -> ModelCapabilities {
        (**self).capabilities()
    }

    fn journal(&self) -> Option<&dyn Journal> {
        (**self).journal()
    }
}

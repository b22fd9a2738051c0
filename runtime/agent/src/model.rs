//! Trait of language models, with its request and error types.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use treenail_schema::{CreateMessageRequestParams, CreateMessageResult};

/// Future returned by [`Model::create_message`].
pub type ModelFuture<'a> =
    Pin<Box<dyn Future<Output = Result<ModelReply, ModelError>> + Send + 'a>>;

/// A language model, in terms of the protocol's sampling: maps a conversation to its next message.
///
/// ```
/// use treenail::schema::{
///     CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessageContentBlock, TextContent,
/// };
/// use treenail::agent::{Model, ModelFuture, ModelReply, TextSink};
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
/// The future is dropped when its message is no longer needed; it should then abort its request.
pub trait Model: Send + Sync {
    /// Returns the next message of the conversation, by the assistant.
    ///
    /// A model that streams passes each chunk of text to `on_text` as it arrives; the returned message contains the
    /// whole text anyway. A model that cannot stream ignores `on_text`.
    ///
    /// # Errors
    ///
    /// See [`ModelError`]. A model that retries does so before it fails.
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        on_text: TextSink<'a>,
    ) -> ModelFuture<'a>;

    /// Returns the capabilities of the model; by default tools, without images and audio.
    fn capabilities(&self) -> ModelCapabilities {
        ModelCapabilities::default()
    }

    /// Returns the journal of call results, for models with which a run restarts after each message. By default there
    /// is none. With a journal, the calls of a message start after all of its approvals are decided.
    fn journal(&self) -> Option<&dyn Journal> {
        None
    }
}

/// Storage for call results, so that a restarted run does not repeat calls. See [`Model::journal`].
///
/// Keys identify the calls of the model's last message, and the end of a run among them.
pub trait Journal: Send + Sync {
    /// Returns the value recorded under a key.
    fn recall(&self, key: &str) -> Option<Value>;

    /// Records a value.
    fn record(&self, key: &str, value: Value);
}

/// Callback that receives the text of a message while it is streamed by a [`Model`].
pub type TextSink<'a> = &'a (dyn Fn(&str) + Send + Sync);

/// Capabilities of a [`Model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelCapabilities {
    /// The model accepts `tools` and calls them with `tool_use` content. For other models, the tools are listed in the
    /// prompt, and calls are parsed from the text.
    pub tools: bool,
    /// The model accepts images.
    pub images: bool,
    /// The model accepts audio.
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
    /// Sets whether the model accepts `tools`. Default `true`.
    #[must_use]
    pub fn tools(mut self, tools: bool) -> Self {
        self.tools = tools;
        self
    }

    /// Sets whether the model accepts images. Default `false`.
    #[must_use]
    pub fn images(mut self, images: bool) -> Self {
        self.images = images;
        self
    }

    /// Sets whether the model accepts audio. Default `false`.
    #[must_use]
    pub fn audio(mut self, audio: bool) -> Self {
        self.audio = audio;
        self
    }
}

/// Reply of a [`Model`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModelReply {
    /// Message of the model.
    pub message: CreateMessageResult,
    /// Token usage, if the model reports it.
    pub usage: Option<Usage>,
}

impl ModelReply {
    /// Creates a reply without usage.
    pub fn new(message: CreateMessageResult) -> Self {
        Self {
            message,
            usage: None,
        }
    }

    /// Sets the token usage.
    #[must_use]
    pub fn usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }
}

impl From<CreateMessageResult> for ModelReply {
    fn from(message: CreateMessageResult) -> Self {
        Self::new(message)
    }
}

/// Token usage of model messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the input.
    pub input_tokens: u64,
    /// Tokens of the output.
    pub output_tokens: u64,
}

impl Usage {
    /// Creates a usage.
    pub fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}

/// Failure of a [`Model`], classified by the possible reaction.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The model is unreachable or overloaded; a later attempt may succeed. All retries that the model's options allow
    /// have been made.
    #[error("the model is unavailable{}: {reason}", retry_hint(*.retry_after))]
    #[non_exhaustive]
    Unavailable {
        /// Cause of the failure.
        reason: Arc<str>,
        /// Time until the model may be available again, if it reported one.
        retry_after: Option<Duration>,
    },
    /// The model rejected the request: an invalid key, an unknown model, a conversation that is too long.
    #[error("the model rejected the request: {0}")]
    Refused(Arc<str>),
    /// The response of the model is invalid.
    #[error("the model returned an invalid response: {0}")]
    InvalidResponse(Arc<str>),
    /// The configuration is invalid, such as a missing key or a malformed URL. No request was sent.
    #[error("the model is misconfigured: {0}")]
    Misconfigured(Arc<str>),
}

impl ModelError {
    /// Creates [`ModelError::Unavailable`] without a retry time.
    pub fn unavailable(reason: impl fmt::Display) -> Self {
        Self::Unavailable {
            reason: reason.to_string().into(),
            retry_after: None,
        }
    }

    /// Creates [`ModelError::Unavailable`] with the time until the model may be available again.
    pub fn unavailable_for(reason: impl fmt::Display, retry_after: Duration) -> Self {
        Self::Unavailable {
            reason: reason.to_string().into(),
            retry_after: Some(retry_after),
        }
    }

    /// Creates [`ModelError::Refused`].
    pub fn refused(reason: impl fmt::Display) -> Self {
        Self::Refused(reason.to_string().into())
    }

    /// Creates [`ModelError::InvalidResponse`].
    pub fn invalid_response(reason: impl fmt::Display) -> Self {
        Self::InvalidResponse(reason.to_string().into())
    }

    /// Creates [`ModelError::Misconfigured`].
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

//! Model behind an endpoint for `OpenAI` chat completions, which most providers and local servers offer.
//!
//! `builder`, `key` and `limits` are the configuration. `request` and `response` convert between the protocol and the
//! endpoint's format. `attempt` is one request and its response, `failure` classifies errors, and `retry` computes the
//! delay before a retry.

mod attempt;
mod builder;
mod failure;
mod headers;
mod key;
mod limits;
mod request;
mod response;
mod retry;

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, Uri};
use tokio::time::sleep;
use treenail_schema::{CreateMessageRequestParams, JsonObject};

pub use self::builder::OpenAiModelBuilder;
pub use self::key::ApiKey;
pub use self::limits::OpenAiLimits;
pub use self::request::MaxTokensField;
use self::request::Outgoing;
use self::response::Assembler;
use crate::{Model, ModelCapabilities, ModelError, ModelFuture, ModelReply, TextSink};
use treenail_http_client::Pool;

/// Language model behind an OpenAI-compatible endpoint: streamed chat completions, with tools.
///
/// ```no_run
/// use treenail::schema::{CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock};
/// use treenail::agent::{ApiKey, Model, ModelCapabilities, OpenAiModel};
///
/// # async fn example() -> Result<(), treenail::agent::ModelError> {
/// // The key is in `OPENAI_API_KEY`.
/// let model = OpenAiModel::from_env("gpt-5-mini")?.build()?;
///
/// // A server on this computer, which needs none.
/// let local = OpenAiModel::builder("qwen3").base_url("http://localhost:11434/v1").build()?;
///
/// // Another provider, with a key and a model that sees.
/// let other = OpenAiModel::builder("pixtral-large")
///     .base_url("https://api.mistral.ai/v1")
///     .key(ApiKey::from_env("MISTRAL_API_KEY")?)
///     .capabilities(ModelCapabilities::default().images(true))
///     .build()?;
///
/// let question = SamplingMessage::new(Role::User, SamplingMessageContentBlock::text("Why is the sky blue?"));
/// let request = CreateMessageRequestParams::new([question], 500);
/// let reply = local.create_message(&request, &|text| print!("{text}")).await?;
/// # Ok(())
/// # }
/// ```
///
/// - The key is sent only to the origin of the base URL: redirects are not followed, and plain `http` is restricted to
///   this computer unless allowed. The key never appears in logs, errors or `Debug`.
/// - Transient failures, such as rate limits, overloaded servers or lost connections, are retried after the delay that
///   the endpoint requests or with exponential backoff ([`OpenAiLimits`]). There is no retry once text has been
///   streamed, because the next attempt would produce a different text.
/// - TLS uses the root certificates of the system. `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are
///   honoured.
///
/// # Requests
///
/// Text, images (with [`ModelCapabilities::images`]), audio as WAV or MP3 (with [`ModelCapabilities::audio`]), tool
/// calls and results, tools, the tool choice, the system prompt, `maxTokens`, `temperature` and `stopSequences` are
/// sent. Images in tool results follow in a separate message, because endpoints do not accept them there. Unsupported
/// content is described in words. Tool names that an endpoint would reject, such as those with dots, are replaced in
/// the request and restored in the response. The endpoint of Mistral (`api.mistral.ai`) receives no `stream_options`, and a message of
/// the assistant between tool results and a message of the user, because it refuses the request otherwise. `metadata`, `includeContext` and `modelPreferences` are not sent.
///
/// # Responses
///
/// Text and tool calls are returned; see [`tool_use_from_raw`](crate::tool_use_from_raw) for arguments that are
/// not a JSON object. Finish reasons map to the protocol's: `stop` to `endTurn`, `length` to `maxTokens`, `tool_calls`
/// to `toolUse`, `content_filter` to `contentFilter`; others are unchanged. A refusal is text, with the reason
/// `refusal`. Endpoints that do not stream, or that omit ids and indices, are supported.
///
/// # Cancellation
///
/// Dropping the future closes the stream or the connection, which makes the endpoint stop generating.
#[derive(Clone)]
#[cfg(feature = "openai")]
pub struct OpenAiModel(Arc<Endpoint>);

/// State that all requests share.
struct Endpoint {
    url: Uri,
    headers: HeaderMap,
    /// Only for redaction in errors.
    key: Option<ApiKey>,
    pool: Pool,
    limits: OpenAiLimits,
    model: String,
    capabilities: ModelCapabilities,
    max_tokens_field: MaxTokensField,
    extra: JsonObject,
}

impl OpenAiModel {
    /// Creates a builder for a model of the public `OpenAI` endpoint, unless another base URL is set. The environment
    /// is not read.
    pub fn builder(model: impl Into<String>) -> OpenAiModelBuilder {
        OpenAiModelBuilder::new(model.into())
    }

    /// Creates a builder from the environment: the key in `OPENAI_API_KEY`, the optional base URL in `OPENAI_BASE_URL`,
    /// and `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID`.
    ///
    /// # Errors
    ///
    /// [`ModelError::Misconfigured`] if a variable is not Unicode, or if the key for the public endpoint is missing;
    /// other endpoints may not need one.
    pub fn from_env(model: impl Into<String>) -> Result<OpenAiModelBuilder, ModelError> {
        builder::from_env(model.into())
    }

    /// Returns the name of the model.
    pub fn name(&self) -> &str {
        &self.0.model
    }
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The query and the headers may contain secrets.
        formatter
            .debug_struct("OpenAiModel")
            .field("model", &self.0.model)
            .field("host", &self.0.url.host().unwrap_or_default())
            .finish_non_exhaustive()
    }
}

impl Model for OpenAiModel {
    fn create_message<'a>(
        &'a self,
        request: &'a CreateMessageRequestParams,
        on_text: TextSink<'a>,
    ) -> ModelFuture<'a> {
        Box::pin(async move { self.0.create_message(request, on_text).await })
    }

    fn capabilities(&self) -> ModelCapabilities {
        self.0.capabilities
    }
}

impl Endpoint {
    async fn create_message(
        &self,
        request: &CreateMessageRequestParams,
        on_text: TextSink<'_>,
    ) -> Result<ModelReply, ModelError> {
        let Outgoing { body, names } = Outgoing::new(self, request)?;
        // Distinguishes the generated call ids of this message from earlier ones.
        let turn = request.messages.len();
        let mut failures = 0;
        loop {
            let mut assembler = Assembler::new(&self.limits, on_text);
            let failure = match attempt::run(self, body.clone(), &mut assembler).await {
                Ok(()) => return assembler.finish(&self.model, turn, &names),
                Err(failure) => failure,
            };
            failures += 1;
            let delay = failure.retry_delay(failures, &self.limits);
            let Some(delay) = delay.filter(|_| !assembler.has_streamed_text()) else {
                return Err(failure.into_error());
            };
            tracing::debug!(failures, ?delay, %failure, "retrying the model request");
            sleep(delay).await;
        }
    }
}

//! A model behind an endpoint that speaks the chat completions of `OpenAI`, as most providers and local servers do.
//!
//! `builder`, `key` and `limits` are what its user says; `request` turns a request of the protocol into one of the endpoint,
//! and `answer` the other way round. `attempt` is one request from its beginning to its end, `failure` what can go wrong with
//! it, and `pause` says when there is another one.

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
use crate::agent::{Model, ModelCapabilities, ModelError, ModelFuture, ModelReply, TextSink};
use crate::client::fetch::engine::Engine;

/// A language model behind an OpenAI-compatible endpoint: chat completions, streamed, with tools.
///
/// ```no_run
/// use treenail_runtime::schema::{CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock};
/// use treenail_runtime::agent::{ApiKey, Model, ModelCapabilities, OpenAiModel};
///
/// # async fn example() -> Result<(), treenail_runtime::agent::ModelError> {
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
/// - The key goes to the origin of the base URL and nowhere else: redirects are not followed, and plain `http` is for this
///   computer unless it is allowed. It is in no log, no error and no `Debug`.
/// - What fails for a time, such as a rate limit, a server that is overloaded or a connection that is lost, is tried again,
///   after as long as the endpoint has said or after growing pauses ([`OpenAiLimits`]); but not once text was given out,
///   because what follows would be another text.
/// - TLS trusts whom the system trusts. `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` are heeded.
///
/// # What is sent
///
/// Texts, images (with [`ModelCapabilities::images`]), audio as WAV or MP3 (with [`ModelCapabilities::audio`]), calls of tools and
/// their results, tools, the tool choice, the system prompt, `maxTokens`, `temperature` and `stopSequences`. Images in results
/// of tools follow in a message of their own, since endpoints take none there. What the model does not take is named in words
/// instead. Names of tools that an endpoint would refuse, with dots for instance, are replaced on the way and put back in the
/// answer. `metadata`, `includeContext` and `modelPreferences` are not sent.
///
/// # What comes back
///
/// The text, and the calls of tools; arguments that are no JSON object are kept as
/// [`tool_use`](crate::agent::tool_use) says. The endpoint's reasons to stop become the protocol's: `stop` is `endTurn`,
/// `length` is `maxTokens`, `tool_calls` is `toolUse`, `content_filter` is `contentFilter`, and others stay what they are. A
/// refusal is text, with the reason `refusal`. Endpoints that do not stream, or leave out ids and indices, are understood.
///
/// # Cancellation
///
/// Dropping the future closes the stream, or the connection, and the endpoint stops writing.
#[derive(Clone)]
pub struct OpenAiModel(Arc<Endpoint>);

/// What all requests share.
struct Endpoint {
    url: Uri,
    headers: HeaderMap,
    /// For the errors, which must not have it.
    key: Option<ApiKey>,
    engine: Engine,
    limits: OpenAiLimits,
    model: String,
    capabilities: ModelCapabilities,
    max_tokens_field: MaxTokensField,
    extra: JsonObject,
}

impl OpenAiModel {
    /// Describes a model of the public endpoint of `OpenAI`, until another base URL is given. Nothing is taken from the
    /// environment.
    pub fn builder(model: impl Into<String>) -> OpenAiModelBuilder {
        OpenAiModelBuilder::new(model.into())
    }

    /// Describes a model with the key in `OPENAI_API_KEY`, the base URL in `OPENAI_BASE_URL`, if it is set, and what
    /// `OPENAI_ORG_ID` and `OPENAI_PROJECT_ID` say.
    ///
    /// # Errors
    ///
    /// [`ModelError::Misconfigured`] if one of them is not text, or there is no key for the public endpoint; other endpoints may
    /// need none.
    pub fn from_env(model: impl Into<String>) -> Result<OpenAiModelBuilder, ModelError> {
        builder::from_env(model.into())
    }

    /// The model's name.
    pub fn name(&self) -> &str {
        &self.0.model
    }
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // There may be secrets in a query and in headers.
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
        // It tells the calls of this message from those of earlier ones.
        let turn = request.messages.len();
        let mut failures = 0;
        loop {
            let mut assembler = Assembler::new(&self.limits, on_text);
            let failure = match attempt::run(self, body.clone(), &mut assembler).await {
                Ok(()) => return assembler.finish(&self.model, turn, &names),
                Err(failure) => failure,
            };
            failures += 1;
            let delay = failure.delay(failures, &self.limits);
            let Some(delay) = delay.filter(|_| !assembler.has_streamed_text()) else {
                return Err(failure.into_error());
            };
            tracing::debug!(failures, ?delay, %failure, "the model is asked again");
            sleep(delay).await;
        }
    }
}

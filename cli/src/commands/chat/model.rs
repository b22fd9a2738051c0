//! Model and endpoint.

use std::env;
use std::path::PathBuf;

use clap::Args;
use treenail::agent::{ApiKey, ModelCapabilities, ModelError, OpenAiModel, OpenAiModelBuilder};

use crate::exit::{Exit, Failure};
use crate::server::trust;

/// Environment variable with the key of the default endpoint.
const DEFAULT_KEY_VARIABLE: &str = "OPENAI_API_KEY";

/// Options for the model and its endpoint.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// Name of the model at the endpoint
    #[arg(short, long, value_name = "NAME")]
    model: String,

    /// Base URL of an OpenAI-compatible endpoint, without `/chat/completions` [default: `OPENAI_BASE_URL`, or `OpenAI`]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// Environment variable with the API key [default: `OPENAI_API_KEY`, but no key with --base-url]
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,

    /// Allow unencrypted HTTP to a remote endpoint, which exposes the key
    #[arg(long)]
    plain_http: bool,

    /// Maximum number of tokens per message of the model
    #[arg(long, value_name = "COUNT", default_value_t = 4096, value_parser = clap::value_parser!(i64).range(1..))]
    pub(super) max_tokens: i64,

    /// Send images from tool results to the model
    #[arg(long)]
    images: bool,

    /// Describe tools in the prompt and parse calls from text, for models without native tool calling
    #[arg(long)]
    text_tools: bool,
}

impl ModelArgs {
    /// Builds the model. Its endpoint may have a certificate of one of these authorities.
    pub(super) fn build(&self, authorities: &[PathBuf]) -> Result<OpenAiModel, Failure> {
        let capabilities = ModelCapabilities::default()
            .images(self.images)
            .tools(!self.text_tools);
        let mut builder = self
            .builder()
            .map_err(|error| model_failure(&error))?
            .capabilities(capabilities);
        if self.plain_http {
            builder = builder.allow_plain_http();
        }
        let url = self.base_url();
        let is_plain = url.is_some_and(|url| url.starts_with("http://"));
        if let Some(tls) = trust(authorities).filter(|_| !is_plain) {
            builder = builder.tls(tls);
        }
        builder.build().map_err(|error| model_failure(&error))
    }

    /// Returns a builder with endpoint and key. The key in the environment belongs to the endpoint in the environment or to
    /// the default one. It is sent to an endpoint from the command line only with `--key-env`.
    fn builder(&self) -> Result<OpenAiModelBuilder, ModelError> {
        let Some(variable) = &self.key_env else {
            return match &self.base_url {
                Some(url) => Ok(OpenAiModel::builder(&self.model).base_url(url)),
                None => OpenAiModel::from_env(&self.model),
            };
        };
        let builder = OpenAiModel::builder(&self.model).key(ApiKey::from_env(variable)?);
        Ok(match self.base_url() {
            Some(url) => builder.base_url(url),
            None => builder,
        })
    }

    /// Returns the endpoint on the command line or in the environment; `None` for the default one.
    fn base_url(&self) -> Option<String> {
        let from_env = || env::var("OPENAI_BASE_URL").ok();
        let url = self.base_url.clone().or_else(from_env);
        url.filter(|url| !url.trim().is_empty())
    }

    /// Returns the environment variables that hold keys, whether they are used or not. Servers do not inherit them.
    pub(super) fn key_variables(&self) -> impl Iterator<Item = &str> {
        [DEFAULT_KEY_VARIABLE]
            .into_iter()
            .chain(self.key_env.as_deref())
    }

    /// Returns advice for the case that the model rejects the request.
    pub(super) fn refusal_hint(&self) -> Option<&'static str> {
        let sends_key = self.key_env.is_some() || self.base_url.is_none();
        (!sends_key).then_some(
            "no key was sent; use --key-env to name the environment variable with the key",
        )
    }
}

/// Converts an error of the model to a failure.
pub(super) fn model_failure(error: &ModelError) -> Failure {
    let exit = match error {
        ModelError::Misconfigured(_) => Exit::Usage,
        ModelError::Unavailable { .. } => Exit::Connection,
        ModelError::Refused(_) => Exit::Refused,
        _ => Exit::Protocol,
    };
    Failure::new(exit, error.to_string())
}

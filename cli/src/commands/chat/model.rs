//! Which model it is.

use std::env;

use clap::Args;
use treenail::agent::{ApiKey, ModelCapabilities, ModelError, OpenAiModel, OpenAiModelBuilder};

use crate::exit::{Exit, Failure};

/// The variable that holds the key of the usual endpoint.
const USUAL_KEY: &str = "OPENAI_API_KEY";

/// The model, and the endpoint that it is behind.
#[derive(Debug, Args)]
#[command(next_help_heading = "Model")]
pub(super) struct ModelArgs {
    /// The model's name, as its endpoint has it
    #[arg(short, long, value_name = "NAME")]
    model: String,

    /// An OpenAI-compatible endpoint, up to `/chat/completions` [default: that of `OPENAI_BASE_URL`, or of `OpenAI`]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// The variable of the environment that has the endpoint's key [default: `OPENAI_API_KEY`, but no key for --base-url]
    #[arg(long, value_name = "VARIABLE")]
    key_env: Option<String>,

    /// Allow an endpoint on another computer without encryption; others can read the key then
    #[arg(long)]
    plain_http: bool,

    /// How many tokens each message of the model may have
    #[arg(long, value_name = "COUNT", default_value_t = 4096, value_parser = clap::value_parser!(i64).range(1..))]
    pub(super) max_tokens: i64,

    /// The model takes images, so that those of tools are shown to it
    #[arg(long)]
    images: bool,

    /// The model cannot call tools by itself: it is told of them in words, and its calls are found in its text
    #[arg(long)]
    text_tools: bool,
}

impl ModelArgs {
    pub(super) fn build(&self) -> Result<OpenAiModel, Failure> {
        let capabilities = ModelCapabilities::default()
            .images(self.images)
            .tools(!self.text_tools);
        let mut builder = self
            .at_endpoint()
            .map_err(|error| failure(&error))?
            .capabilities(capabilities);
        if self.plain_http {
            builder = builder.allow_plain_http();
        }
        builder.build().map_err(|error| failure(&error))
    }

    /// The key in the environment belongs to the endpoint in the environment, or to the usual one. It is not sent to one that
    /// somebody has named on the command line, unless that is said too.
    fn at_endpoint(&self) -> Result<OpenAiModelBuilder, ModelError> {
        let Some(variable) = &self.key_env else {
            return match &self.base_url {
                Some(url) => Ok(OpenAiModel::builder(&self.model).base_url(url)),
                None => OpenAiModel::from_env(&self.model),
            };
        };
        let builder = OpenAiModel::builder(&self.model).key(ApiKey::from_env(variable)?);
        let from_env = || env::var("OPENAI_BASE_URL").ok();
        let url = self.base_url.clone().or_else(from_env);
        Ok(match url.filter(|url| !url.trim().is_empty()) {
            Some(url) => builder.base_url(url),
            None => builder,
        })
    }

    /// Variables of the environment that hold keys of endpoints, whether they are used or not. Servers do not inherit them.
    pub(super) fn key_variables(&self) -> impl Iterator<Item = &str> {
        [USUAL_KEY].into_iter().chain(self.key_env.as_deref())
    }

    /// What the command line knows of why a model may refuse.
    pub(super) fn hint(&self) -> Option<&'static str> {
        let sends_key = self.key_env.is_some() || self.base_url.is_none();
        (!sends_key).then_some("no key was sent; --key-env names the variable that has one")
    }
}

/// What a failure of the model means for the program.
pub(super) fn failure(error: &ModelError) -> Failure {
    let exit = match error {
        ModelError::Misconfigured(_) => Exit::Usage,
        ModelError::Unavailable { .. } => Exit::Connection,
        ModelError::Refused(_) => Exit::Refused,
        _ => Exit::Protocol,
    };
    Failure::new(exit, error.to_string())
}

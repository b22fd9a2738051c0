//! Builder of a model behind an endpoint.

use std::fmt;
use std::sync::Arc;

use http::Uri;
use serde_json::Value;
use treenail_http_client::{HttpError, Pool, PoolOptions, TlsConfig, url};
use treenail_schema::JsonObject;

use super::headers::headers;
use super::key::{ApiKey, env_var};
use super::limits::OpenAiLimits;
use super::request::{MaxTokensField, RESERVED_FIELDS};
use super::{Endpoint, OpenAiModel};
use crate::{ModelCapabilities, ModelError};

/// Base URL of the public endpoint.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Builder of an [`OpenAiModel`], returned by [`OpenAiModel::builder`] and [`OpenAiModel::from_env`].
#[derive(Clone)]
#[must_use = "call `build` to create the model"]
#[cfg(feature = "openai")]
pub struct OpenAiModelBuilder {
    model: String,
    base_url: String,
    key: Option<ApiKey>,
    headers: Vec<(String, String)>,
    allows_plain_http: bool,
    capabilities: ModelCapabilities,
    max_tokens_field: Option<MaxTokensField>,
    extra: JsonObject,
    limits: OpenAiLimits,
    tls: Option<TlsConfig>,
}

impl fmt::Debug for OpenAiModelBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Header values may be secret, and so may parts of the URL.
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("OpenAiModelBuilder")
            .field("model", &self.model)
            .field("headers", &names)
            .field("features", &self.capabilities)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl OpenAiModelBuilder {
    pub(super) fn new(model: String) -> Self {
        Self {
            model,
            base_url: DEFAULT_BASE_URL.to_owned(),
            key: None,
            headers: Vec::new(),
            allows_plain_http: false,
            capabilities: ModelCapabilities::default(),
            max_tokens_field: None,
            extra: JsonObject::new(),
            limits: OpenAiLimits::default(),
            tls: None,
        }
    }

    /// Sets the base URL of the endpoint, without `/chat/completions`, such as `http://localhost:11434/v1`. A query is
    /// preserved. Default: that of `OpenAI`, `https://api.openai.com/v1`.
    ///
    /// A key that was set before is sent to this URL; replace it if it belongs to another endpoint.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = url.into();
        self
    }

    /// Sets the API key, which is sent as `Authorization: Bearer …`. Default: none.
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// Sets the organisation to which usage is billed.
    pub fn organization(self, id: impl Into<String>) -> Self {
        self.header("openai-organization", id)
    }

    /// Sets the project to which usage is billed.
    pub fn project(self, id: impl Into<String>) -> Self {
        self.header("openai-project", id)
    }

    /// Adds a header to each request, such as `api-key` for endpoints that require it. Repeated names are sent
    /// repeatedly. Values are hidden in logs and in `Debug`.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Allows plain `http` for a base URL that is not on this computer. Anyone on the network path can then read
    /// everything, including the key.
    pub fn allow_plain_http(mut self) -> Self {
        self.allows_plain_http = true;
        self
    }

    /// Sets the capabilities of the model. Default: tools, without images and audio. For a model without tools, the
    /// tool loop lists them in the prompt.
    pub fn capabilities(mut self, capabilities: ModelCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets the name of the field for the token limit of a message. Default: `max_completion_tokens` for `OpenAI` and
    /// Azure, which renamed it, and `max_tokens` for others, many of which do not know the new name.
    pub fn max_tokens_field(mut self, field: MaxTokensField) -> Self {
        self.max_tokens_field = Some(field);
        self
    }

    /// Adds a field to each request, such as `reasoning_effort` or `seed`. It replaces a standard field of the same
    /// name, such as `temperature` or `stream_options`; `null` omits that field. `model`, `messages` and `tools` cannot
    /// be replaced.
    pub fn extra(mut self, field: impl Into<String>, value: impl Into<Value>) -> Self {
        self.extra.insert(field.into(), value.into());
        self
    }

    /// Sets all limits.
    pub fn limits(mut self, limits: OpenAiLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the settings of TLS for a base URL with `https`: trusted authorities, and a certificate of the client.
    /// `rustls::ClientConfig` converts to them.
    pub fn tls(mut self, tls: impl Into<TlsConfig>) -> Self {
        self.tls = Some(tls.into());
        self
    }

    /// Builds the model. No request is sent before the first message. Requests need a Tokio runtime with IO and time.
    ///
    /// # Errors
    ///
    /// [`ModelError::Misconfigured`] if the base URL is neither `https` nor allowed `http`, if the key, a header or an extra field
    /// cannot be sent, if the environment names an unsupported proxy, if certificates cannot be read, or if they are given for `http`.
    pub fn build(self) -> Result<OpenAiModel, ModelError> {
        let url = url::parse(&self.base_url).map_err(misconfigured)?;
        let is_https = url.scheme_str() == Some("https");
        let is_local = url.host().is_some_and(url::is_loopback);
        if !is_https && !is_local && !self.allows_plain_http {
            return Err(ModelError::misconfigured(
                "the base URL uses plain `http`, which exposes the key; use `https` or `allow_plain_http`",
            ));
        }
        if let Some(field) = RESERVED_FIELDS
            .iter()
            .find(|field| self.extra.contains_key(**field))
        {
            let why = format!("the field `{field}` is derived from the conversation");
            return Err(ModelError::misconfigured(why));
        }
        let headers = headers(&self.headers, self.key.as_ref())?;
        let options = PoolOptions::default().tls(self.tls.as_ref());
        let pool = Pool::with_options(&url, &self.limits.http(), options).map_err(misconfigured)?;
        let default_field = || MaxTokensField::for_host(url.host().unwrap_or_default());
        Ok(OpenAiModel(Arc::new(Endpoint {
            max_tokens_field: self.max_tokens_field.unwrap_or_else(default_field),
            url: completions_url(&url)?,
            headers,
            key: self.key,
            pool,
            limits: self.limits,
            model: self.model,
            capabilities: self.capabilities,
            extra: self.extra,
        })))
    }
}

pub(super) fn from_env(model: String) -> Result<OpenAiModelBuilder, ModelError> {
    let mut builder = OpenAiModelBuilder::new(model);
    let base_url = env_var("OPENAI_BASE_URL")?;
    builder.key = match env_var("OPENAI_API_KEY")? {
        Some(key) => Some(ApiKey::new(key)),
        None if base_url.is_some() => None,
        None => {
            let why = "the environment variable `OPENAI_API_KEY` contains no key";
            return Err(ModelError::misconfigured(why));
        }
    };
    if let Some(url) = base_url {
        builder = builder.base_url(url);
    }
    if let Some(organization) = env_var("OPENAI_ORG_ID")? {
        builder = builder.organization(organization);
    }
    if let Some(project) = env_var("OPENAI_PROJECT_ID")? {
        builder = builder.project(project);
    }
    Ok(builder)
}

fn misconfigured(error: HttpError) -> ModelError {
    match error {
        HttpError::Invalid(why)
        | HttpError::Unreachable(why)
        | HttpError::Closed(why)
        | HttpError::Protocol(why) => ModelError::Misconfigured(why),
    }
}

/// URL of chat completions below a base URL.
fn completions_url(base: &Uri) -> Result<Uri, ModelError> {
    let path = base.path().trim_end_matches('/');
    let target = match base.query() {
        Some(query) => format!("{path}/chat/completions?{query}"),
        None => format!("{path}/chat/completions"),
    };
    let mut parts = base.clone().into_parts();
    parts.path_and_query = target.parse().ok();
    Uri::from_parts(parts).map_err(|_| ModelError::misconfigured("invalid URL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completions_are_below_the_base_url() {
        let cases = [
            (
                "http://localhost:1/v1",
                "http://localhost:1/v1/chat/completions",
            ),
            (
                "http://localhost/v1/",
                "http://localhost/v1/chat/completions",
            ),
            ("http://localhost", "http://localhost/chat/completions"),
            (
                "https://me.openai.azure.com/openai/deployments/x?api-version=1",
                "https://me.openai.azure.com/openai/deployments/x/chat/completions?api-version=1",
            ),
        ];
        for (base, expected) in cases {
            assert_eq!(completions_url(&base.parse().unwrap()).unwrap(), expected);
        }
    }

    type Change = fn(OpenAiModelBuilder) -> OpenAiModelBuilder;

    #[test]
    fn invalid_settings_are_rejected_without_disclosing_secrets() {
        let build = |change: Change| {
            let builder = change(OpenAiModel::builder("m").base_url("http://127.0.0.1:1"));
            builder
                .build()
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        let plain = "the base URL uses plain `http`, which exposes the key; use `https` or `allow_plain_http`";
        let cases: [(Change, Result<(), &str>); 11] = [
            (|it| it, Ok(())),
            (|it| it.key("sk-1"), Ok(())),
            (|it| it.base_url("http://localhost/v1"), Ok(())),
            (|it| it.base_url("http://[::1]:8080/v1"), Ok(())),
            (|it| it.base_url("http://10.0.0.1/v1"), Err(plain)),
            (
                |it| it.base_url("http://10.0.0.1/v1").allow_plain_http(),
                Ok(()),
            ),
            (
                |it| it.base_url("http://me:sk-1@localhost/"),
                Err("the URL contains a user name; set the header `Authorization` instead"),
            ),
            (
                |it| it.key("sk-\u{1}"),
                Err("the key contains characters that are invalid in a header"),
            ),
            (
                |it| it.header("x-key", "sk-\n"),
                Err("the header `x-key` has an invalid value"),
            ),
            (
                |it| it.key("sk-1").header("Authorization", "Basic x"),
                Err("the header `Authorization` is already set by the key"),
            ),
            (
                |it| it.extra("messages", serde_json::json!([])),
                Err("the field `messages` is derived from the conversation"),
            ),
        ];
        for (change, expected) in cases {
            let expected = expected.map_err(|why| format!("the model is misconfigured: {why}"));
            assert_eq!(build(change), expected);
        }
    }
}

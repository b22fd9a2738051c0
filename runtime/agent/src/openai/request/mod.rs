//! Conversion of a protocol request to the format of the endpoint.

mod content;
mod messages;
mod names;
mod tools;

use bytes::Bytes;
use http::Uri;
use serde::ser::{Serialize, SerializeMap, Serializer};
use treenail_schema::{CreateMessageRequestParams, JsonObject, ToolChoiceMode};

use self::messages::Message;

pub(super) use self::names::ToolNames;
use self::tools::Function;
use super::Endpoint;
use crate::ModelError;

/// Fields that are derived from the conversation and cannot be replaced.
pub(super) const RESERVED_FIELDS: [&str; 3] = ["model", "messages", "tools"];

/// Name of the field for the token limit of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[cfg(feature = "openai")]
pub enum MaxTokensField {
    /// `max_tokens`, the old name, which most endpoints know.
    MaxTokens,
    /// `max_completion_tokens`, the name since reasoning models, which some endpoints require.
    MaxCompletionTokens,
}

impl MaxTokensField {
    /// Returns the name that the endpoint at a host knows.
    pub(super) fn for_host(host: &str) -> Self {
        let host = host.to_ascii_lowercase();
        if host == "api.openai.com" || host.ends_with(".openai.azure.com") {
            Self::MaxCompletionTokens
        } else {
            Self::MaxTokens
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::MaxTokens => "max_tokens",
            Self::MaxCompletionTokens => "max_completion_tokens",
        }
    }
}

/// Encoded request, and the names needed to decode the response.
pub(super) struct Outgoing {
    pub(super) body: Bytes,
    pub(super) names: ToolNames,
}

impl Outgoing {
    /// # Errors
    ///
    /// [`ModelError::Refused`] if the conversation is invalid: the user calls tools, or the model returns tool results.
    pub(super) fn new(
        endpoint: &Endpoint,
        request: &CreateMessageRequestParams,
    ) -> Result<Self, ModelError> {
        let names = ToolNames::from_request(request);
        let mut messages = Message::all(request, endpoint.capabilities, &names)?;
        if is_mistral(&endpoint.url) {
            messages = Message::separate_results(messages);
        }
        let body = Body {
            endpoint,
            request,
            messages,
            tools: Function::all(request, &names),
        };
        let body = serde_json::to_vec(&body).map_err(ModelError::refused)?;
        let body = body.into();
        Ok(Self { body, names })
    }
}

/// Body of a request.
struct Body<'a> {
    endpoint: &'a Endpoint,
    request: &'a CreateMessageRequestParams,
    messages: Vec<Message<'a>>,
    tools: Vec<Function<'a>>,
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let extra = &self.endpoint.extra;
        let mut fields = Fields {
            map: serializer.serialize_map(None)?,
            extra,
        };
        let request = self.request;
        fields.field("model", Some(&self.endpoint.model))?;
        fields.field("messages", Some(&self.messages))?;
        let max_tokens = self.endpoint.max_tokens_field.name();
        fields.field(max_tokens, Some(request.max_tokens))?;
        fields.field("temperature", request.temperature.as_ref())?;
        let stop = request.stop_sequences.as_ref();
        fields.field("stop", stop.filter(|stop| !stop.is_empty()))?;
        if !self.tools.is_empty() {
            fields.field("tools", Some(&self.tools))?;
            let choice = request.tool_choice.as_ref().and_then(|choice| choice.mode);
            fields.field("tool_choice", choice.map(ToolChoiceMode::as_str))?;
        }
        fields.field("stream", Some(true))?;
        let is_streamed = extra.get("stream").is_none_or(|stream| *stream == true);
        let options = serde_json::json!({"include_usage": true});
        let takes_options = is_streamed && !is_mistral(&self.endpoint.url);
        fields.field("stream_options", takes_options.then_some(options))?;
        for (name, value) in extra.iter().filter(|(_, value)| !value.is_null()) {
            fields.map.serialize_entry(name, value)?;
        }
        fields.map.end()
    }
}

/// Returns true for the endpoint of Mistral. It refuses fields that it does not know, such as `stream_options`, and a message of the
/// user directly after results of tools.
fn is_mistral(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default();
    host.eq_ignore_ascii_case("api.mistral.ai")
}

/// Fields of a body, some of which the user may have replaced.
struct Fields<'a, M> {
    map: M,
    extra: &'a JsonObject,
}

impl<M: SerializeMap> Fields<'_, M> {
    fn field(&mut self, name: &str, value: Option<impl Serialize>) -> Result<(), M::Error> {
        match value {
            Some(value) if !self.extra.contains_key(name) => self.map.serialize_entry(name, &value),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use treenail_schema::{
        ContentBlock, Role, SamplingMessage, SamplingMessageContentBlock as Block,
        ToolResultContent, ToolUseContent,
    };

    use super::*;
    use crate::{ModelCapabilities, OpenAiModel};

    /// Body of a request after a call whose result contains an image.
    fn sent(base_url: &str) -> Value {
        let call = Block::ToolUse(ToolUseContent::new("c1", "look", JsonObject::new()));
        let image = ContentBlock::image("AQID", "image/png");
        let result = Block::ToolResult(ToolResultContent::new("c1", [image]));
        let messages = [
            SamplingMessage::new(Role::Assistant, call),
            SamplingMessage::new(Role::User, result),
        ];
        let model = OpenAiModel::builder("m")
            .base_url(base_url)
            .allow_plain_http()
            .capabilities(ModelCapabilities::default().images(true));
        let endpoint = model.build().unwrap().0;
        let request = CreateMessageRequestParams::new(messages, 1);
        let outgoing = Outgoing::new(&endpoint, &request).unwrap();
        serde_json::from_slice(&outgoing.body).unwrap()
    }

    #[test]
    fn mistral_receives_only_what_it_accepts() {
        let options = json!({"include_usage": true});
        let cases = [
            (
                "http://localhost/v1",
                options,
                vec!["assistant", "tool", "user"],
            ),
            (
                "http://API.mistral.ai/v1",
                Value::Null,
                vec!["assistant", "tool", "assistant", "user"],
            ),
        ];
        for (base_url, options, expected) in cases {
            let body = sent(base_url);
            assert_eq!(body["stream_options"], options, "{base_url}");
            let messages = body["messages"].as_array().unwrap();
            let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
            assert_eq!(roles, expected, "{base_url}");
        }
    }
}

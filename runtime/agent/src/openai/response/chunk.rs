//! Wire types of responses, decoded leniently.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Chunk of a stream, or a whole response.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) model: Option<Cow<'a, str>>,
    #[serde(default)]
    pub(super) usage: Option<WireUsage>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) delta: Option<Delta<'a>>,
    /// Present in a response that is not streamed.
    #[serde(borrow, default)]
    pub(super) message: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    /// Text, or parts.
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<CallDelta<'a>>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct CallDelta<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(borrow, default)]
    pub(super) id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(super) function: Option<FunctionDelta<'a>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct FunctionDelta<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<Cow<'a, str>>,
    /// JSON as text, or JSON itself.
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct WireUsage {
    #[serde(default)]
    pub(super) prompt_tokens: Option<u64>,
    #[serde(default)]
    pub(super) completion_tokens: Option<u64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum WireContent<'a> {
    #[serde(borrow)]
    Text(Cow<'a, str>),
    Parts(Vec<WirePart>),
}

#[derive(Deserialize)]
struct WirePart {
    #[serde(default)]
    text: Option<String>,
}

/// Returns the text of a message's content, without other parts such as reasoning.
pub(super) fn text_of(content: &RawValue) -> Option<Cow<'_, str>> {
    match serde_json::from_str(content.get()).ok()? {
        WireContent::Text(text) => Some(text),
        WireContent::Parts(parts) => {
            let texts = parts.into_iter().filter_map(|part| part.text);
            Some(texts.collect::<String>().into())
        }
    }
}

/// Returns the text of arguments.
pub(super) fn arguments_of(arguments: &RawValue) -> Cow<'_, str> {
    let text = arguments.get();
    if text == "null" {
        return Cow::Borrowed("");
    }
    serde_json::from_str::<String>(text).map_or(Cow::Borrowed(text), Cow::Owned)
}
